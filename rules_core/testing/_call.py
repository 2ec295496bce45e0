"""The call under test as a tuple of primals, and the reverse."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

from rules_core import Primitive, normal_form
from rules_core._rules.lookup import unwrap

__all__ = ["bound_to", "names_of", "primals_of"]


def is_bound(f: Any) -> bool:
    """Whether the rule's first argument is an instance: that of `f`, or `f`."""
    return not isinstance(f, (Primitive, functools.partial)) and unwrap(f)[0].bound


def primals_of(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """`(f, *args)` in normal form, for a method its instance first; the keywords.

    Raises:
        TypeError: `f` itself rejects these arguments.
    """
    if isinstance(f, functools.partial):
        return (f, *args), kwargs
    bound, keywords = normal_form(f, args, kwargs)
    return (tuple(bound) if is_bound(f) else (f, *bound)), keywords


def bound_to(f: Any, first: Any) -> Any:
    """The callable for a first primal: a method is bound to it."""
    if not is_bound(f):
        return first
    target = unwrap(f)[0]
    return first if target.instance is f else types.MethodType(target.key, first)


def names_of(f: Any, count: int) -> list[str]:
    """Names of the primals: `f` or `self`, then the parameters'."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    is_method = is_bound(f) and unwrap(f)[0].instance is not f
    names = ["self" if is_method else "f"]
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = range(count - len(names))
            names += [f"{parameter.name}[{i}]" for i in rest]
        else:
            names.append(parameter.name)
    names += [f"x{i}" for i in range(len(names), count)]
    return names[:count]
