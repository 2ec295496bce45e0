"""Kernels of radial basis functions."""

from __future__ import annotations

from typing import Any

import rules_core as rc
from rules_scipy.special import xlogy

__all__ = ["KERNELS", "LEAST_DEGREE", "differences", "squares", "thin_plate"]


# radial basis functions, of the square of the distance


def _root(r2: Any) -> Any:
    """The distance, with derivative zero at zero."""
    xp = rc.array_namespace(r2)
    zero = rc.ignore_derivatives(r2 == 0)
    return xp.where(
        zero, xp.zeros_like(r2), xp.sqrt(xp.where(zero, xp.ones_like(r2), r2))
    )


@rc.primitive
def thin_plate(d: Any) -> Any:
    """`r² log r` of differences `(..., n)`, whose second derivative is infinite at 0.

    The gradient is `d + d log r²`: with `xlogy`, zero at zero, and then its derivative
    is the logarithm. A formula of r² would leave that out.
    """
    r2 = rc.array_namespace(d).sum(d * d, axis=-1)
    return 0.5 * xlogy(r2, r2)


def _thin_plate_slope(d: Any) -> Any:
    r2 = rc.array_namespace(d).sum(d * d, axis=-1, keepdims=True)
    return d + xlogy(d, r2 + 0.0 * d)


@rc.frule.define(thin_plate)
def thin_plate_frule(tangents: Any, d: Any) -> Any:
    total = rc.array_namespace(d).sum(_thin_plate_slope(d) * tangents[1], axis=-1)
    return thin_plate(d), total


@rc.rrule.define(thin_plate)
def thin_plate_rrule(d: Any) -> Any:
    def thin_plate_pullback(dy: Any) -> Any:
        return rc.NoTangent(), dy[..., None] * _thin_plate_slope(d)

    return thin_plate(d), thin_plate_pullback


def _gaussian(r2: Any) -> Any:
    return rc.array_namespace(r2).exp(-r2)


def _multiquadric(r2: Any) -> Any:
    return rc.array_namespace(r2).sqrt(r2 + 1.0)


KERNELS: dict[str, Any] = {
    "linear": lambda r2: -_root(r2),
    "cubic": lambda r2: r2 * _root(r2),
    "quintic": lambda r2: -r2 * r2 * _root(r2),
    "multiquadric": lambda r2: -_multiquadric(r2),
    "inverse_multiquadric": lambda r2: 1.0 / _multiquadric(r2),
    "inverse_quadratic": lambda r2: 1.0 / (r2 + 1.0),
    "gaussian": _gaussian,
}
LEAST_DEGREE = {
    "multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2,
}  # fmt: skip


def differences(x: Any, y: Any = None) -> Any:
    """Of `(..., q, n)` and `(..., p, n)`, `(..., q, p, n)`.

    Of points among themselves without `y`: a point's own difference is a constant,
    where a kernel's second derivative may be infinite.
    """
    if y is not None:
        return x[..., :, None, :] - y[..., None, :, :]
    xp = rc.array_namespace(x)
    d = x[..., :, None, :] - x[..., None, :, :]
    n = x.shape[-2]
    device = getattr(x, "device", None)
    own = xp.eye(n, dtype=xp.bool, device=device)[:, :, None]
    return xp.where(own, xp.zeros(d.shape, dtype=d.dtype, device=device), d)


def squares(x: Any, y: Any = None) -> Any:
    """Squares of distances, `(..., q, p)`."""
    d = differences(x, y)
    return rc.array_namespace(d).sum(d * d, axis=-1)
