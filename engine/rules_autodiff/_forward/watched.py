"""Zero tangents before infinite partial derivatives: of what does not move, or not.

A zero is strong, 0 · ∞ = 0, where a variable does not move: the tangent is zero because
no direction leads there. A zero that a partial derivative made of a tangent (`abs` or
`x**2` at 0) says nothing about the product with infinity, which is NaN, as in reverse
mode.

A pass that met 0 · ∞ is repeated with one more tangent beside each, its probe: NaN
where the value moves, and 0 elsewhere. Products, sums and selections propagate it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff._python.values import is_float_array, is_number
from rules_core import AbstractZero, StructuralTangent, structure, zero_tangent

__all__ = [
    "finite_part", "instead", "jumps", "mixed", "probe_of", "probed", "settled",
]  # fmt: skip

CONTAINERS = (StructuralTangent, tuple, list, dict)
NAN_SAFE = ("rules_numpy", "rules_autodiff")


def over_leaves(f: Callable[..., Any], x: Any, *others: Any) -> Any:
    """A tangent with its numbers and arrays replaced by `f` of them."""
    if isinstance(x, AbstractZero) or x is None:
        return x
    if is_number(x) or is_float_array(x):
        zero = any(isinstance(other, AbstractZero) or other is None for other in others)
        return x if zero else f(x, *others)
    level = structure(x) if isinstance(x, CONTAINERS) else None
    if level is None:
        return x
    beside = [parts_like(level, other) for other in others]
    rows = zip(level.values, *beside, strict=True)
    return level.rebuild([over_leaves(f, *row) for row in rows])


def parts_like(level: Any, other: Any) -> list[Any]:
    """The parts of another tangent of the structure."""
    own = structure(other) if isinstance(other, CONTAINERS) else None
    entries = {} if own is None else dict(zip(own.names, own.values, strict=True))
    return [entries.get(name) for name in level.names]


def filled(x: Any, where: Any) -> Any:
    """NaN in the places, and zeros elsewhere, of the class and shape of a tangent."""
    if is_number(x):
        return type(x)(np.nan if where else 0.0)
    made = np.where(where, x.dtype.type(np.nan), x.dtype.type(0.0))
    return np.broadcast_to(made, x.shape)


def probe_of(dx: Any) -> Any:
    """The probe of a direction."""
    return over_leaves(lambda leaf: filled(leaf, np.not_equal(leaf, 0)), dx)


def probed(rule: Any, y: Any, dxs: tuple[Any, ...], push: Callable[..., Any]) -> Any:
    """The probe of a result; rules that compute more than products are not asked.

    Args:
        rule: The rule.
        y: The result.
        dxs: The probes of the arguments.
        push: The rule's tangent of its arguments' tangents.
    """
    if rule.partials is not None or rule.module.partition(".")[0] in NAN_SAFE:
        try:
            with np.errstate(all="ignore"):
                return push(dxs)
        except Exception:  # of a solver, of what is not a number
            pass
    moves = any(has_nan(dx) for dx in dxs)
    return over_leaves(lambda leaf: filled(leaf, moves), zero_tangent(y))


def mixed(y: Any, moves: Any) -> Any:
    """The probe of a result that moves in some places."""
    return over_leaves(lambda leaf: filled(leaf, moves), zero_tangent(y))


def jumps(y: Any, x: Any, probe: Any) -> Any:
    """The probe of a sign: it moves where its argument moves across zero."""
    if isinstance(probe, AbstractZero):
        return probe
    return mixed(y, np.equal(x, 0) & np.isnan(probe))


def finite_part(below: Any, dx: Any) -> Any:
    """A tangent with zeros where it is not finite."""

    def part(leaf: Any) -> Any:
        good = np.isfinite(leaf)
        if np.all(good):
            return leaf
        kind = type(leaf) if is_number(leaf) else leaf.dtype.type
        return (
            kind(0.0)
            if is_number(leaf)
            else below.call(np.where, good, leaf, kind(0.0))
        )

    return over_leaves(part, dx)


def instead(below: Any, where: Any, dy: Any, other: Any) -> Any:
    """A tangent in some places, and another one elsewhere."""

    def chosen(leaf: Any, beside: Any) -> Any:
        if is_number(leaf):
            return leaf if where else beside
        return below.call(np.where, where, leaf, beside)

    return over_leaves(chosen, dy, other)


def has_nan(dx: Any) -> bool:
    found = []
    over_leaves(lambda leaf: found.append(np.isnan(leaf).any()), dx)
    return any(found)


def doubtful(dx: Any, probe: Any) -> Any:
    """1 where a zero belongs to what moves."""

    def ones(leaf: Any, moving: Any) -> Any:
        mask = np.equal(leaf, 0) & np.isnan(moving)
        return mask.astype(leaf.dtype) if is_float_array(leaf) else type(leaf)(mask)

    return over_leaves(ones, dx, probe)


def is_zero(dx: Any) -> bool:
    found = []
    over_leaves(lambda leaf: found.append(np.any(leaf)), dx)
    return not any(found)


def settled(
    below: Any, y: Any, rows: list[Any], dys: list[Any], push: Callable[..., Any]
) -> list[Any]:
    """The tangents of a result: NaN where a zero of what moves met infinity.

    Args:
        below: The level that computes.
        y: The result.
        rows: For each lane the tangents of the arguments, and then their probes.
        dys: For each lane the tangent of the result.
        push: The rule's tangent of its arguments' tangents.
    """
    count = len(dys)
    for lane, row in enumerate(rows[:count]):
        pairs = zip(row, rows[count + lane], strict=True)
        doubts = tuple([doubtful(dx, probe) for dx, probe in pairs])
        if all(map(is_zero, doubts)):
            continue
        try:
            with np.errstate(all="ignore"):
                moved = push(doubts)
        except Exception:
            moved = over_leaves(lambda leaf: filled(leaf, True), dys[lane])
        dys[lane] = over_leaves(
            lambda dy, test: without(below, y, dy, np.isfinite(test)), dys[lane], moved
        )
    return dys


def without(below: Any, y: Any, dy: Any, good: Any) -> Any:
    """A tangent that is NaN where it is not good, and its derivatives at other levels.

    The tangent may be constant there; the result is not.
    """
    if np.all(good):
        return dy
    if not below.is_active(y) or np.shape(y) != np.shape(dy):
        y = dy
    lost = below.mul(y, np.nan)
    if not is_number(dy):
        kind = dy.dtype.type
        lost = below.call(np.where, good, kind(0.0), below.mul(y, kind(np.nan)))
    return below.add(dy, lost)
