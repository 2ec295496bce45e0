"""Gaussian filters and their derivatives, also in the widths.

The weights are a function of the width; the radius at which SciPy cuts them off is
constant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.ndimage as _sp

import rules_core as rc
from rules_scipy._lists import constant_like
from rules_scipy._steps import At, declare

from ._arrays import as_array, cast, image_shape, per_axis, places_of
from ._linear import along_axis, floating

__all__ = [
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
]


def _weights(sigma: Any, order: int, radius: int, like: Any) -> Any:
    """A Gaussian's derivative, the weights of the Gaussian normalised to one."""
    xp = rc.array_namespace(sigma)
    x = constant_like(np.arange(-radius, radius + 1, dtype=float), like)
    bell = xp.exp(-0.5 * (x / sigma) ** 2)
    bell = bell / xp.sum(bell)
    factors = [xp.ones_like(bell)]  # Hermite's polynomials
    for n in range(order):
        before = n * factors[n - 1] if n else 0.0
        factors.append((-x * factors[n] - before) / sigma**2)
    return xp.flip(factors[order] * bell)


def _radius(sigma: Any, truncate: float, radius: Any) -> int:
    if radius is not None:
        return int(radius)
    width = _number(sigma)
    if width is None:
        message = (
            "the derivative of scipy.ndimage.gaussian_filter where sigma is traced "
            "needs a constant radius: give radius=, for example int(4 * sigma + 0.5)."
        )
        raise rc.UnsupportedError(message)
    return int(truncate * width + 0.5)


def _number(sigma: Any) -> float | None:
    """The value of a number, None if it is traced."""
    try:
        return float(rc.ignore_derivatives(sigma))
    except (TypeError, RuntimeError):
        return None


def _each(sigma: Any, count: int) -> list[Any]:
    """The widths of several axes."""
    shape = getattr(sigma, "shape", None)
    if isinstance(sigma, list | tuple):
        return list(sigma)
    return [sigma] * count if not shape else [sigma[i] for i in range(count)]


class _Widths(NamedTuple):
    """Widths of the axes of a filter.

    Attributes:
        places: The axes.
        moving: Their widths.
        fixed: The widths where the derivative is taken, for the radius.
        truncate: SciPy's option.
        radius: SciPy's option.
    """

    places: tuple[int, ...]
    moving: list[Any]
    fixed: list[Any]
    truncate: float
    radius: Any

    def filtered(self, x: Any, orders: Any, modes: Any, cval: Any) -> Any:
        """`x` filtered along each axis; widths of zero leave it."""
        radii = per_axis(self.radius, len(self.places))
        own = [per_axis(option, len(self.places)) for option in (orders, modes)]
        rows = zip(self.places, self.moving, self.fixed, radii, *own, strict=True)
        for axis, sigma, fixed, radius, order, mode in rows:
            width = _number(fixed)
            if width is not None and width <= 1e-15:
                continue
            reach = _radius(fixed, self.truncate, radius)
            weights = _weights(as_array(sigma, x), order, reach, x)
            x = along_axis(x, weights, axis, mode, cval)
        return x


def _widths(
    at: At, x: Any, sigma: Any, axes: Any, truncate: float = 4.0, radius: Any = None
) -> _Widths:
    places = places_of(axes, x.ndim)
    moving, fixed = (_each(own, len(places)) for own in (sigma, at.args[1]))
    return _Widths(places, moving, fixed, truncate, radius)


def _smoothed(
    at: At, input: Any, sigma: Any, cval: Any, order: Any, mode: Any,
    truncate: Any, radius: Any, axis: Any = None, axes: Any = None,
) -> Any:  # fmt: skip
    """Along one axis, or along several."""
    places = axes if axis is None else axis
    widths = _widths(at, input, sigma, places, truncate, radius)
    return cast(widths.filtered(floating(input), order, mode, cval), at.y)


def _derivatives(
    at: At, x: Any, sigma: Any, cval: Any, order: int, mode: Any, axes: Any, more: Any
) -> list[Any]:
    """The derivatives of this order along each axis of the smoothed image."""
    places = places_of(axes, x.ndim)
    modes, parts = per_axis(mode, len(places)), []
    for axis, border in zip(places, modes, strict=True):
        orders = [order if i == axis else 0 for i in range(x.ndim)]
        widths = _widths(at, x, sigma, None, **more)
        parts.append(widths.filtered(floating(x), orders, border, cval))
    return parts


def _whole(sigma: Any, axes: Any, ndim: int) -> Any:
    """The widths of all axes: zero where the filter does not go."""
    places = places_of(axes, ndim)
    found = dict(zip(places, _each(sigma, len(places)), strict=True))
    return tuple([found.get(i, 0.0) for i in range(ndim)])


def _laplace(
    at: At, input: Any, sigma: Any, cval: Any, mode: Any, axes: Any,
    truncate: float = 4.0, radius: Any = None,
) -> Any:  # fmt: skip
    more = {"truncate": truncate, "radius": radius}
    fixed = _whole(at.args[1], axes, input.ndim)
    at = at._replace(args=(at.args[0], fixed))
    sigma = _whole(sigma, axes, input.ndim)
    parts = _derivatives(at, input, sigma, cval, 2, mode, axes, more)
    return cast(sum(parts[1:], start=parts[0]) if parts else input, at.y)


def _magnitude(
    at: At, input: Any, sigma: Any, cval: Any, mode: Any, axes: Any,
    truncate: float = 4.0, radius: Any = None,
) -> Any:  # fmt: skip
    """The slopes times their share in the magnitude: zero where that is zero."""
    more = {"truncate": truncate, "radius": radius}
    if axes is not None and len(places_of(axes, input.ndim)) == 0:
        return input
    x, sigmas, edge = at.args
    fixed = _derivatives(at, x, sigmas, edge, 1, mode, axes, more)
    xp = rc.array_namespace(at.y)
    size = xp.where(at.y == 0, xp.ones_like(at.y), at.y)
    parts = _derivatives(at, input, sigma, cval, 1, mode, axes, more)
    shares = [g * (own / size) for g, own in zip(parts, fixed, strict=True)]
    return cast(sum(shares[1:], start=shares[0]), at.y)


def _smooth(f: Any, step: Any) -> rc.Primitive:
    more = ("truncate", "radius")
    return declare(
        f, step, of=("input", "sigma", "cval"), out=image_shape(f), reads=more
    )


gaussian_filter1d = _smooth(_sp.gaussian_filter1d, _smoothed)
gaussian_filter = _smooth(_sp.gaussian_filter, _smoothed)
gaussian_laplace = _smooth(_sp.gaussian_laplace, _laplace)
gaussian_gradient_magnitude = _smooth(_sp.gaussian_gradient_magnitude, _magnitude)
