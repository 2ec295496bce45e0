"""Images of any array library: dtypes of results, constants, borders."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy._lists import constant_like, dtype_of, shape_of
from rules_scipy._steps import At, declare

__all__ = [
    "as_array",
    "cast",
    "dtype_named",
    "conjugate",
    "extended",
    "image_shape",
    "is_complex",
    "linear",
    "output_dtype",
    "per_axis",
    "places_of",
]

CONSTANT = ("constant", "grid-constant")
# SciPy's mode by its name in `np.pad`.
_PADS = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "grid-wrap": "wrap",
}


def is_complex(x: Any) -> bool:
    """Whether the entries are complex."""
    return bool(rc.array_namespace(x).isdtype(x.dtype, "complex floating"))


def conjugate(x: Any) -> Any:
    """The conjugate; real arrays as they are."""
    return rc.array_namespace(x).conj(x) if is_complex(x) else x


def cast(x: Any, like: Any) -> Any:
    """`x` in the dtype of another array; the real part if that is real."""
    xp = rc.array_namespace(x)
    if is_complex(x) and not is_complex(like):
        x = xp.real(x)
    return x if x.dtype == like.dtype else xp.astype(x, like.dtype)


def as_array(value: Any, like: Any) -> Any:
    """A number, list or NumPy array as an array of the library of another one."""
    if rc.is_array(value) and not isinstance(value, np.ndarray | np.generic):
        return value
    return constant_like(np.array(value, order="C"), like)


# Options for each axis.


def per_axis(value: Any, count: int) -> list[Any]:
    """One value for each of `count` axes."""
    if isinstance(value, str) or value is None or not np.iterable(value):
        return [value] * count
    return list(value)


def places_of(axes: Any, ndim: int) -> tuple[int, ...]:
    """The axes of an option, counted from the front."""
    if axes is None:
        return tuple(range(ndim))
    return tuple(int(axis) % ndim for axis in np.atleast_1d(axes))


# Shapes and dtypes


def output_dtype(output: Any, *dtypes: Any) -> np.dtype[Any]:
    """The dtype of a result: that of the first array, complex if one of them is."""
    is_complex = any(np.dtype(d).kind == "c" for d in dtypes)
    own = np.dtype(dtypes[0]) if output is None else dtype_named(output)
    return np.promote_types(own, np.complex64) if is_complex else own


def dtype_named(output: Any) -> np.dtype[Any]:
    """The dtype of `output`, which is one, its name, or an array."""
    is_name = isinstance(output, type | str | np.dtype)
    found: np.dtype[Any] = np.dtype(output if is_name else output.dtype)
    return found


def image_shape(f: Any, *complex_by: str) -> Callable[..., Any]:
    """The shape rule of a filter: the result is like the image.

    Args:
        f: The filter.
        complex_by: Other arguments whose complex entries make the result complex.
    """
    names = tuple(inspect.signature(f).parameters)

    def filter_shape(*args: Any, **kw: Any) -> Any:
        own = dict(zip(names, args, strict=False)) | kw
        x = own["input"]
        dtypes = [dtype_of(own[name]) for name in complex_by]
        dtype = output_dtype(own.get("output"), dtype_of(x), *dtypes)
        return rc.ShapeDtype(shape_of(x), dtype)

    filter_shape.__qualname__ = f"{f.__name__}_shape"
    return filter_shape


# Declarations


def linear(f: Any, adjoint: Callable[..., Any], out: Callable[..., Any]) -> Any:
    """The primitive of a function that is linear in the image, its first argument.

    Args:
        f: The function of SciPy.
        adjoint: `adjoint(dy, input, …)` with all arguments of `f`.
        out: The shape rule.
    """

    @wraps(f)
    def filtered(*args: Any, **kw: Any) -> Any:
        return f(*args, **kw)

    options = tuple(inspect.signature(f).parameters)[1:]
    own = rc.primitive(filtered, host=True, out=out, static_argnames=options)
    rc.linear_rule(own, adjoint, 0)

    def linear_step(at: At, input: Any, **options: Any) -> Any:
        return own(input, **{k: rc.ignore_derivatives(v) for k, v in options.items()})

    return declare(f, linear_step, out=out, reads=options)


# Borders


def extended(x: Any, axis: int, pads: Sequence[int], mode: str, cval: Any = 0.0) -> Any:
    """`x` with `pads` more entries before and after it, as a mode of SciPy says."""
    if not any(pads):
        return x
    xp = rc.array_namespace(x)
    if mode in CONSTANT:
        parts = [_edge(x, axis, pads[0], cval), x, _edge(x, axis, pads[1], cval)]
        return concat(parts, axis=axis)
    try:
        index = np.pad(np.arange(x.shape[axis]), tuple(pads), mode=_PADS[mode])  # type: ignore[call-overload]
    except KeyError:
        message = f"boundary mode {mode!r} is not supported by scipy.ndimage"
        raise rc.UnsupportedError(message) from None
    return xp.take(x, constant_like(index, x), axis=axis)


def _edge(x: Any, axis: int, count: int, cval: Any) -> Any:
    xp = rc.array_namespace(x)
    shape = list(x.shape)
    shape[axis] = count
    value = as_array(cval, x)
    if is_complex(value) and not is_complex(x):
        value = xp.real(value)
    return xp.broadcast_to(xp.astype(value, x.dtype), tuple(shape))
