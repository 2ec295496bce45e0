"""Derivatives of the arithmetic operators on numbers and arrays."""

import operator
from typing import Any

import numpy as np

from rules_autodiff._core import (
    CORE,
    CoreRule,
    conj,
    fit,
    given,
    inert,
    is_complex,
    real,
    space_of,
    spread,
    zeros,
)

__all__ = ["total"]


@inert
def sign(x: Any) -> Any:
    return np.sign(x)


@inert
def is_zero(x: Any) -> Any:
    return x == 0


@inert
def both_zero(x: Any, p: Any) -> Any:
    """Where a power's derivative would be 0 times infinity, as a number or mask."""
    found = np.logical_and(np.equal(x, 0), np.equal(p, 0))
    return found if found.ndim else int(found)


# the tangent arithmetic of the forward rules, where a tangent may be `ZeroTangent()`


def product(dx: Any, factor: Any) -> Any:
    return dx * factor if given(dx) else dx


def total(dx: Any, dy: Any) -> Any:
    if not given(dx):
        return dy
    return dx + dy if given(dy) else dx


def difference(dx: Any, dy: Any) -> Any:
    return total(dx, -dy if given(dy) else dy)


def logarithm(x: Any) -> Any:
    """log x, and 0 at x = 0: the factor of a power's derivative by its exponent."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(x + is_zero(x))
    return found if isinstance(x, np.ndarray) else found[()]


def logarithm_rrule(_needs: Any, x: Any) -> Any:
    def logarithm_pullback(dy: Any) -> Any:
        return (dy * (1 - is_zero(x)) / conj(x + is_zero(x)),)

    return logarithm(x), logarithm_pullback


def logarithm_frule(tangents: Any, x: Any) -> Any:
    return logarithm(x), tangents[0] * (1 - is_zero(x)) / (x + is_zero(x))


def add_rrule(needs: Any, x: Any, y: Any) -> Any:
    spaces = space_of(x), space_of(y)

    def add_pullback(dz: Any) -> Any:
        return (
            fit(dz, spaces[0]) if needs[0] else None,
            fit(dz, spaces[1]) if needs[1] else None,
        )

    return x + y, add_pullback


def add_frule(tangents: Any, x: Any, y: Any) -> Any:
    z = x + y
    return z, spread(total(*tangents), space_of(z))


def sub_rrule(needs: Any, x: Any, y: Any) -> Any:
    spaces = space_of(x), space_of(y)

    def sub_pullback(dz: Any) -> Any:
        return (
            fit(dz, spaces[0]) if needs[0] else None,
            fit(-dz, spaces[1]) if needs[1] else None,
        )

    return x - y, sub_pullback


def sub_frule(tangents: Any, x: Any, y: Any) -> Any:
    z = x - y
    return z, spread(difference(*tangents), space_of(z))


def mul_rrule(needs: Any, x: Any, y: Any) -> Any:
    spaces = space_of(x), space_of(y)

    def mul_pullback(dz: Any) -> Any:
        return (
            fit(dz * conj(y), spaces[0]) if needs[0] else None,
            fit(dz * conj(x), spaces[1]) if needs[1] else None,
        )

    return x * y, mul_pullback


def mul_frule(tangents: Any, x: Any, y: Any) -> Any:
    z = x * y
    dz = total(product(tangents[0], y), product(tangents[1], x))
    return z, spread(dz, space_of(z))


def truediv_rrule(needs: Any, x: Any, y: Any) -> Any:
    z = x / y
    spaces = space_of(x), space_of(y)

    def truediv_pullback(dz: Any) -> Any:
        return (
            fit(dz / conj(y), spaces[0]) if needs[0] else None,
            fit(-dz * conj(z / y), spaces[1]) if needs[1] else None,
        )

    return z, truediv_pullback


def truediv_frule(tangents: Any, x: Any, y: Any) -> Any:
    z = x / y
    dz = difference(tangents[0], product(tangents[1], z)) / y
    return z, spread(dz, space_of(z))


def base_partial(x: Any, p: Any) -> Any:
    """p·x^(p−1), and 0 where both are 0."""
    return p * x ** (p - 1 + both_zero(x, p))


def pow_rrule(needs: Any, x: Any, p: Any) -> Any:
    z = x**p
    spaces = space_of(x), space_of(p)

    def pow_pullback(dz: Any) -> Any:
        return (
            fit(dz * conj(base_partial(x, p)), spaces[0]) if needs[0] else None,
            fit(dz * conj(z * logarithm(x)), spaces[1]) if needs[1] else None,
        )

    return z, pow_pullback


def pow_frule(tangents: Any, x: Any, p: Any) -> Any:
    z = x**p
    dx, dp = tangents
    along_base = dx * base_partial(x, p) if given(dx) else dx
    along_exponent = dp * (z * logarithm(x)) if given(dp) else dp
    return z, spread(total(along_base, along_exponent), space_of(z))


def mod_rrule(needs: Any, x: Any, y: Any) -> Any:
    quotient = x // y
    spaces = space_of(x), space_of(y)

    def mod_pullback(dz: Any) -> Any:
        return (
            fit(dz, spaces[0]) if needs[0] else None,
            fit(-dz * quotient, spaces[1]) if needs[1] else None,
        )

    return x % y, mod_pullback


def mod_frule(tangents: Any, x: Any, y: Any) -> Any:
    z = x % y
    return z, spread(difference(tangents[0], product(tangents[1], x // y)), space_of(z))


def floordiv_rrule(_needs: Any, x: Any, y: Any) -> Any:
    spaces = space_of(x), space_of(y)

    def floordiv_pullback(_dz: Any) -> Any:
        return zeros(spaces[0]), zeros(spaces[1])

    return x // y, floordiv_pullback


def floordiv_frule(_tangents: Any, x: Any, y: Any) -> Any:
    z = x // y
    return z, zeros(space_of(z))


def neg_rrule(_needs: Any, x: Any) -> Any:
    def neg_pullback(dy: Any) -> Any:
        return (-dy,)

    return -x, neg_pullback


def neg_frule(tangents: Any, x: Any) -> Any:
    return -x, -tangents[0]


def pos_rrule(_needs: Any, x: Any) -> Any:
    def pos_pullback(dy: Any) -> Any:
        return (dy,)

    return +x, pos_pullback


def pos_frule(tangents: Any, x: Any) -> Any:
    return +x, +tangents[0]


def magnitude(x: Any) -> Any:
    return abs(x)


def direction(x: Any) -> Any:
    """x / |x|, and 0 at 0."""
    return x / (magnitude(x) + is_zero(x)) if is_complex(x) else sign(x)


def abs_rrule(_needs: Any, x: Any) -> Any:
    def abs_pullback(dy: Any) -> Any:
        return (dy * direction(x),)

    return magnitude(x), abs_pullback


def abs_frule(tangents: Any, x: Any) -> Any:
    return magnitude(x), real(conj(direction(x)) * tangents[0])


CORE.update({
    "add": CoreRule(operator.add, add_rrule, add_frule),
    "sub": CoreRule(operator.sub, sub_rrule, sub_frule),
    "mul": CoreRule(operator.mul, mul_rrule, mul_frule),
    "truediv": CoreRule(operator.truediv, truediv_rrule, truediv_frule),
    "pow": CoreRule(operator.pow, pow_rrule, pow_frule),
    "mod": CoreRule(operator.mod, mod_rrule, mod_frule),
    "floordiv": CoreRule(operator.floordiv, floordiv_rrule, floordiv_frule),
    "neg": CoreRule(operator.neg, neg_rrule, neg_frule),
    "pos": CoreRule(operator.pos, pos_rrule, pos_frule),
    "abs": CoreRule(abs, abs_rrule, abs_frule),
    logarithm: CoreRule(logarithm, logarithm_rrule, logarithm_frule),
    magnitude: CoreRule(magnitude, abs_rrule, abs_frule),
})  # fmt: skip
