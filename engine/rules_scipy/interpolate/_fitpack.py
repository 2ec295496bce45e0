"""FITPACK's functions of splines as tuples of knots, coefficients and a degree."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate as _sp

import rules_core as rc
from rules_scipy._axes import concat

from ._arrays import (
    arrays,
    check,
    covers,
    ignoring_warnings,
    increasing,
    is_numpy,
    refuse,
)
from ._bsplines import BSpline, antiderivative_of, derivative_of, inserted
from ._fitting import fitted, how_it_ended
from ._interpolating import make_interp_spline
from ._roots import crossings

__all__ = [
    "insert",
    "make_splprep",
    "make_splrep",
    "spalde",
    "splantider",
    "splder",
    "splev",
    "splint",
    "splprep",
    "splrep",
    "sproot",
    "values",
]


def _is_spline(tck: Any) -> bool:
    return isinstance(tck, _sp.BSpline)


def _is_parametric(c: Any) -> bool:
    """Whether there are several functions: a list of coefficients."""
    return isinstance(c, list | tuple) or len(c.shape) > 1


def _each(f: Any, tck: Any) -> Any:
    """`f` of each function's tuple, in a list."""
    t, c, k = tck
    return [f((t, own, k)) for own in c]


def _refuse_several(name: str, c: Any) -> None:
    if len(c.shape) > 1:
        message = (
            f"Calling {name}() with BSpline objects with c.ndim > 1 is not allowed."
        )
        raise ValueError(message)


def values(t: Any, c: Any, k: int, x: Any, der: int, ext: Any) -> Any:
    """Values of one spline; FITPACK's number `ext` says what lies outside."""
    t, c, x = arrays(t, c, x)
    xp = rc.array_namespace(t, x)
    first, last = t[k], t[t.shape[0] - k - 1]
    spline: Any = BSpline.construct_fast(t, c, k)
    if ext == 3 and der == 0:  # derivatives are those of the pieces, as in FITPACK
        return spline(_clipped(x, first, last), der)
    y = spline(x, der)
    if ext == 1:
        inside = (x >= first) & (x <= last)
        return xp.where(inside, y, xp.zeros_like(y))
    return y


def _clipped(x: Any, first: Any, last: Any) -> Any:
    xp = rc.array_namespace(x, first)
    x = xp.where(x < first, first + 0.0 * x, x)
    return xp.where(x > last, last + 0.0 * x, x)


@covers(_sp.splev)
def splev(x: Any, tck: Any, der: int = 0, ext: Any = 0) -> Any:
    """`scipy.interpolate.splev`: values of a spline, in all its numbers.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import splev, splrep
    >>> x, y = np.arange(5.0), np.asarray([0.0, 1.0, 0.0, 1.0, 0.0])
    >>> round(float(jax.grad(lambda q: splev(q, splrep(x, y)))(0.5)), 4)
    0.75
    """
    if _is_spline(tck):
        return _of_object(x, tck, der, ext)
    t, c, k = tck
    if _is_parametric(c):
        return _each(lambda own: splev(x, own, der, ext), tck)
    check(_sp.splev, x, tck, der, ext)
    if ext == 2 and not is_numpy(x, t):
        refuse("splev(ext=2)", "cannot raise an error for traced points: give ext=0")
    return values(t, c, k, x, der, ext)


def _of_object(x: Any, tck: Any, der: int, ext: Any) -> Any:
    _refuse_several("splev", tck.c)
    if ext not in (0, 1, True, False):
        message = f"Extrapolation mode {ext} is not supported by BSpline."
        raise ValueError(message)
    t, c, k = tck.t, tck.c, tck.k
    spline: Any = BSpline.construct_fast(t, c, k)
    return spline(x, der, {0: True}.get(ext, ext))


@covers(_sp.splint)
def splint(a: Any, b: Any, tck: Any, full_output: int = 0) -> Any:
    """`scipy.interpolate.splint`: the integral of a spline, zero outside its knots."""
    if full_output:
        refuse("splint(full_output=1)", "returns FITPACK's memory: leave it out")
    t, c, k = tck.tck if _is_spline(tck) else tck
    if _is_spline(tck):
        _refuse_several("splint", c)
    elif _is_parametric(c):
        return _each(lambda own: splint(a, b, own), tck)
    spline: Any = BSpline.construct_fast(t, c, k)
    return spline.integrate(a, b, False)


@covers(_sp.sproot)
def sproot(tck: Any, mest: int = 10) -> Any:
    """`scipy.interpolate.sproot`: the roots of a cubic spline, simple ones."""
    t, c, k = tck.tck if _is_spline(tck) else tck
    if _is_spline(tck):
        _refuse_several("sproot", c)
    elif _is_parametric(c):
        return _each(lambda own: sproot(own, mest), tck)
    if not is_numpy(t, c):
        refuse("sproot", "finds a number of roots that depends on values: use NumPy")
    t, c = arrays(t, c)
    spline: Any = BSpline.construct_fast(t, c, k)
    return crossings(_roots(t, c, k, mest), spline)


def _roots(t: Any, c: Any, k: int, mest: int) -> Any:
    return _sp.sproot((t, c, k), mest)


rc.non_differentiable(_roots)


@covers(_sp.spalde)
def spalde(x: Any, tck: Any) -> Any:
    """`scipy.interpolate.spalde`: all derivatives of a spline at points."""
    t, c, k = tck.tck if _is_spline(tck) else tck
    if _is_parametric(c):
        return _each(lambda own: spalde(x, own), (t, c, k))
    check(_sp.spalde, x, (t, c, k))
    [x] = arrays(x)
    spline: Any = BSpline.construct_fast(t, c, k)
    xp = rc.array_namespace(x)
    rows = xp.stack([spline(xp.reshape(x, (-1,)), nu) for nu in range(k + 1)], axis=1)
    return rows[0] if rows.shape[0] == 1 else [rows[i] for i in range(rows.shape[0])]


@covers(_sp.insert)
def insert(x: Any, tck: Any, m: int = 1, per: Any = 0) -> Any:
    """`scipy.interpolate.insert`: the same spline with `m` more knots at `x`."""
    if _is_spline(tck):
        t, c, k = tck.tck
    else:
        t, c, k = tck
        if _is_parametric(c):
            made = _each(lambda own: insert(x, own, m, per), tck)
            return made[0][0], [own[1] for own in made], k
        check(_sp.insert, x, tck, m, per)
    t, c, x = arrays(t, c, x)
    own = c[: t.shape[0] - k - 1]
    more = c.shape[0] - own.shape[0]
    for _ in range(m):
        t, own = inserted(t, own, k, x, periodic=bool(per))
    if _is_spline(tck):
        c = np.concatenate([own, np.zeros((k + 1, *own.shape[1:]))])  # as SciPy
        return BSpline.construct_fast(t, c, k, tck.extrapolate, tck.axis)
    c = np.concatenate([own, np.zeros(more)])
    return t, c, k


def _object(s: Any) -> Any:
    return BSpline.construct_fast(s.t, s.c, s.k, s.extrapolate, s.axis)


@covers(_sp.splder)
def splder(tck: Any, n: int = 1) -> Any:
    """`scipy.interpolate.splder`: a derivative, as a spline."""
    if _is_spline(tck):
        return _object(tck).derivative(n)
    t, c, k = tck
    return derivative_of(t, c, k, n)


@covers(_sp.splantider)
def splantider(tck: Any, n: int = 1) -> Any:
    """`scipy.interpolate.splantider`: an antiderivative, as a spline."""
    if _is_spline(tck):
        return _object(tck).antiderivative(n)
    t, c, k = tck
    return antiderivative_of(t, c, k, n)


# through data, or near them


@covers(_sp.splrep)
def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3,
    task: int = 0, s: Any = None, t: Any = None, full_output: int = 0, per: Any = 0,
    quiet: int = 1,
) -> Any:  # fmt: skip
    """`scipy.interpolate.splrep` with `s=0`, or with the knots `t` given.

    Raises:
        UnsupportedError: FITPACK smooths, with `s > 0`.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import splev, splrep
    >>> x, y = np.arange(5.0), np.asarray([0.0, 1.0, 0.0, 1.0, 0.0])
    >>> jax.grad(lambda y: splev(0.5, splrep(x, y)))(y).round(3).tolist()
    [0.297, 1.0, -0.406, 0.125, -0.016]
    """
    given = (x, y, w, xb, xe, k, task, s, t)
    check(_sp.splrep, *given, 0, per, quiet)
    if full_output:
        refuse("splrep(full_output=1)", "returns FITPACK's messages: leave it out")
    if task == 1 or (task == -1 and t is None):
        refuse("splrep(task=1)", "goes on from its last call: give task=0")
    x, y, own, t, xb, xe = arrays(x, y, w, t, xb, xe)
    m = x.shape[0]
    s = (0.0 if w is None else m - np.sqrt(2.0 * m)) if s is None else s
    x = increasing(x, strictly=False)
    if per:
        return _periodic(x, y, k, s, t)
    own = x * 0.0 + 1.0 if own is None else own
    ends = (x[0] if xb is None else xb), (x[-1] if xe is None else xe)

    def scipys() -> int:
        return how_it_ended(_sp.splrep, *given, per=per, quiet=1)

    t, c = fitted("splrep", x, y, own, ends, k, s, t, scipys)
    return t, concat([c, *[c[:1] * 0.0] * (k + 1)]), k


def _periodic(x: Any, y: Any, k: int, s: Any, t: Any) -> Any:
    if s != 0 or t is not None or k % 2 == 0:
        refuse(
            "splrep(per=1)",
            "has derivatives for s=0, without knots, and odd k. Use "
            "make_interp_spline(bc_type='periodic')",
        )
    y = concat([y[:-1], y[:1]])  # as FITPACK
    spline = make_interp_spline(x, y, k, bc_type="periodic")
    c = spline.c
    return spline.t, concat([c, *[c[:1] * 0.0] * (k + 1)]), k


def _parameters(x: Any) -> Any:
    """Lengths along a polygon, from 0 to 1; `x` is `(dimensions, n)`."""
    xp = rc.array_namespace(x)
    steps = xp.sqrt(xp.sum((x[:, 1:] - x[:, :-1]) ** 2, axis=0))
    u = xp.cumulative_sum(steps)
    return concat([u[:1] * 0.0, u / u[-1]])


@covers(_sp.splprep)
def splprep(
    x: Any, w: Any = None, u: Any = None, ub: Any = None, ue: Any = None, k: int = 3,
    task: int = 0, s: Any = None, t: Any = None, full_output: int = 0, nest: Any = None,
    per: Any = 0, quiet: int = 1,
) -> Any:  # fmt: skip
    """`scipy.interpolate.splprep` with `s=0`: a spline curve through points.

    Raises:
        UnsupportedError: FITPACK smooths, or the curve is closed.
    """
    given = (x, w, u, ub, ue, k, task, s, t)
    check(_sp.splprep, *given, 0, nest, per, quiet)
    if full_output or per or task == 1:
        refuse("splprep", "has derivatives without full_output, per and task")
    x, w, u, t, ub, ue = arrays(x, w, u, t, ub, ue)
    m = x.shape[1]
    s = m - np.sqrt(2.0 * m) if s is None else s
    u = _parameters(x) if u is None else u
    w = u * 0.0 + 1.0 if w is None else w
    ends = (u[0] if ub is None else ub), (u[-1] if ue is None else ue)

    def scipys() -> int:
        return _ended_with_curve(given, nest)

    y = rc.array_namespace(x).matrix_transpose(x)
    t, c = fitted("splprep", u, y, w, ends, k, s, t, scipys)
    return [t, [c[:, i] for i in range(x.shape[0])], k], u


def _ended_with_curve(given: Any, nest: Any) -> int:
    found = ignoring_warnings(_sp.splprep, *given, full_output=1, nest=nest)
    return int(found[2])


rc.non_differentiable(_ended_with_curve)


@covers(_sp.make_splrep)
def make_splrep(
    x: Any, y: Any, *, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3,
    s: Any = 0, t: Any = None, nest: Any = None, **options: Any,
) -> Any:  # fmt: skip
    """`scipy.interpolate.make_splrep` with `s=0`.

    Raises:
        UnsupportedError: It smooths, with `s > 0`.
    """
    check(_sp.make_splrep, x, y, w=w, xb=xb, xe=xe, k=k, s=s, t=t, nest=nest, **options)
    if s != 0:
        _refuse_smoothing("make_splrep")
    return make_interp_spline(x, y, k, bc_type=options.get("bc_type"))


def _refuse_smoothing(name: str) -> None:
    refuse(
        name,
        "with s > 0 searches for a smoothing parameter up to a tolerance, which has "
        "no derivative. Give s=0, or use make_lsq_spline with knots, or "
        "make_smoothing_spline with lam",
    )


@covers(_sp.make_splprep)
def make_splprep(
    x: Any, *, w: Any = None, u: Any = None, ub: Any = None, ue: Any = None, k: int = 3,
    s: Any = 0, t: Any = None, nest: Any = None, **options: Any,
) -> Any:  # fmt: skip
    """`scipy.interpolate.make_splprep` with `s=0`.

    Raises:
        UnsupportedError: It smooths, with `s > 0`.
    """
    check(
        _sp.make_splprep, x, w=w, u=u, ub=ub, ue=ue, k=k, s=s, t=t, nest=nest, **options
    )
    if s != 0:
        _refuse_smoothing("make_splprep")
    x, u = arrays(x, u)
    u = _parameters(x) if u is None else u
    return make_interp_spline(u, x, k, axis=1), u
