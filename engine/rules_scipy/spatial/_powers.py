"""Powers of sizes, in the order too, with derivatives zero at a kink."""

from __future__ import annotations

from typing import Any

import rules_core as rc

__all__ = ["sign", "signed_power", "size_power"]


def sign(x: Any) -> Any:
    """The sign, a constant; without masks, which PyTorch does not batch."""
    xp = rc.array_namespace(x)
    x = xp.asarray(rc.ignore_derivatives(x))
    return xp.astype(x > 0, x.dtype) - xp.astype(x < 0, x.dtype)


def _size_power(x: Any, p: Any) -> Any:
    """`|x| ** p`, infinite at a pole, of which NumPy would warn."""
    xp = rc.array_namespace(x)
    pole = (x == 0) & (p < 0)
    y = xp.where(pole, xp.ones_like(x), xp.abs(x)) ** p
    return xp.where(pole, xp.full_like(y, float("inf")), y)


def _signed_power(x: Any, p: Any) -> Any:
    """`sign(x) |x| ** p`, and zero at zero for each `p`."""
    xp = rc.array_namespace(x)
    safe = xp.where(x == 0, xp.ones_like(x), xp.abs(x))
    return sign(x) * safe**p


size_power: rc.Primitive = rc.primitive(_size_power)
signed_power: rc.Primitive = rc.primitive(_signed_power)


def _size_partials(y: Any, x: Any, p: Any) -> Any:
    return p * signed_power(x, p - 1.0), size_power(x, p) * _log(x, p)


def _signed_partials(y: Any, x: Any, p: Any) -> Any:
    """In `x` none at a kink, which is where `p` is zero, or a pole."""
    xp = rc.array_namespace(x)
    kink = rc.ignore_derivatives(x == 0) & rc.ignore_derivatives(p <= 0)
    slope = p * size_power(xp.where(kink, xp.ones_like(x), x), p - 1.0)
    slope = xp.where(kink, xp.zeros_like(slope), slope)
    return slope, signed_power(x, p) * _log(x, 1.0 + 0.0 * p)


def _log(x: Any, p: Any) -> Any:
    """`log|x|`; zero at zero where `|x| ** p` is small there."""
    xp = rc.array_namespace(x)
    zero = rc.ignore_derivatives(x == 0)
    found = xp.log(xp.where(zero, xp.ones_like(x), xp.abs(x)))
    pole = zero & rc.ignore_derivatives(p <= 0)
    return xp.where(pole, xp.full_like(x, -float("inf")), found)


rc.scalar_rule(size_power, _size_partials)
rc.scalar_rule(signed_power, _signed_partials)
