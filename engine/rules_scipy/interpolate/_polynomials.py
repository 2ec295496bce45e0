"""Polynomials through data, by Newton's and by the barycentric formula."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
import scipy.interpolate as _sp

import rules_core as rc
from rules_core.extend import stand_in

from ._arrays import (
    along,
    arrays,
    check,
    concrete,
    covers,
    covers_methods,
    defining,
    field,
    is_numpy,
    placed,
    refuse,
)
from ._rationals import barycentric

__all__ = [
    "BarycentricInterpolator",
    "KroghInterpolator",
    "barycentric_interpolate",
    "krogh_interpolate",
]


class _Through:
    """A function of one variable with values along one axis.

    Attributes:
        xi: Abscissae.
        yi: Values, `(n, r)`.
        shape: Of the values, without the axis.
        axis: That of the data.
    """

    xi: Any = None
    yi: Any = None
    shape: Any = ()
    axis: int = 0

    def assign(self, yi: Any, axis: int) -> None:
        xp = rc.array_namespace(yi)
        self.axis = axis % len(yi.shape)
        yi = along(yi, self.axis)
        if yi.shape[0] != self.xi.shape[0]:
            message = "x and y arrays must be equal in length along interpolation axis."
            raise ValueError(message)
        self.shape = tuple(yi.shape[1:])
        self.yi = xp.reshape(yi, (yi.shape[0], -1))

    def _taylor(self, q: Any, der: int) -> list[Any]:
        """Taylor coefficients up to an order, `(m, r)` each."""
        raise NotImplementedError

    def _orders(self, x: Any, der: int) -> list[Any]:
        [q] = arrays(x, self.yi)[:1] if not is_numpy(x, self.yi) else arrays(x)
        xp = rc.array_namespace(q)
        found = self._taylor(xp.reshape(q, (-1,)), der)
        shape = (*q.shape, *self.shape)
        return [
            placed(xp.reshape(p * factorial(m), shape), len(q.shape), self._moved(q))
            for m, p in enumerate(found)
        ]

    def _moved(self, q: Any) -> int:
        return self.axis if len(q.shape) else 0

    def __call__(self, x: Any) -> Any:
        """Values at points."""
        return self._orders(x, 0)[0]

    def derivative(self, x: Any, der: int = 1) -> Any:
        """A derivative at points."""
        return self._orders(x, der)[der]

    def derivatives(self, x: Any, der: Any = None) -> Any:
        """Derivatives of the orders below `der` at points."""
        der = self.xi.shape[0] if der is None else int(der)
        rows = self._orders(x, der - 1)
        return rc.array_namespace(rows[0]).stack(rows)


def _interpolated(p: Any, x: Any, der: Any) -> Any:
    if np.ndim(der):
        rows = p.derivatives(x, int(np.max(der)) + 1)
        xp = rc.array_namespace(rows)
        return xp.stack([rows[int(nu)] for nu in der])
    return p(x) if der == 0 else p.derivative(x, int(der))


@covers(_sp.KroghInterpolator)
class KroghInterpolator(_Through, _sp.KroghInterpolator):
    """`scipy.interpolate.KroghInterpolator`: by Newton's divided differences.

    Equal abscissae give derivatives; traced abscissae are taken to differ.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import KroghInterpolator
    >>> p = KroghInterpolator(np.asarray([0.0, 0.0, 1.0]), np.asarray([0.0, 2.0, 0.0]))
    >>> float(p(0.25)), float(jax.grad(p)(0.25))
    (0.375, 1.0)
    """

    c: Any = None

    def __init__(self, xi: Any, yi: Any, axis: int = 0) -> None:
        check(_sp.KroghInterpolator, xi, yi, axis)
        repeats = _repeats(concrete(xi))
        self.xi, yi = arrays(xi, yi)
        self.assign(yi, axis)
        self.c = _differences(self.xi, self.yi, repeats or [0] * self.xi.shape[0])

    def _taylor(self, q: Any, der: int) -> list[Any]:
        n = self.xi.shape[0]
        xi, c, q = arrays(self.xi, self.c, q)
        zero = c[n - 1][None, :] * 0.0 + 0.0 * q[:, None]
        p = [c[n - 1][None, :] + zero, *[zero] * der]
        for j in range(n - 2, -1, -1):
            d = (q - xi[j])[:, None]
            p = [p[m] * d + (p[m - 1] if m else 0.0) for m in range(der + 1)]
            p[0] = p[0] + c[j][None, :]
        return p


def _differences(xi: Any, yi: Any, repeats: list[int]) -> Any:
    """Newton's coefficients, with derivatives at repeated abscissae."""
    n = xi.shape[0]
    c: list[Any] = [yi[0]]
    last: list[Any] = []
    for k in range(1, n):
        s = repeats[k]
        v: list[Any] = [yi[k] / factorial(s)]
        for i in range(k - s):
            before = c[i] if s == 0 else last[i + 1]
            v.append((before - v[i]) / (xi[i] - xi[k]))
        last = [*v, *last[len(v) :]]
        c.append(v[k - s])
    return rc.array_namespace(yi).stack(c)


def _repeats(xi: Any) -> list[int]:
    """How many abscissae just before are equal."""
    if xi is None:
        return []
    found = [0]
    for k in range(1, len(xi)):
        found.append(found[-1] + 1 if xi[k] == xi[k - 1] else 0)
    return found


rc.non_differentiable(_repeats)


@covers(_sp.krogh_interpolate)
def krogh_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    """`scipy.interpolate.krogh_interpolate`."""
    return _interpolated(KroghInterpolator(xi, yi, axis), x, der)


@covers(_sp.BarycentricInterpolator)
class BarycentricInterpolator(_Through, _sp.BarycentricInterpolator):
    """`scipy.interpolate.BarycentricInterpolator`, smooth at its nodes too.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import BarycentricInterpolator
    >>> x = np.arange(3.0)
    >>> p = lambda q: BarycentricInterpolator(x, x**2)(q)
    >>> float(jax.grad(p)(1.0)), float(jax.grad(jax.grad(p))(1.0))
    (2.0, 2.0)
    """

    wi: Any = None

    def __init__(
        self, xi: Any, yi: Any = None, axis: int = 0, *, wi: Any = None,
        rng: Any = None, random_state: Any = None,
    ) -> None:  # fmt: skip
        check(_sp.BarycentricInterpolator, xi, yi, axis, wi=wi)
        self.xi, yi, wi = arrays(xi, yi, wi)
        self.wi = _weights(self.xi) if wi is None else wi
        self.axis = axis
        if yi is not None:
            self.assign(yi, axis)

    def set_yi(self, yi: Any, axis: Any = None) -> None:
        """Set the values."""
        [yi] = arrays(yi)
        self.assign(yi, self.axis if axis is None else axis)

    def add_xi(self, xi: Any, yi: Any = None) -> None:
        """Not here: SciPy's weight of an added point may have the wrong sign."""
        refuse("add_xi", "has no derivative. Make a new interpolant of all points")

    def _taylor(self, q: Any, der: int) -> list[Any]:
        xi, wi, yi, q = arrays(self.xi, self.wi, self.yi, q)
        return barycentric(xi, wi, yi, q, der)


@stand_in(_sp.BarycentricInterpolator.set_yi)
def set_values(self: Any, yi: Any, axis: Any = None) -> None:
    """Of an interpolant of constants, whose fields are SciPy's."""
    cure = (
        "has no derivative. Make a new interpolant of xi and yi inside of the program"
    )
    refuse("set_yi", cure)


def _weights(xi: Any) -> Any:
    """1 / prod (x_i - x_k), scaled by the interval's capacity."""
    xp = rc.array_namespace(xi)
    # A common factor cancels.
    capacity = 4.0 / rc.ignore_derivatives(xp.max(xi) - xp.min(xi))
    n = xi.shape[0]
    eye = xp.eye(n, dtype=xi.dtype, device=getattr(xi, "device", None))
    apart = (xi[:, None] - xi[None, :]) * capacity * (1.0 - eye) + eye
    w = apart[:, 0]
    for k in range(1, n):
        w = w * apart[:, k]
    return 1.0 / w


@covers(_sp.barycentric_interpolate)
def barycentric_interpolate(
    xi: Any, yi: Any, x: Any, axis: int = 0, *, der: Any = 0, rng: Any = None
) -> Any:
    """`scipy.interpolate.barycentric_interpolate`."""
    return _interpolated(BarycentricInterpolator(xi, yi, axis), x, der)


def own_krogh(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, _Through):
        return s
    cls = type(s)
    if isinstance(s, _sp.interp1d):
        from ._lines import own_line

        return own_line(s)
    made: Any = object.__new__(_OWN[cls])
    made.xi, made.yi, made.axis = s.xi, s.yi, field(s, "_y_axis")
    made.shape = tuple(field(s, "_y_extra_shape"))
    if cls is _sp.KroghInterpolator:
        made.c = s.c[: len(s.xi)]
    else:
        made.wi = s.wi
    return made


_OWN: dict[Any, Any] = {
    _sp.KroghInterpolator: KroghInterpolator,
    _sp.BarycentricInterpolator: BarycentricInterpolator,
}
_derived = defining(_sp.KroghInterpolator, "derivatives")
covers_methods(defining(_sp.KroghInterpolator, "__call__"), own_krogh, "__call__")
covers_methods(_derived, own_krogh, "derivative derivatives")
covers_methods(_sp.BarycentricInterpolator, own_krogh, "__call__ derivative")
