"""Whether functions make constants of tensors, by the names in their code.

Eager calls are checked by running them; code that torch compiles cannot be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from .parts import captured
from .reads import functions_in, is_foreign

__all__ = ["cut_in"]

_CUTTING = frozenset((
    "data", "detach", "detach_", "inference_mode", "item", "no_grad", "numpy",
    "set_grad_enabled", "tolist",
))  # fmt: skip
_MOST = 200


def cut_in(functions: Iterable[Any]) -> str:
    """The first name that cuts a tensor from its derivative; "" if there is none."""
    queue = deque(functions)
    seen: dict[int, Any] = {}
    while queue and len(seen) < _MOST:
        value = _behind(queue.popleft())
        for function in functions_in(value) or ():
            if id(function) in seen or is_foreign(function.__module__, ""):
                continue
            seen[id(function)] = function
            names = set(_names(function.__code__))
            for name in names & _CUTTING:
                return name
            scope = function.__globals__
            queue.extend(scope[name] for name in names & scope.keys())
            queue.extend(captured(function))
    return ""


def _behind(value: Any) -> Any:
    """The function of a partial application, a method or a callable instance."""
    while isinstance(value, partial):
        value = value.func
    if isinstance(value, MethodType):
        return value.__func__
    own = getattr(type(value), "__call__", None)  # noqa: B004  the function itself
    is_instance = not isinstance(value, (FunctionType, type))
    return own if is_instance and isinstance(own, FunctionType) else value


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
