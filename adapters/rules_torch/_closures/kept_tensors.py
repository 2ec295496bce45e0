"""Tensors that a function keeps in what it captures.

A rule runs the function again, on other tensors: one that an earlier run has kept would
be a constant there, and its derivative silently zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType, MethodType
from typing import Any

from torch import Tensor

import rules_core as rc

from .parts import captured, hides_tensor, is_atom

__all__ = ["check_kept", "emptiable"]


def emptiable(*values: Any) -> list[Any]:
    """The containers and objects without tensors that values hold or capture."""
    found: list[Any] = []
    seen: set[int] = set()
    ends = list(values)
    while ends:
        x = ends.pop()
        if is_atom(x) or isinstance(x, (type, Tensor)) or id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, (tuple, FunctionType, MethodType)):
            ends += _parts(x)
        elif isinstance(x, (list, dict, set)) or hasattr(x, "__dict__"):
            ends += x if isinstance(x, list) else ()
            found += [] if hides_tensor(x) else [x]
    return found


def _parts(x: Any) -> Iterable[Any]:
    if isinstance(x, FunctionType):
        return captured(x)
    return x if isinstance(x, tuple) else (x.__self__,)


def check_kept(f: Any, before: list[Any]) -> None:
    """Refuse a function that has put a tensor where there was none."""
    for x in before:
        if hides_tensor(x):
            message = (
                f"{getattr(f, '__qualname__', f)} keeps a tensor that it computes, in "
                f"an object of type {type(x).__name__} that it captures; a rule runs "
                "it again, where that is a constant without derivative. Compute the "
                "tensor in each call, or before, and capture it."
            )
            raise rc.UnsupportedError(message)
