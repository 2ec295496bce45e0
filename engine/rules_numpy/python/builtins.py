"""Builtins on numbers: abs, pow, round, divmod, float, complex, sum, max, min."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.arguments import check_entries, fit, moves, restore
from rules_numpy._declare.declaration import Declaration
from rules_numpy._declare.derivative import DECLARED, constant
from rules_numpy.elementwise.arithmetic import power_partials
from rules_numpy.formulas import absolute_partials, divmod_partials

__all__: list[str] = []

_ZERO, _NONE = rc.ZeroTangent(), rc.NoTangent()
NUMBERS = np.ndarray | np.generic | float | complex | int


def _check(f: Any, *numbers: Any) -> None:
    for x in numbers:
        if isinstance(x, np.ndarray) and x.dtype.kind == "O":
            check_entries(x, f)


def abs_partials(y: Any, x: NUMBERS) -> Any:
    """∂|x| = conj(x) / |x|, zero at zero."""
    _check(abs, x)
    return absolute_partials(y, x)


def pow_partials(y: Any, x: NUMBERS, p: NUMBERS, mod: None) -> Any:
    """∂xᵖ = (p xᵖ⁻¹, xᵖ ln x)."""
    _check(pow, x, p)
    return (*power_partials(y, x, p), _NONE)


def round_partials(y: Any, x: NUMBERS, ndigits: Any) -> Any:
    """A step function."""
    return _ZERO, _ZERO


def divmod_of_numbers_partials(y: Any, x: NUMBERS, z: NUMBERS) -> Any:
    """The quotient is a step function."""
    return divmod_partials(y, x, z)


def float_partials(y: Any, x: NUMBERS) -> Any:
    """The number itself."""
    return (1.0,)


def complex_partials(y: Any, real: NUMBERS, imag: NUMBERS = 0) -> Any:
    """∂(a + i b) = (1, i)."""
    return 1.0, 1j


# The partials, and their flags for complex arguments.
_PARTIALS: dict[Any, tuple[Any, dict[str, Any]]] = {
    abs: (abs_partials, {"real_valued": True}),
    pow: (pow_partials, {"holomorphic": True}),
    round: (round_partials, {}),
    divmod: (divmod_of_numbers_partials, {}),
    float: (float_partials, {}),
    complex: (complex_partials, {"holomorphic": True}),
}
for _f, (_partials, _claims) in _PARTIALS.items():
    rc.scalar_rule(_f, _partials, **_claims)
    DECLARED[_f] = _partials, (0,)


def sum_derivative(y: Any, iterable: Any, start: Any = 0) -> Any:
    """The sum of all tangents, with that of the start."""

    def sum_pushforward(tangents: Any) -> Any:
        if isinstance(iterable, np.ndarray):
            return np.sum(tangents, axis=0)
        total: Any = _ZERO
        for d in tangents:
            if not isinstance(d, rc.AbstractZero):
                total = total + d
        return total

    def sum_pullback(dy: Any) -> Any:
        if isinstance(iterable, np.ndarray):
            return np.broadcast_to(dy, iterable.shape)
        cotangents = [_spread(x, dy) for x in iterable]
        return rc.Tangent(type(iterable), *cotangents)

    def start_pushforward(d: Any) -> Any:
        return d

    def start_pullback(dy: Any) -> Any:
        return rc.ProjectTo(start)(dy)

    return (sum_pushforward, sum_pullback), (start_pushforward, start_pullback)


def _spread(x: Any, dy: Any) -> Any:
    return restore(x, rc.ProjectTo(x)(dy)) if moves(x) else _NONE


def part_of(x: Any, y: Any, numbers: tuple[Any, ...]) -> Any:
    """The part of `x` in the extreme `y`: equal numbers share."""
    return 1.0 / sum([n == y for n in numbers]) if x == y else 0.0


def extreme_partials(y: Any, *numbers: Any) -> Any:
    """Ties share."""
    return tuple([part_of(x, y, numbers) for x in numbers])


def extreme_derivative(y: Any, *numbers: Any) -> Any:
    """Ties share."""
    return tuple(map(_part, extreme_partials(y, *numbers)))


def _part(share: float) -> Any:
    def part_pushforward(dx: Any) -> Any:
        return dx * share if share else 0.0 * dx

    return part_pushforward, part_pushforward


def extreme_of_one_derivative(y: Any, numbers: Any) -> Any:
    """Ties share."""
    share = np.where(np.asarray(numbers) == y, 1.0, 0.0)
    share = share / np.sum(share)

    def extreme_pushforward(tangents: Any) -> Any:
        total: Any = _ZERO
        for weight, d in zip(share, tangents, strict=True):
            if weight and not isinstance(d, rc.AbstractZero):
                total = total + weight * d
        return total

    def extreme_pullback(dy: Any) -> Any:
        if isinstance(numbers, np.ndarray):
            return fit(numbers, share * dy)
        pairs = zip(numbers, share.tolist(), strict=True)
        cotangents = (_spread(x, weight * dy) for x, weight in pairs)
        return rc.Tangent(type(numbers), *cotangents)

    return extreme_pushforward, extreme_pullback


_SEQUENCES: Any = list | tuple | np.ndarray
Declaration(sum, sum_derivative, (0, 1), bare=False, arrays=False).register_for(
    (_SEQUENCES, object)
)
DECLARED[sum] = sum_derivative, (0, 1)
for _f in (max, min):
    DECLARED[_f] = extreme_derivative, None
    Declaration(_f, extreme_derivative, None, bare=False, arrays=False).register()
    Declaration(
        _f, extreme_of_one_derivative, (0,), bare=True, arrays=False
    ).register_for((_SEQUENCES,))


def sorted_derivative(
    y: Any, iterable: Any, /, *, key: Any = None, reverse: bool = False
) -> Any:
    """The items in another order, with their tangents."""
    items = list(iterable)
    keys = items if key is None else [key(x) for x in items]
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)

    def sorted_pushforward(tangents: Any) -> Any:
        moved = list(tangents)
        return rc.Tangent(list, *[moved[place] for place in order])

    def sorted_pullback(dy: Any) -> Any:
        cotangents: list[Any] = [_ZERO] * len(order)
        for place, d in zip(order, dy, strict=True):
            cotangents[place] = d
        if isinstance(iterable, np.ndarray):
            zeros = (0.0 if isinstance(d, rc.AbstractZero) else d for d in cotangents)
            return np.fromiter(zeros, iterable.dtype, len(order))
        return rc.Tangent(type(iterable), *cotangents)

    return sorted_pushforward, sorted_pullback


Declaration(sorted, sorted_derivative, (0,), bare=True, arrays=False).register_for(
    (_SEQUENCES,)
)
DECLARED[sorted] = sorted_derivative, (0,)

_COMPARISONS = [
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    operator.is_, operator.is_not, operator.not_, operator.truth, operator.contains,
    operator.countOf, operator.indexOf, operator.index, operator.length_hint,
]  # fmt: skip
rc.non_differentiable(constant(_COMPARISONS))
rc.non_differentiable(constant([
    all, any, ascii, bin, bool, bytes, callable, chr, format, hash, hex, id, int,
    isinstance, issubclass, len, oct, ord, print, range, repr, str, type,
]))  # fmt: skip
