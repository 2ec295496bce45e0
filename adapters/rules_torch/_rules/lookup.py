"""Finding the rules of a primitive, by the live tables that the core keeps."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType
from typing import Any

import rules_core as rc
from rules_torch._config import CONFIG

__all__ = ["find_again", "find_rrule", "has_frule", "is_direct", "rules_by_type"]

_METHODS = "_rules_torch"
_PUSHES = "_frules_torch"


def is_direct(primitive: rc.Primitive) -> bool:
    """Whether rules get the arguments of a call as they are, and no instance before."""
    return _METHODS in primitive.__dict__


def find_rrule(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The rrule for a call in normal form, or None."""
    methods = primitive.__dict__.get(_METHODS)
    if methods is None:
        methods = rules_by_type(primitive)
    return _find(rc.rrule, methods, primitive, args, kwargs)


def has_frule(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    """Whether an frule applies to a call in normal form."""
    methods = primitive.__dict__.get(_PUSHES)
    if methods is None:
        methods = _keep(rc.frule, primitive, _PUSHES)
    return _find(rc.frule, methods, primitive, args, kwargs) is not None


def find_again(
    kind: Any,
    primitive: rc.Primitive,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    rule: Any = None,
) -> Any:
    """The call of a rule that was chosen before, on the values that it is given.

    Raises:
        UnsupportedError: Another rule, or none, fits their classes.
    """
    found = rc.resolve_primitive(kind, primitive, args, kwargs, CONFIG)
    if found is not None and (rule is None or found.rule is rule):
        return found
    name = primitive.table.label
    chosen = f"an {kind.kind} of {name}" if rule is None else rule.label
    other = "none" if found is None else found.rule.label
    message = (
        f"{chosen} was chosen by the types of the call, but {other} fits the values "
        "that PyTorch hands on. Annotate array arguments with rules_core.Array."
    )
    raise rc.UnsupportedError(message)


def rules_by_type(primitive: rc.Primitive) -> Any:
    """The live table of a function's rrules; None for what has an instance."""
    return _keep(rc.rrule, primitive, _METHODS)


def _keep(kind: Any, primitive: rc.Primitive, name: str) -> Any:
    if not _is_function(primitive.fun):
        return None
    methods = primitive.__dict__[name] = kind.table(primitive.fun, CONFIG)
    return methods


def _find(
    kind: Any,
    methods: Any,
    primitive: rc.Primitive,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    rule = None if methods is None else methods[tuple(map(type, args))]
    if rule is None and (methods is None or primitive.host):
        found = rc.resolve_primitive(kind, primitive, args, kwargs, CONFIG)
        return None if found is None else found.rule
    return rule


def _is_function(fun: Any) -> bool:
    kinds = (FunctionType, BuiltinFunctionType)
    return isinstance(fun, kinds) or type(fun).__name__ == "ufunc"
