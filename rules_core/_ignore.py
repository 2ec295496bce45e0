"""`ignore_derivatives`: a value without its derivative, in every host."""

from __future__ import annotations

from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from ._adapters import adapter_of
from ._handle import Primitive
from ._structure import structure

__all__ = ["ignore_derivatives"]

_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType, partial, Primitive)


def ignore_derivatives(f: Any) -> Any:
    """`f()` if `f` is a plain function, else `f` itself, without derivative.

    The value is a constant for every AD system: `d ignore_derivatives(x) = 0`.

    Args:
        f: A function of no arguments, or a value: an array of any host, a number, or a
            container of them.

    >>> import numpy as np
    >>> from rules_core import ignore_derivatives
    >>> ignore_derivatives(lambda: 2.0) + ignore_derivatives(1.0)
    3.0
    """
    return _stop(f() if isinstance(f, _FUNCTIONS) else f)


def _stop(x: Any) -> Any:
    adapter = adapter_of(type(x))
    if adapter is not None:
        return adapter.stop_gradient(x)
    level = structure(x)
    if level is None:
        return x
    stopped = [_stop(value) for value in level.values]
    if all(new is old for new, old in zip(stopped, level.values, strict=True)):
        return x
    return level.rebuild(stopped)
