"""Sums, means and extrema of the parts of an image that labels name.

`sum_labels` is linear, and its adjoint puts each value on every entry of its part. The
other measurements are made of these two; what selects an entry shares among equal ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage as _sp

import rules_core as rc
from rules_scipy._lists import dtype_of, entries_like, shape_of
from rules_scipy._steps import DECLARED, At, constant, declare

from ._arrays import as_array, cast, conjugate
from ._linear import floating

__all__ = [
    "center_of_mass",
    "extrema",
    "maximum",
    "mean",
    "median",
    "minimum",
    "standard_deviation",
    "sum",
    "sum_labels",
    "variance",
]


# Sums, and their adjoint


def _is_one(labels: Any, index: Any) -> bool:
    """Whether there is one part: all, what is labelled, or one label."""
    return labels is None or index is None or np.isscalar(index)


def _parts_shape(labels: Any, index: Any) -> tuple[int, ...]:
    return () if _is_one(labels, index) else shape_of(index)


def _sum_shape(input: Any, labels: Any = None, index: Any = None) -> Any:
    one = _is_one(labels, index)
    dtype = np.zeros(0, dtype_of(input)).sum().dtype if one else np.dtype(float)
    return rc.ShapeDtype(_parts_shape(labels, index), dtype)


def _whole(labels: Any, input: Any) -> tuple[int, ...]:
    """The shape of an image and its labels."""
    return np.broadcast_shapes(shape_of(input), shape_of(labels))


def _put_shape(v: Any, labels: Any, index: Any, shape: Any) -> Any:
    return rc.ShapeDtype(shape, np.dtype(v.dtype))


@rc.primitive(host=True, out=_put_shape)
def put(v: Any, labels: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """The adjoint of `sum_labels`: values put on the entries of their parts."""
    if labels is None:
        return np.broadcast_to(v, shape).copy()
    if _is_one(labels, index):
        inside = np.broadcast_to(_inside(labels, index), shape)
        return np.where(inside, v, np.zeros((), v.dtype))
    found, number, total = _numbered(labels, index)
    sums = np.zeros(total, v.dtype)
    np.add.at(sums, np.unique(np.ravel(index), return_inverse=True)[1], np.ravel(v))
    return np.broadcast_to(np.where(found, sums[number], 0), shape).astype(v.dtype)


def _inside(labels: Any, index: Any) -> Any:
    return labels > 0 if index is None else labels == index


def _numbered(labels: Any, index: Any) -> tuple[Any, Any, int]:
    """For each entry whether it has one of the labels, and the number of that."""
    known = np.unique(np.ravel(index))
    number = np.minimum(np.searchsorted(known, labels), known.size - 1)
    return known[number] == labels, number, known.size


def _sum_adjoint(dy: Any, input: Any, labels: Any, index: Any) -> Any:
    whole = put(dy, labels, index, _whole(labels, input))
    own = input if rc.is_array(input) else np.asarray(input)
    return entries_like(input, rc.ProjectTo(own)(whole))


def _put_adjoint(dy: Any, v: Any, labels: Any, index: Any, shape: Any) -> Any:
    return cast(sum_labels(dy, labels, index), v)


def _summed(f: Any) -> rc.Primitive:
    DECLARED[f] = "covered"
    made: rc.Primitive = rc.primitive(f, host=True, out=_sum_shape)
    rc.linear_rule(made, _sum_adjoint, 0)
    return made


sum_labels = _summed(_sp.sum_labels)
sum = _summed(_sp.sum)  # noqa: A001  SciPy's name
rc.linear_rule(put, _put_adjoint, 0)


class _Parts:
    """The parts of an image, and sums over them."""

    def __init__(self, labels: Any, index: Any) -> None:
        self.labels = rc.ignore_derivatives(labels)
        self.index = rc.ignore_derivatives(index)

    def total(self, x: Any) -> Any:
        # What a step captures is differentiated too: here it is constant.
        labels, index = map(rc.ignore_derivatives, (self.labels, self.index))
        return sum_labels(x, labels, index)

    def mean(self, x: Any) -> Any:
        """Means, in double precision as in SciPy."""
        xp = rc.array_namespace(x)
        x = floating(x)
        return self.total(x) / cast(self.total(xp.ones_like(x)), x)

    def value_at(self, v: Any, x: Any, outside: float = np.nan) -> Any:
        """At each entry the value of its part, a constant."""
        v, x = rc.ignore_derivatives(v), rc.ignore_derivatives(x)
        return rc.ignore_derivatives(_looked_up(v, self.labels, self.index, x, outside))

    def selected(self, x: Any, v: Any) -> Any:
        """The mean over the entries of each part that are equal to its value."""
        own, value = rc.ignore_derivatives(x), self.value_at(v, x)
        xp = rc.array_namespace(x)
        same = (own == value) | (xp.isnan(own) & xp.isnan(value) & self.inside(x))
        share = xp.astype(same, x.dtype)
        counts = self.total(share)
        empty = counts == 0  # a label that does not occur
        return self.total(share * x) / xp.where(empty, xp.ones_like(counts), counts)

    def inside(self, x: Any) -> Any:
        """Whether an entry belongs to a part."""
        ones = rc.array_namespace(x).ones_like(x)
        return self.value_at(0 * self.total(ones), x) == 0

    def variance(self, x: Any) -> Any:
        centred = floating(x) - self.value_at(self.mean(x), x, 0.0)
        mean = self.mean(centred)
        return self.mean(centred * conjugate(centred)) - mean * conjugate(mean)


def _looked_up_shape(v: Any, labels: Any, index: Any, x: Any, *_: Any) -> Any:
    return rc.ShapeDtype(_whole(labels, x), np.dtype(v.dtype))


@rc.primitive(host=True, out=_looked_up_shape)
def _looked_up(v: Any, labels: Any, index: Any, x: Any, outside: float) -> Any:
    shape = _whole(labels, x)
    if _is_one(labels, index):
        inside = True if labels is None else _inside(labels, index)
        return np.where(np.broadcast_to(inside, shape), v, outside).astype(v.dtype)
    found, number, _ = _numbered(labels, index)
    first = np.unique(np.ravel(index), return_index=True)[1]
    own = np.where(found, np.ravel(v)[first[number]], outside)
    return np.broadcast_to(own, shape).astype(v.dtype)


# Measurements


def _floating_shape(input: Any, labels: Any = None, index: Any = None) -> Any:
    kept = np.result_type(dtype_of(input), np.float64)
    return rc.ShapeDtype(_parts_shape(labels, index), kept)


def _selected_shape(input: Any, labels: Any = None, index: Any = None) -> Any:
    return rc.ShapeDtype(_parts_shape(labels, index), np.dtype(dtype_of(input)))


def _median_shape(input: Any, labels: Any = None, index: Any = None) -> Any:
    dtype = np.dtype(dtype_of(input))
    kept = dtype if dtype.kind in "fc" else np.dtype(float)
    return rc.ShapeDtype(_parts_shape(labels, index), kept)


def _mean_step(at: At, input: Any, labels: Any, index: Any) -> Any:
    return cast(_Parts(labels, index).mean(input), at.y)


def _variance_step(at: At, input: Any, labels: Any, index: Any) -> Any:
    return cast(_Parts(labels, index).variance(input), at.y)


def _deviation_step(at: At, input: Any, labels: Any, index: Any) -> Any:
    """Zero where the deviation is."""
    xp = rc.array_namespace(at.y)
    half = 0.5 / xp.where(at.y == 0, xp.ones_like(at.y), at.y)
    return cast(_Parts(labels, index).variance(input), at.y) * half


def _selection_step(at: At, input: Any, labels: Any, index: Any) -> Any:
    return cast(_Parts(labels, index).selected(input, at.y), at.y)


def _middle_shape(x: Any, labels: Any, index: Any) -> Any:
    return rc.ShapeDtype((2, *_parts_shape(labels, index)), np.dtype(x.dtype))


@rc.primitive(host=True, out=_middle_shape)
def _middle(x: Any, labels: Any, index: Any) -> Any:
    """The two entries in the middle of each part; one entry twice in odd ones."""
    whole = np.broadcast_to(x, _whole(labels, x))
    if labels is None:
        rows = [whole.ravel()]
    else:
        labels = np.broadcast_to(labels, whole.shape)
        wanted = [index] if _is_one(labels, index) else np.ravel(index)
        rows = [whole[_inside(labels, i)] for i in wanted]
    pairs = [_pair(np.sort(row)) for row in rows]
    return np.asarray(pairs, x.dtype).T.reshape((2, *_parts_shape(labels, index)))


def _pair(row: Any) -> tuple[Any, Any]:
    if row.size == 0:
        return np.nan, np.nan
    return row[(row.size - 1) // 2], row[row.size // 2]


def _median_step(at: At, input: Any, labels: Any, index: Any) -> Any:
    parts = _Parts(labels, index)
    pair = _middle(rc.ignore_derivatives(input), parts.labels, parts.index)
    low, high = (parts.selected(input, pair[i, ...]) for i in range(2))
    return cast((low + high) / 2, at.y)


def _extrema_shape(input: Any, labels: Any = None, index: Any = None) -> Any:
    one = _selected_shape(input, labels, index)
    place = tuple(rc.ShapeDtype((), np.dtype(int)) for _ in shape_of(input))
    places = place if _is_one(labels, index) else [place] * shape_of(index)[0]
    return one, one, places, places


def _extrema_step(at: At, input: Any, labels: Any, index: Any) -> Any:
    parts = _Parts(labels, index)
    return (
        lambda: cast(parts.selected(input, at.y[0]), at.y[0]),
        lambda: cast(parts.selected(input, at.y[1]), at.y[1]),
        None,
        None,
    )


def _declared(f: Any, step: Any, shape: Any, **more: Any) -> rc.Primitive:
    return declare(f, step, of=("input", "labels", "index"), out=shape, **more)


mean = _declared(_sp.mean, _mean_step, _floating_shape)
variance = _declared(_sp.variance, _variance_step, _floating_shape)
standard_deviation = _declared(_sp.standard_deviation, _deviation_step, _floating_shape)
minimum = _declared(_sp.minimum, _selection_step, _selected_shape)
maximum = _declared(_sp.maximum, _selection_step, _selected_shape)
median = _declared(_sp.median, _median_step, _median_shape)
extrema = _declared(_sp.extrema, _extrema_step, _extrema_shape, fixed=(2, 3))


# The centre of mass, whose result is a tuple for each part


def _centres_shape(input: Any, labels: Any = None, index: Any = None) -> Any:
    one = rc.ShapeDtype((), np.result_type(dtype_of(input), np.float64))
    centre = (one,) * len(shape_of(input))
    return centre if _is_one(labels, index) else [centre] * shape_of(index)[0]


center_of_mass: rc.Primitive = rc.primitive(
    _sp.center_of_mass, host=True, out=_centres_shape
)
DECLARED[_sp.center_of_mass] = "covered"


def _centres(x: Any, parts: _Parts) -> Any:
    """The coordinates, by axis and part."""
    xp, x = rc.array_namespace(x), floating(x)
    total, rows = parts.total(x), []
    for axis, n in enumerate(x.shape):
        shape = [1] * x.ndim
        shape[axis] = n
        grid = as_array(np.arange(n, dtype=float).reshape(shape), x)
        rows.append(parts.total(x * cast(grid, x)) / total)
    return xp.stack(rows, axis=0)


@rc.frule.define(_sp.center_of_mass)
def center_of_mass_frule(tangents: Any, input: Any, labels: Any, index: Any) -> Any:
    y = center_of_mass(input, labels, index)
    dx, parts = tangents[1], _Parts(labels, index)
    if isinstance(dx, rc.AbstractZero):
        return y, rc.ZeroTangent()
    _, dy = rc.jvp(lambda x: _centres(x, parts), (as_image(input),), (dx,))
    return y, _like_centres(y, dy)


def as_image(input: Any) -> Any:
    return input if rc.is_array(input) else np.asarray(input, float)


def _like_centres(y: Any, dy: Any) -> Any:
    if isinstance(y, tuple):
        return rc.Tangent(tuple, *[dy[i] for i in range(len(y))])
    rows = [
        rc.Tangent(tuple, *[dy[i, j] for i in range(len(row))])
        for j, row in enumerate(y)
    ]
    return rc.Tangent(list, *rows)


@rc.rrule.define(_sp.center_of_mass)
def center_of_mass_rrule(input: Any, labels: Any, index: Any) -> Any:
    y, parts = center_of_mass(input, labels, index), _Parts(labels, index)

    def pullback(dy: Any) -> Any:
        _, pull = rc.vjp(lambda x: _centres(x, parts), as_image(input))
        (dx,) = pull(_by_axis(y, dy))
        none = rc.NoTangent()
        return none, entries_like(input, dx), none, none

    return y, pullback


def _by_axis(y: Any, dy: Any) -> Any:
    """The cotangents as an array, by axis and part."""
    rows = [y] if isinstance(y, tuple) else y
    given = [dy] if isinstance(y, tuple) else [dy[j] for j in range(len(y))]
    filled = [
        [_filled(own, d) for own, d in zip(row, _entries(row, drow), strict=True)]
        for row, drow in zip(rows, given, strict=True)
    ]
    flat = [entry for row in filled for entry in row if rc.is_array(entry)]
    xp = rc.array_namespace(*flat)
    whole = xp.stack([xp.stack(row, axis=0) for row in filled], axis=1)
    return whole[:, 0] if isinstance(y, tuple) else whole


def _entries(row: Any, drow: Any) -> Any:
    return [drow] * len(row) if isinstance(drow, rc.AbstractZero) else drow


def _filled(own: Any, d: Any) -> Any:
    if rc.is_array(d):
        return d
    if not isinstance(d, rc.AbstractZero):
        return np.asarray(d)
    return rc.array_namespace(own).zeros_like(own)


constant(
    _sp.binary_closing, _sp.binary_dilation, _sp.binary_erosion, _sp.binary_fill_holes,
    _sp.binary_hit_or_miss, _sp.binary_opening, _sp.binary_propagation,
    _sp.distance_transform_cdt, _sp.find_objects, _sp.generate_binary_structure,
    _sp.histogram, _sp.iterate_structure, _sp.label, _sp.maximum_position,
    _sp.minimum_position, _sp.value_indices, _sp.watershed_ift,
)  # fmt: skip
