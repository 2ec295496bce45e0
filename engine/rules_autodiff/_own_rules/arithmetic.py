"""Derivatives of the arithmetic operators on numbers and arrays."""

import operator
from typing import Any

import numpy as np

from rules_core.extend import note_strong_zeros

from .own_rule import (
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

__all__ = ["sign", "strong", "strong_quotient", "total"]

log = np.log  # captured now: a program may rebind the name


def sign(x: Any) -> Any:
    """The sign: constant, but for its jump at zero."""
    return np.sign(x)


def sign_rrule(_needs: Any, x: Any) -> Any:
    space = space_of(x)

    def sign_pullback(_dy: Any) -> Any:
        return (zeros(space),)

    return sign(x), sign_pullback


def sign_frule(_tangents: Any, x: Any) -> Any:
    z = sign(x)
    return z, zeros(space_of(z))


@inert
def is_zero(x: Any) -> Any:
    return x == 0


@inert
def flat_power(x: Any, p: Any) -> Any:
    """Where a power's derivative would be 0 times infinity or NaN, as number or mask.

    x⁰ is 1 for every x, NaN included.
    """
    odd = np.equal(x, 0) | np.not_equal(x, x)
    mask = np.logical_and(odd, np.equal(p, 0))
    return mask if mask.ndim else int(mask)


# Zeros are strong: 0 · ∞ = 0 and 0 · NaN = 0. A product stays linear in the tangent,
# with the partial derivative as its slope, at zero too.


def as_float(p: Any) -> Any:
    """A Python integer as a float: ufuncs do not accept more than 64 bits."""
    return float(p) if type(p) is int else p


@inert
def dead_product(d: Any, p: Any) -> Any:
    """Where `d` is zero and `p` infinite or NaN; None for nowhere."""
    infinite = np.logical_not(np.isfinite(as_float(p)))
    return noted(np.logical_and(infinite, np.equal(d, 0)))


@inert
def dead_quotient(d: Any, y: Any) -> Any:
    """Where `d` is zero and `1 / y` infinite or NaN; None for nowhere."""
    y = as_float(y)
    return noted(np.logical_and(np.equal(y, 0) | np.isnan(y), np.equal(d, 0)))


def noted(mask: Any) -> Any:
    """The mask, or None if it is empty."""
    note_strong_zeros(mask)
    return mask if mask.any() else None


def masked(x: Any, dead: Any) -> Any:
    """`x`, with 0 in the masked places."""
    return np.where(dead, 0.0, x) if dead.ndim else 0.0


def masked_rrule(_needs: Any, x: Any, dead: Any) -> Any:
    space = space_of(x)

    def masked_pullback(dy: Any) -> Any:
        return fit(masked(dy, dead), space), None

    return masked(x, dead), masked_pullback


def masked_frule(tangents: Any, x: Any, dead: Any) -> Any:
    return masked(x, dead), masked(tangents[0], dead)


@inert
def is_mask(p: Any) -> bool:
    return isinstance(p, bool | np.bool_) or (
        isinstance(p, np.ndarray) and p.dtype.kind == "b"
    )


@inert
def lost(d: Any, p: Any) -> Any:
    """Where a zero `p` discards an infinite `d`; None for nowhere."""
    mask = np.logical_and(np.equal(p, 0), np.logical_not(np.isfinite(d)))
    return mask if mask.any() else None


def selected(d: Any, p: Any) -> Any:
    """`d p` of a step function `p`: zero where `p` is zero."""
    dead = lost(d, p)
    return (d if dead is None else masked(d, dead)) * p


def strong(d: Any, p: Any) -> Any:
    """`d p` with strong zeros of `d` and of a mask `p`."""
    if is_mask(p):
        return selected(d, p)
    dead = dead_product(d, p)
    return d * (p if dead is None else masked(p, dead))


def strong_rrule(needs: Any, d: Any, p: Any) -> Any:
    """The product is linear in `d`, with the slope `p`, where `p` is infinite too."""
    spaces = space_of(d), space_of(p)

    def strong_pullback(dz: Any) -> Any:
        return (
            fit(strong(dz, conj(p)), spaces[0]) if needs[0] else None,
            fit(strong(dz, conj(d)), spaces[1]) if needs[1] else None,
        )

    return strong(d, p), strong_pullback


def strong_frule(tangents: Any, d: Any, p: Any) -> Any:
    z = strong(d, p)
    dz = total(product(tangents[0], p), product(tangents[1], d))
    return z, spread(dz, space_of(z))


def strong_quotient(d: Any, y: Any) -> Any:
    """`d / y` with strong zeros of `d`."""
    dead = dead_quotient(d, y)
    if dead is not None:
        return masked(d, dead) / (masked(y, dead) + dead)
    if is_refused(operator.truediv, d, y):
        return unrefused(np.true_divide, d, y)
    return d / y


def quotient_rrule(needs: Any, d: Any, y: Any) -> Any:
    z = strong_quotient(d, y)
    spaces = space_of(d), space_of(y)

    def quotient_pullback(dz: Any) -> Any:
        return (
            fit(strong_quotient(dz, conj(y)), spaces[0]) if needs[0] else None,
            fit(strong_quotient(strong(-dz, conj(z)), conj(y)), spaces[1])
            if needs[1]
            else None,
        )

    return z, quotient_pullback


def quotient_frule(tangents: Any, d: Any, y: Any) -> Any:
    z = strong_quotient(d, y)
    dz = strong_quotient(difference(tangents[0], product(tangents[1], z)), y)
    return z, spread(dz, space_of(z))


PLAIN = frozenset({int, float, complex})


@inert
def is_refused(f: Any, x: Any, y: Any) -> bool:
    """Whether Python raises an error for an operation for which NumPy returns inf."""
    if type(x) not in PLAIN or type(y) not in PLAIN:
        return False
    try:
        f(x, y)
    except ArithmeticError:
        return True
    return False


def unrefused(f: Any, x: Any, y: Any) -> Any:
    """NumPy's result as a Python number."""
    with np.errstate(all="ignore"):
        result = f(x, y)
    return complex(result) if is_complex(result) else float(result)


# tangent arithmetic of the forward rules, where a tangent may be `ZeroTangent()`


def product(dx: Any, factor: Any) -> Any:
    return strong(dx, factor) if given(dx) else dx


def total(dx: Any, dy: Any) -> Any:
    if not given(dx):
        return dy
    return dx + dy if given(dy) else dx


def difference(dx: Any, dy: Any) -> Any:
    return total(dx, -dy if given(dy) else dy)


def logarithm(x: Any) -> Any:
    """log x, and 0 at x = 0: the factor of a power's derivative in its exponent."""
    with np.errstate(divide="ignore", invalid="ignore"):
        result = log(as_float(x) + is_zero(x))
    return result if isinstance(x, np.ndarray) else result[()]


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
            fit(strong(dz, conj(y)), spaces[0]) if needs[0] else None,
            fit(strong(dz, conj(x)), spaces[1]) if needs[1] else None,
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
            fit(strong_quotient(dz, conj(y)), spaces[0]) if needs[0] else None,
            fit(strong(-dz, conj(z / y)), spaces[1]) if needs[1] else None,
        )

    return z, truediv_pullback


def truediv_frule(tangents: Any, x: Any, y: Any) -> Any:
    z = x / y
    dz = strong_quotient(difference(tangents[0], product(tangents[1], z)), y)
    return z, spread(dz, space_of(z))


def base_partial(x: Any, p: Any) -> Any:
    """p·x^(p−1), and 0 where p is 0."""
    exponent = p - 1 + flat_power(x, p)
    if is_refused(pow, x, exponent):
        return p * unrefused(np.power, x, exponent)
    return p * x**exponent


def pow_rrule(needs: Any, x: Any, p: Any) -> Any:
    z = x**p
    spaces = space_of(x), space_of(p)

    def pow_pullback(dz: Any) -> Any:
        return (
            fit(strong(dz, conj(base_partial(x, p))), spaces[0]) if needs[0] else None,
            fit(strong(dz, conj(z * logarithm(x))), spaces[1]) if needs[1] else None,
        )

    return z, pow_pullback


def pow_frule(tangents: Any, x: Any, p: Any) -> Any:
    z = x**p
    dx, dp = tangents
    along_base = product(dx, base_partial(x, p)) if given(dx) else dx
    along_exponent = product(dp, z * logarithm(x))
    return z, spread(total(along_base, along_exponent), space_of(z))


def mod_rrule(needs: Any, x: Any, y: Any) -> Any:
    z = x % y
    quotient = x // y
    spaces = space_of(x), space_of(y)

    def mod_pullback(dz: Any) -> Any:
        return (
            fit(dz, spaces[0]) if needs[0] else None,
            fit(selected(-dz, quotient), spaces[1]) if needs[1] else None,
        )

    return z, mod_pullback


def mod_frule(tangents: Any, x: Any, y: Any) -> Any:
    z = x % y
    dx, dy = tangents
    along_y = selected(dy, x // y) if given(dy) else dy
    return z, spread(difference(dx, along_y), space_of(z))


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
        return (strong(dy, direction(x)),)

    return magnitude(x), abs_pullback


def abs_frule(tangents: Any, x: Any) -> Any:
    return magnitude(x), real(strong(tangents[0], conj(direction(x))))


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
    masked: CoreRule(masked, masked_rrule, masked_frule),
    sign: CoreRule(sign, sign_rrule, sign_frule),
    strong: CoreRule(strong, strong_rrule, strong_frule),
    strong_quotient: CoreRule(strong_quotient, quotient_rrule, quotient_frule),
    logarithm: CoreRule(logarithm, logarithm_rrule, logarithm_frule),
    magnitude: CoreRule(magnitude, abs_rrule, abs_frule),
})  # fmt: skip
