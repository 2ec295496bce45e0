"""Curves through rotations: `Slerp` and `RotationSpline`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.spatial.transform as _sp

import rules_core as rc
from rules_core.extend import nan_unless
from rules_scipy._arrays import arrays, check, is_numpy
from rules_scipy._axes import concat
from rules_scipy._functions import is_traced
from rules_scipy._methods import covers_methods
from rules_scipy.interpolate import PPoly
from rules_scipy.linalg import solve
from rules_scipy.spatial._declare import covers

from . import _rates
from ._rotation import Rotation, own_rotation

__all__ = ["RotationSpline", "Slerp"]


def _data(times: Any, rotations: Any) -> tuple[Any, Any]:
    """Times and quaternions; traced times in disorder become NaN."""
    t, q = arrays(times, own_rotation(rotations).quat)
    if len(q.shape) != 2 or q.shape[0] < 2 or tuple(t.shape) != (q.shape[0],):
        message = (
            "`rotations` must be a sequence of at least 2 rotations, and `times` as "
            f"long, but got {tuple(q.shape[:-1])} and {tuple(t.shape)}."
        )
        raise ValueError(message)
    if is_numpy(t):
        return t, q
    d = rc.ignore_derivatives(t[1:] - t[:-1])
    return nan_unless(rc.array_namespace(d).all(d > 0), t), q


def _place(t: Any, x: Any, side: str) -> Any:
    """The interval of each point; the ends belong to the first and the last one."""
    t, x = rc.ignore_derivatives(t), rc.ignore_derivatives(x)
    xp = rc.array_namespace(t, x)
    # A sum in place of `searchsorted`: PyTorch's warns of strides.
    x = xp.expand_dims(x, axis=-1)
    before = t[1:-1] < x if side == "left" else t[1:-1] <= x
    return xp.sum(xp.astype(before, xp.int64), axis=-1)


@covers(_sp.Slerp)
class Slerp(_sp.Slerp):
    """`scipy.spatial.transform.Slerp`, in the times and the rotations.

    At a knot the derivative in the time is that of the piece before it.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial.transform import Rotation, Slerp
    >>> r = Rotation.from_euler("z", np.asarray([[0.0], [1.0], [3.0]]))
    >>> angle = lambda t: Slerp(np.arange(3.0), r)(t).as_rotvec()[2]
    >>> round(float(jax.grad(angle)(1.5)), 6)
    2.0
    """

    def __init__(self, times: Any, rotations: Any) -> None:
        check(_of_quaternions, _sp.Slerp, times, _quaternion(rotations))
        if not isinstance(rotations, _sp.Rotation):
            message = "`rotations` must be a `Rotation` instance."
            raise TypeError(message)
        self.times, q = _data(times, rotations)
        self.timedelta = self.times[1:] - self.times[:-1]
        every = Rotation(q, normalize=False)
        self.rotations = every[:-1]
        self.rotvecs = (self.rotations.inv() * every[1:]).as_rotvec()

    def __call__(self, times: Any) -> Any:
        """The rotations at times between the first and the last one."""
        t, x, v, q = arrays(self.times, times, self.rotvecs, self.rotations.quat)
        if len(x.shape) > 1:
            message = "`times` must be at most 1-dimensional."
            raise ValueError(message)
        row = rc.array_namespace(x).reshape(_inside(t, x), (-1,))
        i = _place(t, row, "left")
        share = (row - t[i]) / arrays(self.timedelta, t)[0][i]
        turn = Rotation.from_rotvec(v[i] * share[:, None])
        found = Rotation(q[i], normalize=False) * turn
        return found if len(x.shape) else found[0]


def _inside(t: Any, x: Any) -> Any:
    """Points in the range of times; outside an error, or NaN in traced code."""
    xp = rc.array_namespace(t, x)
    at, ends = rc.ignore_derivatives(x), rc.ignore_derivatives(t)
    good = (at >= ends[0]) & (at <= ends[-1])
    if is_traced(good):
        return nan_unless(good, x)
    if not xp.all(good):
        message = (
            f"Interpolation times must be within the range [{ends[0]}, {ends[-1]}], "
            "both inclusive."
        )
        raise ValueError(message)
    return x


def _quaternion(rotations: Any) -> Any:
    return rotations.as_quat() if isinstance(rotations, _sp.Rotation) else rotations


def _of_quaternions(cls: Any, times: Any, q: Any) -> None:
    cls(times, _sp.Rotation(q, normalize=False) if np.ndim(q) else q)


@covers(_sp.RotationSpline)
class RotationSpline(_sp.RotationSpline):
    """`scipy.spatial.transform.RotationSpline`, in the times and the rotations.

    The angular rates solve equations by ten steps of SciPy's iteration, which are
    differentiated as they stand.
    """

    def __init__(self, times: Any, rotations: Any) -> None:
        check(_of_quaternions, _sp.RotationSpline, times, _quaternion(rotations))
        self.times, q = _data(times, rotations)
        self.rotations = Rotation(q, normalize=False)
        vectors = (self.rotations[:-1].inv() * self.rotations[1:]).as_rotvec()
        dt = self.times[1:] - self.times[:-1]
        rates = vectors / dt[:, None]
        moving = rates
        if q.shape[0] > 2:
            rates, moving = self._rates(dt, rates, vectors)
        h = dt[:, None]
        xp = rc.array_namespace(q)
        coefficients = xp.stack([
            (-2.0 * vectors + h * rates + h * moving) / h**3,
            (3.0 * vectors - 2.0 * h * rates - h * moving) / h**2,
            rates,
            0.0 * rates,
        ])  # fmt: skip
        self.interpolator = PPoly(coefficients, self.times)

    def _rates(self, dt: Any, rates: Any, vectors: Any) -> tuple[Any, Any]:
        """Angular rates at the beginning of each piece, and slopes at its end."""
        xp = rc.array_namespace(rates)
        forth, back = _rates.to_vector(vectors), _rates.to_rate(vectors)
        m = _rates.blocks(back, forth, dt)
        h = dt[:, None]
        fixed = 6.0 * (vectors[:-1] / h[:-1] ** 2 + vectors[1:] / h[1:] ** 2)
        first = _rates.times(back[:1], rates[:1]) * (2.0 / dt[0])
        last = _rates.times(forth[-1:], rates[-1:]) * (2.0 / dt[-1])
        none = 0.0 * fixed[1:]
        fixed = fixed - concat([first, none]) - concat([none, last])
        ends, inner = (rates[:1], rates[-1:]), rates[:-1]
        for _ in range(self.MAX_ITER):
            slopes = _rates.times(forth, rates)
            b = fixed - _rates.acceleration(vectors[:-1], slopes[:-1])
            inner = xp.reshape(solve(m, xp.reshape(b, (-1,))), (-1, 3))
            rates = concat([inner, ends[1]])
        return concat([ends[0], inner]), _rates.times(forth, rates)

    def __call__(self, times: Any, order: Any = 0) -> Any:
        """Rotations, or their angular rates or accelerations, at times."""
        if order not in (0, 1, 2):
            message = "`order` must be 0, 1 or 2."
            raise ValueError(message)
        t, x, q = arrays(self.times, times, self.rotations.quat)
        single = len(x.shape) == 0
        row = rc.array_namespace(x).reshape(x, (-1,))
        if order == 0:
            start = Rotation(q[_place(t, row, "right")], normalize=False)
            found = start * Rotation.from_rotvec(self.interpolator(row))
            return found[0] if single else found
        vectors = self.interpolator(x)
        first = self.interpolator(x, 1)
        if order == 1:
            return _rates.times(_rates.to_rate(vectors), first)
        second = _rates.times(_rates.to_rate(vectors), self.interpolator(x, 2))
        return second + _rates.acceleration(vectors, first)


# SciPy's instances of constants, at times with a derivative


def _own_slerp(s: Any) -> Any:
    if isinstance(s, Slerp):
        return s
    last = s.rotations[-1] * _sp.Rotation.from_rotvec(s.rotvecs[-1])
    return Slerp(s.times, _sp.Rotation.concatenate([s.rotations, last]))


def _own_spline(s: Any) -> Any:
    return s if isinstance(s, RotationSpline) else RotationSpline(s.times, s.rotations)


covers_methods(_sp.Slerp, _own_slerp, "__call__")
covers_methods(_sp.RotationSpline, _own_spline, "__call__")
