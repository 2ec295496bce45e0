"""Functions whose defaults are tensors, as functions that capture these tensors.

What a function captures is an argument of a rule; what stands in its defaults is not.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from types import FunctionType
from typing import Any

__all__ = ["capturing_defaults", "defaults_of"]


def defaults_of(f: FunctionType) -> tuple[Any, ...]:
    """All defaults of a function."""
    return (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())


def capturing_defaults(f: FunctionType) -> Callable[..., Any]:
    """A copy of a function, which captures its defaults."""
    code, defaults, by_keyword = f.__code__, f.__defaults__ or (), f.__kwdefaults__
    named = dict(by_keyword or {})
    count = code.co_argcount
    bare = FunctionType(code, f.__globals__, f.__name__, None, f.__closure__)

    def call(*args: Any, **kwargs: Any) -> Any:
        missing = max(min(count - len(args), len(defaults)), 0)
        places = range(count - missing, count)
        own = {
            code.co_varnames[i]: x
            for i, x in zip(places, defaults[len(defaults) - missing :], strict=True)
        }
        return bare(*args, **{**own, **named, **kwargs})

    call.__name__, call.__qualname__ = f.__name__, f.__qualname__
    call.__dict__["__signature__"] = _without_tensors(f)
    return call


def _without_tensors(f: FunctionType) -> Any:
    """Its signature, where defaults are only said to be there."""
    own = signature(f)
    parameters = own.parameters.values()
    plain = [p if p.default is p.empty else p.replace(default=None) for p in parameters]
    return own.replace(parameters=plain)
