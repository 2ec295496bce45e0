"""Arrays along one axis: parts, selections and sums, in any array library."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import device

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy.linalg._matrices import is_complex

__all__ = [
    "alike",
    "beyond",
    "column",
    "fixed",
    "flipped",
    "padded",
    "part",
    "positions",
    "selected",
    "together",
]


def together(*xs: Any) -> list[Any]:
    """The arrays in one library; NumPy's beside those of another are constants."""
    xp = rc.array_namespace(*xs)
    like = next((x for x in xs if not isinstance(x, np.ndarray | np.generic)), None)
    if like is None:
        return list(xs)
    return [
        xp.asarray(x, device=device(like))
        if isinstance(x, np.ndarray | np.generic)
        else x
        for x in xs
    ]


def alike(*xs: Any) -> list[Any]:
    """As `together`, of their common dtype: PyTorch multiplies no others."""
    xs = tuple(together(*xs))
    xp = rc.array_namespace(*xs)
    dtype = xp.result_type(*[x.dtype for x in xs])
    return [x if x.dtype == dtype else xp.astype(x, dtype) for x in xs]


def fixed(constant: Any, like: Any) -> Any:
    """A NumPy array in the library and precision of another array."""
    xp, constant = rc.array_namespace(like), np.asarray(constant)
    if constant.dtype.kind in "fc":
        single = str(like.dtype).endswith(("float32", "complex64"))
        name = {"f": ("float64", "float32"), "c": ("complex128", "complex64")}
        dtype = getattr(xp, name[constant.dtype.kind][single])
        return xp.asarray(constant, dtype=dtype, device=device(like))
    return xp.asarray(constant, device=device(like))


def positions(like: Any, n: int) -> Any:
    """0, 1, …, n - 1."""
    return fixed(np.arange(n), like)


def column(x: Any, ndim: int, axis: int) -> Any:
    """A vector along one of `ndim` axes."""
    shape = [1] * ndim
    shape[axis] = x.shape[0]
    return rc.array_namespace(x).reshape(x, tuple(shape))


def part(
    x: Any, axis: int, start: int | None, stop: int | None, step: int | None = None
) -> Any:
    """A slice along an axis."""
    where: list[Any] = [slice(None)] * x.ndim
    where[axis] = slice(start, stop, step)
    return x[tuple(where)]


def selected(x: Any, axis: int, index: Any) -> Any:
    """Entries along an axis, by an array of whole numbers."""
    xp = rc.array_namespace(x)
    index = fixed(index, x) if isinstance(index, np.ndarray) else index
    return xp.take(x, index, axis=axis)


def beyond(n: int, before: int, after: int, mode: Any) -> Any:
    """Which of `n` entries stand before, at and after them, as `numpy.pad` repeats."""
    return np.pad(np.arange(n), (before, after), mode)


def flipped(x: Any, *axes: int) -> Any:
    """The order of entries reversed."""
    xp = rc.array_namespace(x)
    for axis in axes:
        x = xp.flip(x, axis=axis)
    return x


def padded(x: Any, axis: int, before: int, after: int) -> Any:
    """Zeros before and after."""
    return concat([*_zeros(x, axis, before), x, *_zeros(x, axis, after)], axis)


def _zeros(x: Any, axis: int, n: int) -> list[Any]:
    if n <= 0:
        return []
    shape = list(x.shape)
    shape[axis] = n
    xp = rc.array_namespace(x)
    return [xp.zeros(tuple(shape), dtype=x.dtype, device=device(x))]


def projected(x: Any, dx: Any) -> Any:
    """A cotangent of `x`: sums over axes that were broadcast, the real part."""
    xp = rc.array_namespace(dx)
    for axis, n in enumerate(x.shape):
        if n == 1 and dx.shape[axis] != 1:
            dx = xp.sum(dx, axis=axis, keepdims=True)
    return xp.real(dx) if is_complex(dx) and not is_complex(x) else dx
