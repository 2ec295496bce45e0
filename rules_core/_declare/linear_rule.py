"""`linear_rule`: frule and rrule of a linear function from its adjoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rules_core._base.arrays import is_array
from rules_core._base.errors import RuleDefinitionError
from rules_core._dispatch.rule import AGAIN, Location
from rules_core._dispatch.rule_key import describe
from rules_core._dispatch.table import Table
from rules_core._rules.frule_rrule import rrule
from rules_core._rules.resolved_call import moves
from rules_core._tangents.canonical import has_tangent, zero_tangent
from rules_core._tangents.containers import backing
from rules_core._tangents.leaves import is_number
from rules_core._tangents.project import ProjectTo, materialise
from rules_core._tangents.structure import Structure, structure
from rules_core._tangents.zeros import (
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    ZeroTangent,
)

from .rule_pair import called, register_pair

__all__ = ["linear_rule"]


def linear_rule(
    f: Any, adjoint: Callable[..., Any], argnums: int | tuple[int, ...] = 0
) -> None:
    """Define frule and rrule of a function that is jointly linear in some arguments.

    `dy = f(dx, c)` and `dx = f(·, c)* dy`. The other arguments get
    `NotImplementedTangent`, never zero, unless they have no tangent at all. If an
    argument or the value is a container, `dx` and `dy` are containers of its class,
    with arrays of zeros for entries without a tangent.

    Args:
        f: The function; the sum over `argnums` must be linear: `f(x + a, y + b) =
            f(x, y) + f(a, b)`. A product is bilinear, not jointly linear.
        adjoint: `adjoint(dy, *args)` returns one cotangent per argnum, bare if there is
            one.
        argnums: Positions of the arguments in which `f` is linear.

    Raises:
        RuleDefinitionError: `argnums` do not fit the signature of `f`.

    >>> import numpy as np
    >>> from rules_core import linear_rule, rrule
    >>> def weigh(A, x):
    ...     return A @ x
    >>> def weigh_adjoint(dy, A, x):
    ...     return A.T @ dy
    >>> linear_rule(weigh, weigh_adjoint, argnums=1)
    >>> y, pullback = rrule(weigh, np.ones((1, 2)), np.ones(2))
    >>> pullback(np.ones(1))[2]
    array([1., 1.])
    """
    table = rrule.table_to_define(f)
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    _check_argnums(table, numbers)
    where = Location.of(adjoint)
    count = table.binder.names
    forward = _forward(table, numbers, where)
    bare = isinstance(argnums, int)
    backward = _backward(table, adjoint, numbers, where, bare=bare)
    types = None if count is None else tuple((object,) for _ in count)
    register_pair(
        table,
        where,
        forward,
        backward,
        types or tuple((object,) for _ in range(max(numbers) + 1)),
        variadic=(object,) if types is None or table.binder.variadic else None,
        symbolic_zeros=True,
    )


def _check_argnums(table: Table, numbers: tuple[int, ...]) -> None:
    names = table.binder.names
    count = None if names is None or table.binder.variadic else len(names)
    good = bool(numbers) and len(set(numbers)) == len(numbers)
    if not good or any(i < 0 or (count is not None and i >= count) for i in numbers):
        has = "any number of" if count is None else str(count)
        message = (
            f"linear_rule for {table.label}: argnums must be distinct positions of its "
            f"{has} arguments, but got {numbers}."
        )
        raise RuleDefinitionError(message)


def _forward(
    table: Table, numbers: tuple[int, ...], where: Location
) -> Callable[..., Any]:
    f = table.key

    def linear_frule(tangents: Any, *args: Any, **kw: Any) -> tuple[Any, Any]:
        handle = called(f)
        y = handle(*args, **kw)
        own = tangents if table.method else tangents[1:]
        for i, dx in enumerate(own):
            if i not in numbers and moves(dx):
                return y, _not_linear(f, i, where)
        if not any(moves(own[i]) for i in numbers):
            return y, ZeroTangent()
        shifted = list(args)
        for i in numbers:
            shifted[i] = _filled(args[i], own[i])
        dy = handle(*shifted, **kw)
        return y, ProjectTo(y)(dy) if _is_container(y) else dy

    return linear_frule


def _filled(x: Any, dx: Any) -> Any:
    """`dx` in the class of `x`, with symbolic zeros filled in, as `f` takes it."""
    level = None if is_number(x) else structure(x)
    if level is not None:
        return _rebuilt(level, materialise(x, dx))
    if not isinstance(dx, AbstractZero):
        return dx
    zero = zero_tangent(x)
    return _unmoved(x) if isinstance(zero, NoTangent) else zero


def _is_container(x: Any) -> bool:
    return not is_number(x) and structure(x) is not None


def _rebuilt(level: Structure, dx: Any) -> Any:
    """The container again, each entry replaced by its tangent."""
    whole = isinstance(dx, NoTangent)
    parts = [dx if whole else backing(dx)[name] for name in level.names]
    return level.rebuild(list(map(_entry, level.values, parts)))


def _entry(x: Any, dx: Any) -> Any:
    level = None if is_number(x) else structure(x)
    if level is not None:
        return _rebuilt(level, dx)
    return _unmoved(x) if isinstance(dx, NoTangent) else dx


def _unmoved(x: Any) -> Any:
    """The tangent argument of a primal without tangent: zero for integers."""
    return x * 0 if is_array(x) or isinstance(x, int) else x


def _not_linear(f: Any, i: int, where: Location) -> NotImplementedTangent:
    info = (
        f"{describe(f)} is not declared linear in argument {i}, and its linear_rule "
        "says nothing about it"
    )
    return NotImplementedTangent(info, "", where.module, where.file, where.line)


def _backward(
    table: Table,
    adjoint: Callable[..., Any],
    numbers: tuple[int, ...],
    where: Location,
    *,
    bare: bool,
) -> Callable[..., Any]:
    # The pullback holds no table: in PyTorch what it holds is walked at each call.
    f, head = table.key, () if table.method else (NoTangent(),)
    label = f"linear_rule {where.name} for {table.label} at {where}"

    def linear_rrule(*args: Any, **kw: Any) -> tuple[Any, Any]:
        projections = {i: ProjectTo(args[i]) for i in numbers}
        y = called(f)(*args, **kw)
        nested = y if _is_container(y) else None

        def linear_pullback(dy: Any) -> tuple[Any, ...]:
            others = [_other(f, i, x, where) for i, x in enumerate(args)]
            if nested is not None and not isinstance(dy, AbstractZero):
                dy = _filled(nested, dy)
            for i, dx in zip(numbers, cotangents(dy, args, kw), strict=True):
                others[i] = projections[i](dx)
            return (*head, *others)

        return y, linear_pullback

    setattr(linear_rrule, AGAIN, (adjoint,))

    def cotangents(dy: Any, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        if isinstance(dy, AbstractZero):
            return (ZeroTangent(),) * len(numbers)
        dxs = adjoint(dy, *args, **kw)
        if bare and (type(dxs) is not tuple or type(args[numbers[0]]) is tuple):
            return (dxs,)
        if bare or type(dxs) is not tuple or len(dxs) != len(numbers):
            raise _wrong_answer(label, dxs, numbers, bare=bare)
        return dxs

    return linear_rrule


def _wrong_answer(
    label: str, found: Any, numbers: tuple[int, ...], *, bare: bool
) -> RuleDefinitionError:
    must, cure = f"a tuple of {len(numbers)} cotangents, one per argnum", ""
    if bare:
        must = f"the cotangent of argument {numbers[0]} itself, as argnums is a number"
        cure = f" Return it bare, or write argnums=({numbers[0]},)."
    got = type(found).__name__
    if type(found) is tuple:
        got = f"a tuple of {len(found)}"
    return RuleDefinitionError(
        f"{label}: the adjoint must return {must}, but got {got}.{cure}"
    )


def _other(f: Any, i: int, x: Any, where: Location) -> Any:
    """Cotangent of an argument outside `argnums`."""
    return _not_linear(f, i, where) if has_tangent(x) else NoTangent()
