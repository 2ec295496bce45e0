"""Splines through data, or near them: coefficients that solve banded equations."""

from __future__ import annotations

import operator
from typing import Any

import scipy.interpolate as _sp

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy.linalg import solve

from ._arrays import along, arrays, beside, check, covers, increasing, refuse
from ._basis import basis, knot_interval
from ._bsplines import BSpline
from ._knots import not_a_knot, periodic_knots, repeated_ends
from ._matrices import banded, bands_of_normal, product, solved, transposed_product

__all__ = [
    "interpolated",
    "least_squares",
    "make_interp_spline",
    "make_lsq_spline",
    "make_smoothing_spline",
]


# interpolation


def _conditions(side: Any, zero: Any) -> list[tuple[int, Any]]:
    """Orders and values of derivatives at one end."""
    if side is None:
        return []
    if isinstance(side, str):
        orders = {"clamped": 1, "natural": 2}
        if side not in orders:
            message = f"Unknown boundary condition : {side}"
            raise ValueError(message)
        return [(orders[side], zero)]
    return [(operator.index(order), value) for order, value in side]


def interpolated(x: Any, y: Any, t: Any, k: int, ends: Any = ((), ())) -> Any:
    """Coefficients of the spline through data along the first axis.

    Args:
        x: Abscissae, `(n,)`.
        y: Data, `(n, ...)`.
        t: Knots.
        k: The degree.
        ends: Conditions at both ends: pairs of an order and a value.
    """
    xp = rc.array_namespace(x, y, t)
    count = t.shape[0] - k - 1
    left, right = ends
    at = concat([*[x[:1]] * len(left), x, *[x[-1:]] * len(right)])
    i = knot_interval(t, at, k, count)
    rows = basis(t, at, i, k)
    for sign, side in ((1, left), (-1, right)):
        for r, (nu, _) in enumerate(side):
            place = r if sign > 0 else at.shape[0] - len(right) + r
            rows = _with_derivative(rows, t, at, i, k, nu, place)
    value = [
        xp.reshape(v + 0.0 * y[0], (1, *y.shape[1:])) for side in ends for _, v in side
    ]
    b = concat([*value[: len(left)], y, *value[len(left) :]])
    return solved(banded(rows, i - k, k), b, k)


def _with_derivative(
    rows: list[Any], t: Any, at: Any, i: Any, k: int, nu: int, place: int
) -> list[Any]:
    """Rows with that of a derivative at one place."""
    xp = rc.array_namespace(at)
    own = basis(t, at, i, k, nu)
    index = xp.arange(at.shape[0], device=getattr(at, "device", None))
    return [xp.where(index == place, d, w) for d, w in zip(own, rows, strict=True)]


@covers(_sp.make_interp_spline)
def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """`scipy.interpolate.make_interp_spline`, differentiable in all arrays.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import make_interp_spline
    >>> x, y = np.arange(4.0), np.asarray([0.0, 1.0, 8.0, 27.0])
    >>> jax.grad(lambda y: make_interp_spline(x, y)(1.5))(y).round(4).tolist()
    [-0.0625, 0.5625, 0.5625, -0.0625]
    """
    check(_sp.make_interp_spline, x, y, k, t, bc_type, axis, check_finite)
    is_named = bc_type is None or isinstance(bc_type, str)
    sides = (bc_type, bc_type) if is_named else tuple(bc_type)
    if bc_type in (None, "not-a-knot", "periodic"):
        sides = (None, None)
    values = [list(side) for side in sides if side and not isinstance(side, str)]
    x, y, t, *_ = arrays(x, y, t, [[v for _, v in side] for side in values] or None)
    axis = axis % len(y.shape)
    x, y = increasing(x), along(y, axis)
    if y.shape[0] != x.shape[0]:
        message = f"Shapes of x {x.shape} and y {y.shape} are incompatible"
        raise ValueError(message)
    if k == 0 or (k == 1 and t is None):
        t = concat([*[x[:1]] * k, x, x[-1:]])
        return BSpline.construct_fast(t, y, k, axis=axis)
    if bc_type == "periodic":
        t = periodic_knots(x, k)
        c = _periodic(x, y, t, k)
        return BSpline.construct_fast(t, c, k, "periodic", axis)
    ends = [_conditions(side, 0.0) for side in sides]
    if t is None:
        t = repeated_ends(x, x, k) if any(ends) else not_a_knot(x, k)
    if t.shape[0] - k - 1 != x.shape[0] + len(ends[0]) + len(ends[1]):
        message = "The number of derivatives at boundaries does not match."
        raise ValueError(message)
    ends = [[(nu, _like(v, y)) for nu, v in side] for side in ends]
    return BSpline.construct_fast(t, interpolated(x, y, t, k, ends), k, axis=axis)


def _like(v: Any, y: Any) -> Any:
    return arrays(v, y)[0]


def _periodic(x: Any, y: Any, t: Any, k: int) -> Any:
    """Coefficients of a periodic spline, by a dense matrix of its first period.

    The last k coefficients repeat the first.
    """
    xp = rc.array_namespace(x, y)
    n = x.shape[0] - 1
    count = t.shape[0] - k - 1
    at = x[:-1]
    i = knot_interval(t, at, k, count)
    rows = basis(t, at, i, k)
    index = xp.arange(n, device=getattr(x, "device", None))
    matrix = xp.zeros_like(at[:, None] * at[None, :])
    for a, w in enumerate(rows):
        column = (i - k + a) % n
        entry = xp.where(
            column[:, None] == index[None, :], w[:, None], 0.0 * w[:, None]
        )
        matrix = matrix + entry
    flat = xp.reshape(y[:-1], (n, -1))
    if matrix.dtype != flat.dtype:
        matrix = xp.astype(matrix, flat.dtype)
    c = xp.reshape(solve(matrix, flat), (n, *y.shape[1:]))
    repeats = [c[j % n][None, ...] for j in range(n, count)]
    return concat([c, *repeats])


# least squares


def least_squares(x: Any, y: Any, t: Any, k: int, w: Any) -> Any:
    """Coefficients c with least sum (w (s(x) - y))², along the first axis.

    By the normal equations and one step of refinement, which makes them as exact as
    an orthogonal factorisation.
    """
    count = t.shape[0] - k - 1
    i = knot_interval(t, x, k, count)
    rows = [w * b for b in basis(t, x, i, k)]
    target = beside(w, len(y.shape)) * y
    ab = bands_of_normal(rows, i - k, count, k)
    c = solved(ab, transposed_product(rows, i - k, target, count), k)
    rest = target - product(rows, i - k, c)
    return c + solved(ab, transposed_product(rows, i - k, rest, count), k)


@covers(_sp.make_lsq_spline)
def make_lsq_spline(
    x: Any, y: Any, t: Any, k: int = 3, w: Any = None, axis: int = 0,
    check_finite: bool = True, *, method: str = "qr",
) -> Any:  # fmt: skip
    """`scipy.interpolate.make_lsq_spline`: the spline with given knots nearest to data.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import make_lsq_spline
    >>> x, t = np.arange(4.0), np.asarray([0.0, 0.0, 3.0, 3.0])
    >>> fit = lambda y: make_lsq_spline(x, y, t, k=1)(0.0)
    >>> slopes = jax.grad(fit)(np.asarray([0.0, 1.0, 1.0, 3.0]))
    >>> [round(float(s), 3) for s in slopes]
    [0.7, 0.4, 0.1, -0.2]
    """
    more = {} if method == "qr" else {"method": method}
    check(_sp.make_lsq_spline, x, y, t, k, w, axis, check_finite, **more)
    x, y, t, w = arrays(x, y, t, w)
    axis = axis % len(y.shape)
    y = along(y, axis)
    w = x * 0.0 + 1.0 if w is None else w
    c = least_squares(increasing(x, strictly=False), y, t, k, w)
    return BSpline.construct_fast(t, c, k, axis=axis)


# smoothing


@covers(_sp.make_smoothing_spline)
def make_smoothing_spline(
    x: Any, y: Any, w: Any = None, lam: Any = None, *, axis: int = 0
) -> Any:
    """`scipy.interpolate.make_smoothing_spline` at a given `lam`.

    A natural cubic spline with least sum w (s(x) - y)² + lam ∫ s''².

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import make_smoothing_spline
    >>> x, y = np.arange(5.0), np.asarray([0.0, 1.0, 0.0, 1.0, 0.0])
    >>> middle = lambda lam: make_smoothing_spline(x, y, lam=lam)(2.0)
    >>> round(float(middle(1.0)), 4), round(float(jax.grad(middle)(1.0)), 4)
    (0.5217, -0.0467)
    """
    if lam is None:
        refuse(
            "make_smoothing_spline(lam=None)",
            "chooses lam by a search that ends at a tolerance, which has no "
            "derivative. Give lam, for instance the one that a search finds",
        )
    check(_sp.make_smoothing_spline, x, y, w, lam, axis=axis)
    x, y, w, lam = arrays(x, y, w, lam)
    axis = axis % len(y.shape)
    x, y = increasing(x), along(y, axis)
    w = x * 0.0 + 1.0 if w is None else w
    t = repeated_ends(x, x, 3)
    values = _smoothed(x, y, w, lam)
    ends = [[(2, 0.0 * y[0])]] * 2
    return BSpline.construct_fast(t, interpolated(x, values, t, 3, ends), 3, axis=axis)


def _smoothed(x: Any, y: Any, w: Any, lam: Any) -> Any:
    """The values of the smoothing spline at the abscissae.

    Reinsch's equations for the second derivatives g inside:
    (R + lam Qᵀ W⁻¹ Q) g = Qᵀ y, and then y - lam W⁻¹ Q g.
    """
    xp = rc.array_namespace(x, y)
    h = x[1:] - x[:-1]
    n = x.shape[0] - 2
    one, three = 1.0 / h[:-1], 1.0 / h[1:]
    q = [one, -one - three, three]  # Q[j + a, j]
    wide = [beside(a, len(y.shape)) for a in q]
    right = wide[0] * y[:-2] + wide[1] * y[1:-1] + wide[2] * y[2:]
    v = 1.0 / w
    main = (h[:-1] + h[1:]) / 3.0
    main = main + lam * sum(q[a] ** 2 * v[a : a + n] for a in range(3))
    off1 = h[1:-1] / 6.0
    off1 = off1 + lam * sum(q[a + 1][:-1] * q[a][1:] * v[a + 1 : a + n] for a in (0, 1))
    off2 = lam * q[2][:-2] * q[0][2:] * v[2:n]
    none = 0.0 * main
    ab = xp.stack([
        concat([none[:2], off2]), concat([none[:1], off1]), main,
        concat([off1, none[:1]]), concat([off2, none[:2]]),
    ])  # fmt: skip
    g = solved(ab, right, 2)
    zero = 0.0 * g[:1]
    parts = [concat([*[zero] * a, wide[a] * g, *[zero] * (2 - a)]) for a in range(3)]
    moved = parts[0] + parts[1] + parts[2]
    return y - lam * beside(v, len(y.shape)) * moved
