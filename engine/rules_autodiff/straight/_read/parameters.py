"""Which value each parameter of a function gets in a call."""

import ast
from types import CodeType, FunctionType
from typing import Any

from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import Value

from .variables import row_of

__all__ = ["bound", "parameters_of"]

STAR, STARS = 0x04, 0x08  # the bits of co_flags for *args and **kwargs


def parameters_of(code: CodeType) -> list[str]:
    """The parameters of a function, in the order of its variables."""
    stars = bool(code.co_flags & STAR) + bool(code.co_flags & STARS)
    count = code.co_argcount + code.co_kwonlyargcount + stars
    return list(code.co_varnames[:count])


def bound(
    f: FunctionType,
    values: list[Value],
    named: dict[str, Value],
    default: Any,
    node: ast.AST,
) -> list[Value]:
    """The values of all parameters.

    Args:
        f: The function.
        values: What is given by position.
        named: What is given by name.
        default: `default(name)` gives the default value of a parameter, or None.
        node: The call.
    """
    code = f.__code__
    if code.co_flags & STARS:
        refuse("a function with ** parameters is called", node)
    names = parameters_of(code)
    places = names[: code.co_argcount]
    given = dict(zip(places, values, strict=False))
    if code.co_flags & STAR:
        given[names.pop()] = row_of(values[code.co_argcount :])
    elif len(values) > len(places):
        refuse("a call with too many arguments", node)
    for name, value in named.items():
        if name not in names[code.co_posonlyargcount :] or name in given:
            refuse("a call by such keywords", node)
        given[name] = value
    for name in names:
        value = given[name] if name in given else default(name)
        if value is None:
            refuse(f"a call without a value for {name}", node)
        given[name] = value
    return [given[name] for name in parameters_of(code)]
