"""`non_differentiable`: functions without derivative."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rules_core._base.errors import RuleDefinitionError
from rules_core._dispatch.call_site import caller_location
from rules_core._dispatch.rule import Location
from rules_core._dispatch.rule_signature import read_types
from rules_core._rules.frule_rrule import rrule
from rules_core._tangents.zeros import NoTangent

from .rule_pair import called, register_pair

__all__ = ["non_differentiable"]


def non_differentiable(f: Any, *types: Any) -> None:
    """Declare that the outputs of `f` have no tangent: `dy = NoTangent()`.

    Gives an frule and an rrule. For functions with integer, boolean or otherwise
    constant outputs, and for functions (logging, random numbers) whose results are
    constants of a derivative.

    Args:
        f: The function, or a list of functions (then for any arguments).
        *types: One class, ABC, union or `Array` per argument in normal form; none means
            any arguments.

    Raises:
        RuleDefinitionError: `f` is not callable, or a type is invalid.
        RuleClashError: A rule with these types exists.

    >>> from rules_core import non_differentiable, rrule
    >>> def bucket(x):
    ...     return int(x // 10)
    >>> non_differentiable(bucket)
    >>> y, pullback = rrule(bucket, 37.0)
    >>> y, pullback(1.0)
    (3, (NoTangent(), NoTangent()))
    """
    where = caller_location("non_differentiable")
    if isinstance(f, (list, tuple, set, frozenset)):
        if types:
            message = "non_differentiable: a list of functions takes no types."
            raise RuleDefinitionError(message)
        _declare_all(f, where)
        return
    _declare(f, types, where)


def _declare_all(functions: Iterable[Any], where: Location) -> None:
    for function in functions:
        _declare(function, (), where)


def _declare(f: Any, types: tuple[Any, ...], where: Location) -> None:
    table = rrule.table_to_define(f)
    forward, backward = _rules_for(table.key, plus_function=not table.method)
    read = read_types(types, f"non_differentiable({table.label})")
    register_pair(
        table,
        where,
        forward,
        backward,
        read,
        variadic=None if types else (object,),
        symbolic_zeros=True,
        constant=True,
    )


def _rules_for(
    f: Callable[..., Any], *, plus_function: bool
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def constant_frule(_tangents: Any, *args: Any, **kw: Any) -> tuple[Any, Any]:
        return called(f)(*args, **kw), NoTangent()

    def constant_rrule(*args: Any, **kw: Any) -> tuple[Any, Any]:
        count = len(args) + plus_function

        def constant_pullback(_dy: Any) -> tuple[Any, ...]:
            return (NoTangent(),) * count

        return called(f)(*args, **kw), constant_pullback

    return constant_frule, constant_rrule
