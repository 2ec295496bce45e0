"""Splines: their coefficients, and their values at any place.

`sampled(c, u)` is linear in the coefficients and smooth in the places; its derivatives
are the same sums with derivatives of the basis (`powers`), and its adjoint, `spread`,
adds values to the coefficients with the same weights. Places and coefficients beyond
the borders follow SciPy's modes.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.ndimage as _sp

import rules_core as rc
from rules_scipy._axes import moveaxis
from rules_scipy._lists import constant_like, entries_like

from ._arrays import cast, image_shape, is_complex, linear

__all__ = ["sampled", "spline_filter", "spline_filter1d", "spread"]


class Spline(NamedTuple):
    """A kind of spline.

    Attributes:
        order: Its degree.
        mode: SciPy's mode beyond the borders.
        powers: For each axis, how often it is differentiated.
    """

    order: int
    mode: str
    powers: tuple[int, ...]

    def along(self, axis: int) -> Spline:
        """Its derivative along one axis."""
        powers = list(self.powers)
        powers[axis] += 1
        return self._replace(powers=tuple(powers))


# The prefilter


# From this length on, what SciPy neglects where it starts its recursion is below 1e-17.
_LONG = 64


def _filter_adjoint(dy: Any, order: int, axis: int, mode: str) -> Any:
    """The adjoint of the filter along one axis.

    A short filter is a matrix, to be transposed: SciPy's recursion for "reflect" is not
    exactly the inverse of the spline's matrix. The inverse is symmetric but for the
    weights of ends where the mode mirrors: coefficients occur twice in a period, those
    at the ends once.
    """
    n = dy.shape[axis]
    if n < _LONG:
        matrix = _sp.spline_filter1d(np.eye(n), order, axis=0, mode=mode)
        return _product(matrix.T, dy, axis)
    if mode in ("reflect", "grid-mirror", "nearest", "grid-wrap"):
        return spline_filter1d(dy, order, axis, _same(dy), mode)
    back = spline_filter1d(_ends(dy, axis, 2.0), order, axis, _same(dy), mode)
    return _ends(back, axis, 0.5)


def _product(matrix: Any, x: Any, axis: int) -> Any:
    xp = rc.array_namespace(x)
    own = xp.astype(constant_like(matrix, x), x.dtype)
    return moveaxis(xp.tensordot(own, x, axes=((1,), (axis,))), 0, axis)


def _same(x: Any) -> str:
    return str(x.dtype).removeprefix("torch.")


def _ends(x: Any, axis: int, factor: float) -> Any:
    weights = np.ones(x.shape[axis])
    weights[[0, -1]] = factor
    shape = [1] * x.ndim
    shape[axis] = -1
    own = constant_like(weights.reshape(shape), x)
    return x * rc.array_namespace(x).astype(own, x.dtype)


def _one_axis(
    dy: Any, input: Any, order: Any, axis: Any, output: Any, mode: Any
) -> Any:
    dx = _filter_adjoint(dy, order, axis, mode) if order > 1 else dy
    return entries_like(input, cast(dx, input))


def _all_axes(dy: Any, input: Any, order: Any, output: Any, mode: Any) -> Any:
    for axis in range(dy.ndim):
        dy = _filter_adjoint(dy, order, axis, mode)
    return entries_like(input, cast(dy, input))


spline_filter1d: rc.Primitive = linear(
    _sp.spline_filter1d, _one_axis, image_shape(_sp.spline_filter1d)
)
spline_filter: rc.Primitive = linear(
    _sp.spline_filter, _all_axes, image_shape(_sp.spline_filter)
)


# Places and weights


def _basis(t: Any, degree: int) -> list[Any]:
    """The splines of a degree over one cell, from the left, at 0 <= t <= 1."""
    values = [np.ones_like(t)]
    for k in range(1, degree + 1):
        left = [np.zeros_like(t), *values]
        right = [*values, np.zeros_like(t)]
        values = [
            ((t + k - i) * left[i] + (i + 1 - t) * right[i]) / k for i in range(k + 1)
        ]
    return values


def _slopes(t: Any, degree: int, power: int) -> list[Any]:
    """Derivatives of the splines: differences of those of lower degree."""
    if power > degree:
        return [np.zeros_like(t)] * (degree + 1)
    values = _basis(t, degree - power)
    for _ in range(power):
        zero = np.zeros_like(t)
        values = [a - b for a, b in zip([zero, *values], [*values, zero], strict=True)]
    return values


# Further from the image than a spline of order five reaches.
_FAR = 9


def _place(u: Any, n: int, mode: str) -> tuple[Any, Any]:
    """Where a place is in the image, and the slope of that; zero weight outside."""
    one = np.ones_like(u)
    if mode == "grid-constant":
        return u, one
    if mode == "constant":
        inside = (u >= 0) & (u <= n - 1)
        return np.where(inside, u, 0.0), one * inside
    if mode == "nearest":  # coefficients repeat beyond the ends
        return np.clip(u, -_FAR, n + _FAR), one
    if n == 1:
        return np.zeros_like(u), np.zeros_like(u)
    if mode == "mirror":
        r = np.mod(u, 2 * n - 2)
        back = r > n - 1
        return np.where(back, 2 * n - 2 - r, r), np.where(back, -1.0, 1.0)
    if mode in ("reflect", "grid-mirror"):
        r = np.mod(u, 2 * n)
        back = r >= n
        return np.where(back, 2 * n - 1 - r, r), np.where(back, -1.0, 1.0)
    if mode == "grid-wrap":
        return np.mod(u, n), one
    r = np.mod(u, n - 1)
    last = (r == 0) & ((u < 0) | (u == n - 1))
    return np.where(last, n - 1.0, r), one


def _index(i: Any, n: int, mode: str) -> tuple[Any, Any]:
    """The coefficient at a whole number, and whether there is one."""
    if mode == "grid-constant":
        return np.clip(i, 0, n - 1), (i >= 0) & (i < n)
    if n == 1:
        return np.zeros_like(i), True
    if mode == "nearest":
        return np.clip(i, 0, n - 1), True
    if mode == "grid-wrap":
        return np.mod(i, n), True
    if mode in ("reflect", "grid-mirror"):
        r = np.mod(i, 2 * n)
        return np.where(r >= n, 2 * n - 1 - r, r), True
    r = np.mod(i, 2 * n - 2)
    return np.where(r >= n, 2 * n - 2 - r, r), True


def _stencil(u: Any, n: int, spline: Spline, axis: int) -> list[tuple[Any, Any]]:
    """The coefficients that a value along one axis is made of, and their weights."""
    order, mode, power = spline.order, spline.mode, spline.powers[axis]
    finite = np.isfinite(u)
    place, slope = _place(np.where(finite, u, 0.0), n, mode)
    slope = np.where(finite, slope, np.nan)
    cell = np.floor(place if order % 2 else place + 0.5)
    if order % 2 and mode not in ("grid-wrap", "grid-constant") and n > 1:
        cell = np.where(place == n - 1, n - 2, cell)  # the piece inside
    t = place - cell + (0.0 if order % 2 else 0.5)
    start = cell.astype(np.intp) - order // 2
    factor = slope**power
    if mode == "constant":
        factor = slope  # 0 outside, and 1
    rows = []
    for i, weight in enumerate(_slopes(t, order, power)):
        index, known = _index(start + i, n, mode)
        rows.append((index, weight * factor * known))
    return rows


def _terms(u: Any, shape: Any, spline: Spline) -> Any:
    """All products of weights, with the places of their coefficients."""
    axes = [_stencil(u[i], n, spline, i) for i, n in enumerate(shape)]
    for chosen in product(*axes):
        yield tuple(i for i, _ in chosen), np.prod([w for _, w in chosen], axis=0)


# Values, and their adjoint


def _double(x: Any) -> Any:
    return np.asarray(x, np.result_type(x.dtype, float))


def _sampled_shape(c: Any, u: Any, order: Any, mode: Any, powers: Any) -> Any:
    return rc.ShapeDtype((*c.shape[: c.ndim - u.shape[0]], *u.shape[1:]), c.dtype)


@rc.primitive(host=True, out=_sampled_shape)
def sampled(c: Any, u: Any, order: int, mode: str, powers: tuple[int, ...]) -> Any:
    """Values of a spline.

    Args:
        c: Coefficients along the last axes; those before them are several splines.
        u: The places, by axis.
        order: The degree.
        mode: What lies beyond the borders; zero for the constant modes.
        powers: How often it is differentiated along each axis.
    """
    out = _sampled_shape(c, u, order, mode, powers)
    total = np.zeros(out.shape, np.result_type(c.dtype, float))
    own, u = _double(c), _double(u)
    for index, weights in _terms(u, c.shape[-len(u) :], Spline(order, mode, powers)):
        total += own[(..., *index)] * weights
    return np.asarray(total, out.dtype)


def _spread_shape(
    v: Any, u: Any, shape: Any, order: Any, mode: Any, powers: Any
) -> Any:
    return rc.ShapeDtype((*v.shape[: v.ndim - len(u.shape) + 1], *shape), v.dtype)


@rc.primitive(host=True, out=_spread_shape)
def spread(
    v: Any, u: Any, shape: tuple[int, ...], order: int, mode: str,
    powers: tuple[int, ...],
) -> Any:  # fmt: skip
    """The adjoint of `sampled`: values added to the coefficients they are made of.

    Args:
        v: The values.
        u: The places, by axis.
        shape: The shape of the coefficients of one spline.
        order: The degree.
        mode: What lies beyond the borders.
        powers: How often the spline is differentiated along each axis.
    """
    out = _spread_shape(v, u, shape, order, mode, powers)
    u, size = _double(u), int(np.prod(shape))
    rows = _double(v).reshape(-1, int(np.prod(u.shape[1:])))
    parts = [rows.real, rows.imag] if np.iscomplexobj(rows) else [rows]
    totals = np.zeros((len(parts), len(rows), size))
    for index, weights in _terms(u, shape, Spline(order, mode, powers)):
        flat = np.ravel_multi_index(index, shape).ravel()
        for part, total in zip(parts, totals, strict=True):
            for i, row in enumerate(part):
                total[i] += np.bincount(flat, row * weights.ravel(), size)
    whole = totals[0] if len(parts) == 1 else totals[0] + 1j * totals[1]
    return np.asarray(whole.reshape(out.shape), out.dtype)


@rc.frule.define(sampled)
def sampled_frule(
    tangents: Any, c: Any, u: Any, order: Any, mode: Any, powers: Any
) -> Any:
    _, dc, du, *_ = tangents
    y, dy = sampled(c, u, order, mode, powers), rc.ZeroTangent()
    if not isinstance(dc, rc.AbstractZero):
        dy = dy + sampled(dc, u, order, mode, powers)
    if not isinstance(du, rc.AbstractZero):
        for axis, slope in enumerate(_gradient(c, u, order, mode, powers)):
            dy = dy + slope * cast(du[axis, ...], slope)
    return y, dy


def _gradient(c: Any, u: Any, order: int, mode: str, powers: Any) -> list[Any]:
    spline = Spline(order, mode, powers)
    return [
        sampled(c, u, order, mode, spline.along(axis).powers)
        for axis in range(u.shape[0])
    ]


@rc.rrule.define(sampled)
def sampled_rrule(c: Any, u: Any, order: Any, mode: Any, powers: Any) -> Any:
    shape = tuple(c.shape[c.ndim - u.shape[0] :])

    def of_places(dy: Any) -> Any:
        slopes = _gradient(c, u, order, mode, powers)
        return _along_places([_inner(s, dy, u) for s in slopes], u)

    def pullback(dy: Any) -> Any:
        dc = rc.thunk(lambda: cast(spread(dy, u, shape, order, mode, powers), c))
        du = rc.thunk(lambda: of_places(dy))
        return (rc.NoTangent(), dc, du, *[rc.NoTangent()] * 3)

    return sampled(c, u, order, mode, powers), pullback


def _inner(slope: Any, dy: Any, u: Any) -> Any:
    """The real inner product over several splines, at each place."""
    xp = rc.array_namespace(slope, dy)
    found = slope * dy
    if is_complex(slope) or is_complex(dy):
        found = xp.real(xp.conj(slope) * dy if is_complex(slope) else slope * dy)
    several = found.ndim - (u.ndim - 1)
    return xp.sum(found, axis=tuple(range(several))) if several else found


def _along_places(parts: list[Any], u: Any) -> Any:
    return cast(rc.array_namespace(*parts).stack(parts, axis=0), u)


@rc.frule.define(spread)
def spread_frule(
    tangents: Any, v: Any, u: Any, shape: Any, order: Any, mode: Any, powers: Any
) -> Any:
    _, dv, du, *_ = tangents
    y, dy = spread(v, u, shape, order, mode, powers), rc.ZeroTangent()
    if not isinstance(dv, rc.AbstractZero):
        dy = dy + spread(dv, u, shape, order, mode, powers)
    if not isinstance(du, rc.AbstractZero):
        spline = Spline(order, mode, powers)
        for axis in range(u.shape[0]):
            moved = v * cast(du[axis, ...], v)
            dy = dy + spread(moved, u, shape, order, mode, spline.along(axis).powers)
    return y, dy


@rc.rrule.define(spread)
def spread_rrule(v: Any, u: Any, shape: Any, order: Any, mode: Any, powers: Any) -> Any:
    def of_places(dy: Any) -> Any:
        slopes = _gradient(dy, u, order, mode, powers)
        return _along_places([_inner(v, s, u) for s in slopes], u)

    def pullback(dy: Any) -> Any:
        dv = rc.thunk(lambda: cast(sampled(dy, u, order, mode, powers), v))
        du = rc.thunk(lambda: of_places(dy))
        return (rc.NoTangent(), dv, du, *[rc.NoTangent()] * 4)

    return spread(v, u, shape, order, mode, powers), pullback


@rc.batch_rule.define(sampled)
def sampled_batch(_size: int, in_batched: Any, c: Any, u: Any, *options: Any) -> Any:
    return _several(sampled, in_batched, c, u, options)


@rc.batch_rule.define(spread)
def spread_batch(_size: int, in_batched: Any, v: Any, u: Any, *options: Any) -> Any:
    return _several(spread, in_batched, v, u, options)


def _several(f: Any, in_batched: Any, x: Any, u: Any, options: Any) -> Any:
    """A batch of splines at the same places is one call."""
    if in_batched[1]:
        return NotImplemented
    return f(x, u, *options), True
