"""Rational functions in barycentric form.

All terms are multiplied by the distance from the nearest node: the formula is then
smooth at the nodes too, with all its derivatives.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import scipy.interpolate as _sp

import rules_core as rc
from rules_scipy._axes import concat, moveaxis

from ._arrays import (
    along,
    arrays,
    check,
    covers,
    covers_methods,
    defining,
    field,
    is_numpy,
    refuse,
)

__all__ = ["AAA", "FloaterHormannInterpolator", "barycentric"]


def barycentric(z: Any, w: Any, f: Any, q: Any, der: int = 0) -> list[Any]:
    """Taylor coefficients up to order `der` of sum w f / (q - z) / sum w / (q - z).

    Args:
        z: Nodes, `(n,)`.
        w: Weights, `(n,)`.
        f: Values at the nodes, `(n, r)`.
        q: Points, `(m,)`.
        der: The highest order.

    Returns:
        Arrays `(m, r)`.
    """
    xp = rc.array_namespace(z, q)
    apart = q[:, None] - z[None, :]
    near = xp.argmin(rc.ignore_derivatives(xp.abs(apart)), axis=1)
    node = xp.arange(z.shape[0], device=getattr(near, "device", None))
    is_near = node[None, :] == near[:, None]
    b = xp.where(is_near, xp.ones_like(apart), apart)
    one, none = xp.ones_like(apart), xp.zeros_like(apart)
    ratio = xp.where(is_near, one, (q - z[near])[:, None] / b)
    terms = [ratio]
    for m in range(der):
        ratio = xp.where(is_near, none, ((1.0 if m == 0 else 0.0) - ratio) / b)
        terms.append(ratio)
    tops = [_matmul(r * w[None, :], f) for r in terms]
    bottoms = [xp.sum(r * w[None, :], axis=1)[:, None] for r in terms]
    p: list[Any] = []
    for m in range(der + 1):
        rest = tops[m]
        for i in range(m):
            rest = rest - p[i] * bottoms[m - i]
        p.append(rest / bottoms[0])
    return p


def _matmul(a: Any, b: Any) -> Any:
    xp = rc.array_namespace(a, b)
    return a @ b if a.dtype == b.dtype else xp.astype(a, b.dtype) @ b


class _Rational:
    """A rational function by its values at support points.

    Attributes:
        weights: The barycentric weights.
    """

    weights: Any = None
    support: Any = None
    at_support: Any = None
    axis: int = 0

    def assign(self, z: Any, f: Any, w: Any, axis: int) -> None:
        self.support, self.at_support, self.weights, self.axis = z, f, w, axis

    def __call__(self, z: Any) -> Any:
        """Values at points."""
        support, f, w, q = arrays(self.support, self.at_support, self.weights, z)
        xp = rc.array_namespace(f, q)
        flat = xp.reshape(f, (f.shape[0], -1))
        [p] = barycentric(support, w, flat, xp.reshape(q, (-1,)))
        y = xp.reshape(p, (*q.shape, *f.shape[1:]))
        return moveaxis(y, 0, self.axis) if len(q.shape) else y


@covers(_sp.FloaterHormannInterpolator)
class FloaterHormannInterpolator(_Rational, _sp.FloaterHormannInterpolator):
    """`scipy.interpolate.FloaterHormannInterpolator`: rational, without poles.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import FloaterHormannInterpolator
    >>> x = np.arange(5.0)
    >>> r = lambda q: FloaterHormannInterpolator(x, x**3)(q)
    >>> round(float(jax.grad(r)(2.0)), 4)
    12.0
    """

    def __init__(self, points: Any, values: Any, *, d: int = 3, axis: int = 0) -> None:
        more = {"axis": axis} if axis else {}  # of newer versions of SciPy
        check(_sp.FloaterHormannInterpolator, points, values, d=d, **more)
        if is_numpy(points, values):
            _refuse_gaps(points, values)
        z, f = arrays(points, values)
        xp = rc.array_namespace(z, f)
        order = xp.argsort(rc.ignore_derivatives(z))
        z, f = z[order], along(f, axis)[order]
        self.assign(z, f, _floater_weights(z, operator.index(d)), axis)


def _refuse_gaps(points: Any, values: Any) -> None:
    """SciPy leaves out such points; a derivative in them would be silently zero."""
    points = np.asarray(points)
    is_double = len(np.unique(points)) < len(points)
    if is_double or not np.all(np.isfinite(values)) or np.iscomplexobj(points):
        refuse(
            "FloaterHormannInterpolator",
            "has derivatives for different real points and finite values: leave the "
            "others out",
        )


rc.non_differentiable(_refuse_gaps)


def _floater_weights(z: Any, d: int) -> Any:
    xp = rc.array_namespace(z)
    n = z.shape[0] - d
    total = 0.0 * z
    for m in range(d + 1):
        product = 0.0 * z[:n] + 1.0
        for j in range(d + 1):
            if j != m:
                product = product * xp.abs(z[m : m + n] - z[j : j + n])
        none = 0.0 * z
        total = total + concat([none[:m], 1.0 / product, none[: d - m]])
    signs = (-1.0) ** (np.arange(z.shape[0]) - d)
    return total * (arrays(signs, z)[0] if not is_numpy(z) else signs)


@covers(_sp.AAA)
class AAA(_Rational, _sp.AAA):
    """`scipy.interpolate.AAA` of constant data, with derivatives in the points.

    Raises:
        UnsupportedError: The data have a derivative: they choose the support points.
    """

    def __init__(self, x: Any, y: Any, **options: Any) -> None:
        if not is_numpy(x, y):
            _refuse_data()
        z, f, w = _aaa(x, y, options)
        z, f, w = _without_derivative(x, y, z, f, w)
        self.assign(z, f, w, 0)


def _refuse_data() -> None:
    refuse(
        "AAA",
        "chooses its support points by the data, so that it has no derivative in them. "
        "Give constant data, or use FloaterHormannInterpolator",
    )


def _aaa(x: Any, y: Any, options: Any) -> Any:
    made = _sp.AAA(x, y, **options)
    return made.support_points, made.support_values, made.weights


@rc.primitive
def _without_derivative(x: Any, y: Any, z: Any, f: Any, w: Any) -> Any:
    return z, f, w


rc.non_differentiable(_aaa)


@rc.frule.define(_without_derivative)
def _without_derivative_frule(tangents: Any, *args: Any) -> Any:
    _refuse_data()


@rc.rrule.define(_without_derivative)
def _without_derivative_rrule(*args: Any) -> Any:
    def pullback(dy: Any) -> Any:
        _refuse_data()

    return args[2:], pullback


def own_rational(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, _Rational):
        return s
    made = _Rational()
    axis = getattr(s, "_axis", 0)
    z, f = (
        field(s, f"_support_{name}", f"support_{name}") for name in ("points", "values")
    )
    made.assign(z, f, s.weights, axis)
    return made


covers_methods(defining(_sp.AAA, "__call__"), own_rational, "__call__")
