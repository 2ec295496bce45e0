"""Images at other places: derivatives in the values, and in the places.

Each function is the spline of the image at places that depend on the arguments. A place
that is mirrored back into the image moves backwards with it; one that is outside, where
the mode is constant, does not move at all.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.ndimage as _sp
import scipy.special as _special

import rules_core as rc
from rules_scipy._axes import moveaxis
from rules_scipy._lists import constant_like, dtype_of, shape_of
from rules_scipy._steps import At, declare
from rules_scipy.special import cosdg, sindg

from ._arrays import as_array, cast, extended, is_complex, output_dtype, per_axis
from ._linear import floating
from ._splines import sampled, spline_filter1d

__all__ = [
    "affine_transform",
    "geometric_transform",
    "map_coordinates",
    "rotate",
    "shift",
    "zoom",
]

# As far as SciPy extends an image for the modes whose coefficients have no closed form.
_MARGIN = 12
_READS = ("order", "mode", "prefilter")


class _Image:
    """The spline of an image along its last axes."""

    def __init__(
        self, x: Any, axes: int, order: int, mode: str, cval: Any, prefilter: bool
    ) -> None:
        self.order, self.mode, self.cval = order, mode, cval
        self.margin, self.dtype_of = 0, x
        c = floating(x)
        places = range(x.ndim - axes, x.ndim)
        if prefilter and order > 1:
            if mode in ("nearest", "grid-constant"):
                self.margin = _MARGIN
                for axis in places:
                    c = extended(c, axis, (_MARGIN, _MARGIN), mode, cval)
            for axis in places:
                c = spline_filter1d(c, order, axis, mode=mode)
        if mode == "grid-constant":
            c = c - self.outside_value(c)
        self.coefficients = c

    def outside_value(self, like: Any) -> Any:
        value = as_array(self.cval, like)
        xp = rc.array_namespace(like)
        if is_complex(value) and not is_complex(like):
            value = xp.real(value)
        return xp.astype(value, like.dtype)

    def at(self, u: Any) -> Any:
        """Its values at places."""
        powers = (0,) * u.shape[0]
        c = self.coefficients
        y = sampled(c, u + self.margin, self.order, self.mode, powers)
        if self.mode == "grid-constant":
            return y + self.outside_value(y)
        if self.mode == "constant":
            return y + self.outside_value(y) * _outside(u, c.shape[-u.shape[0] :], y)
        return y


def _outside(u: Any, shape: Any, like: Any) -> Any:
    """One where a place is outside of the image, else zero."""
    xp = rc.array_namespace(u)
    u = rc.ignore_derivatives(u)
    out = xp.zeros(tuple(u.shape[1:]), dtype=xp.bool)
    for axis, n in enumerate(shape):
        out = out | (u[axis, ...] < 0) | (u[axis, ...] > n - 1)
    return xp.astype(out, like.dtype)


def _stacked(rows: list[Any]) -> Any:
    return rc.array_namespace(*rows).stack(rows, axis=0)


# Shapes


def _moved_shape(f: Any, shape: Any) -> Any:
    """The shape rule: `shape(arguments by name)` is that of the result."""
    parameters = inspect.signature(f).parameters

    def moved_shape(*args: Any, **kw: Any) -> Any:
        own = {name: p.default for name, p in parameters.items()}
        own |= dict(zip(parameters, args, strict=False)) | kw
        dtype = output_dtype(own["output"], dtype_of(own["input"]))
        return rc.ShapeDtype(tuple(map(int, shape(own))), dtype)

    moved_shape.__qualname__ = f"{f.__name__}_shape"
    return moved_shape


def _given_shape(own: Any) -> Any:
    shape = own["output_shape"]
    return shape_of(own["input"]) if shape is None else shape


def _declared(f: Any, step: Any, shape: Any, *of: str) -> rc.Primitive:
    return declare(
        f,
        step,
        of=("input", *of, "cval"),
        out=_moved_shape(f, shape),
        reads=_READS,
    )


# Functions


def _map_step(
    at: At, input: Any, coordinates: Any, cval: Any, order: Any, mode: Any,
    prefilter: Any,
) -> Any:  # fmt: skip
    u = floating(as_array(coordinates, input))
    image = _Image(input, input.ndim, order, mode, cval, prefilter)
    return cast(image.at(u), at.y)


map_coordinates = _declared(
    _sp.map_coordinates,
    _map_step,
    lambda own: shape_of(own["coordinates"])[1:],
    "coordinates",
)


def _grid(shape: Any, like: Any) -> list[Any]:
    """The numbers of rows, columns, …, each along its axis."""
    grids = np.ogrid[tuple(slice(0, n) for n in shape)]
    return [constant_like(np.asarray(own, float), like) for own in grids]


def _affine_places(matrix: Any, offset: Any, shape: Any, like: Any) -> Any:
    """`matrix @ k + offset`, added in SciPy's order."""
    xp, grid = rc.array_namespace(matrix), _grid(shape, like)
    rows = []
    for i in range(matrix.shape[0]):
        row: Any = 0.0
        for j, numbers in enumerate(grid):
            row = row + numbers * matrix[i, j]
        rows.append(xp.broadcast_to(row + offset[i], tuple(shape)))
    return _stacked(rows)


def _affine_step(
    at: At, input: Any, matrix: Any, offset: Any, cval: Any, order: Any, mode: Any,
    prefilter: Any,
) -> Any:  # fmt: skip
    matrix = floating(as_array(_stack_tuple(matrix), input))
    offset = floating(as_array(_stack_tuple(offset), input))
    xp, d = rc.array_namespace(input), input.ndim
    if matrix.ndim == 2 and matrix.shape[1] == d + 1 and matrix.shape[0] >= d:
        matrix, offset = matrix[:d, :d], matrix[:d, d]
    if offset.ndim == 0:
        offset = xp.broadcast_to(offset, (d,))
    image = _Image(input, d, order, mode, cval, prefilter)
    shape = tuple(at.y.shape)
    if matrix.ndim == 2:
        return cast(image.at(_affine_places(matrix, offset, shape, input)), at.y)
    rows = [
        matrix[i] * (k + offset[i] / matrix[i])
        for i, k in enumerate(_grid(shape, input))
    ]
    return cast(image.at(_product_places(rows, shape)), at.y)


def _stack_tuple(x: Any) -> Any:
    """A tuple of numbers as an array of theirs."""
    if not isinstance(x, tuple):
        return x
    arrays = [entry for entry in x if rc.is_array(entry)]
    if not arrays:
        return np.asarray(x, float)
    xp = rc.array_namespace(*arrays)
    return xp.stack([as_array(_stack_tuple(entry), arrays[0]) for entry in x])


def _product_places(rows: list[Any], shape: Any) -> Any:
    xp = rc.array_namespace(*rows)
    return _stacked([xp.broadcast_to(row, tuple(shape)) for row in rows])


affine_transform = _declared(
    _sp.affine_transform, _affine_step, _given_shape, "matrix", "offset"
)


def _shift_step(
    at: At, input: Any, shift: Any, cval: Any, order: Any, mode: Any, prefilter: Any
) -> Any:
    shift = floating(as_array(_stack_tuple(shift), input))
    image = _Image(input, input.ndim, order, mode, cval, prefilter)
    grid = _grid(input.shape, input)
    rows = [k - (shift[i] if shift.ndim else shift) for i, k in enumerate(grid)]
    return cast(image.at(_product_places(rows, input.shape)), at.y)


shift = _declared(_sp.shift, _shift_step, lambda own: shape_of(own["input"]), "shift")


def _zoom_shape(own: Any) -> Any:
    shape = shape_of(own["input"])
    factors = per_axis(own["zoom"], len(shape))
    return [round(n * z) for n, z in zip(shape, factors, strict=True)]


def _zoom_step(
    at: At, input: Any, cval: Any, zoom: Any, order: Any, mode: Any, prefilter: Any,
    grid_mode: Any,
) -> Any:  # fmt: skip
    """The scale follows from the two shapes."""
    if prefilter and all(z == 1 for z in per_axis(zoom, input.ndim)):
        return cast(input, at.y)
    image = _Image(input, input.ndim, order, mode, cval, prefilter)
    rows = []
    for k, n, m in zip(_grid(at.y.shape, input), input.shape, at.y.shape, strict=True):
        less = 0 if grid_mode else 1
        scale = (n - less) / (m - less) if m != less else 1.0
        rows.append((k + 0.5) * scale - 0.5 if grid_mode else k * scale)
    return cast(image.at(_product_places(rows, at.y.shape)), at.y)


zoom = _declared(_sp.zoom, _zoom_step, _zoom_shape)


def _rotate_shape(own: Any) -> Any:
    """The frame of the turned corners, in SciPy's arithmetic."""
    shape = list(shape_of(own["input"]))
    if own["reshape"]:
        plane = sorted(axis % len(shape) for axis in own["axes"])
        n, m = (shape[axis] for axis in plane)
        c, s = (f(float(own["angle"])) for f in (_special.cosdg, _special.sindg))
        corners = np.array([[c, s], [-s, c]]) @ [[0, 0, n, n], [0, m, 0, m]]
        sizes = (np.ptp(corners, axis=1) + 0.5).astype(int)
        for axis, size in zip(plane, sizes, strict=True):
            shape[axis] = size
    return shape


def _rotate_step(
    at: At, input: Any, angle: Any, cval: Any, axes: Any, order: Any, mode: Any,
    prefilter: Any,
) -> Any:  # fmt: skip
    """The planes of the two axes, turned around their middle."""
    plane = sorted(axis % input.ndim for axis in axes)
    xp = rc.array_namespace(input)
    angle = floating(as_array(angle, input))
    c, s = cosdg(angle), sindg(angle)
    y = _planes(at.y, plane)
    x = _planes(input, plane)
    middle = [(n - 1) / 2 for n in y.shape[-2:]]
    turned = (c * middle[0] + s * middle[1], c * middle[1] - s * middle[0])
    offset = [(n - 1) / 2 - own for n, own in zip(x.shape[-2:], turned, strict=True)]
    matrix = xp.stack([xp.stack([c, s]), xp.stack([-s, c])])
    image = _Image(x, 2, order, mode, cval, prefilter)
    found = image.at(_affine_places(matrix, offset, y.shape[-2:], input))
    return cast(moveaxis(found, (-2, -1), plane), at.y)


def _planes(x: Any, plane: list[int]) -> Any:
    return moveaxis(x, tuple(plane), (-2, -1))


rotate = _declared(_sp.rotate, _rotate_step, _rotate_shape, "angle")


def _geometric_step(
    at: At, input: Any, cval: Any, mapping: Any, order: Any, mode: Any, prefilter: Any,
    extra_arguments: Any, extra_keywords: Any,
) -> Any:  # fmt: skip
    if not callable(mapping):
        message = (
            "the derivative of scipy.ndimage.geometric_transform needs a mapping that "
            "is a Python function. Compute the places by it, and use map_coordinates."
        )
        raise rc.UnsupportedError(message)
    more = extra_keywords or {}
    places = [
        mapping(place, *extra_arguments, **more) for place in np.ndindex(*at.y.shape)
    ]
    u = np.reshape(np.asarray(places, float).T, (input.ndim, *at.y.shape))
    image = _Image(input, input.ndim, order, mode, cval, prefilter)
    return cast(image.at(constant_like(u, input)), at.y)


geometric_transform = _declared(_sp.geometric_transform, _geometric_step, _given_shape)
