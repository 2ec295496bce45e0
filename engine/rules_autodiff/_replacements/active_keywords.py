"""NumPy functions with active keyword-only arguments, composed of other functions.

Rules have no cotangent for keyword-only arguments. If one is active, the function is
computed here by functions that have rules; otherwise by its rule.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff._python.handlers import HANDLERS, handler
from rules_autodiff._python.masks import mask_of_ufunc
from rules_autodiff._refusals import refused

__all__: list[str] = []


def written_out(f: Any, *names: str) -> Callable[[Any], Any]:
    """Register a replacement for ``f`` with an active keyword among ``names``."""

    def register(program: Any) -> Any:
        def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
            if any(run.is_active(kwargs.get(name)) for name in names):
                return program(run, *args, **kwargs)
            return run.call_opaque(f, args, kwargs)

        HANDLERS[f] = handle
        return program

    return register


def as_array(run: Any, x: Any) -> Any:
    return x if isinstance(x, np.ndarray) else run.call(np.asarray, x)


# spreads about an active mean


@written_out(np.var, "mean")
def var(run: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    return spread_of(run, as_array(run, a), *args, **kwargs)


@written_out(np.std, "mean")
def std(run: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    return root(run, var(run, a, *args, **kwargs))


@written_out(np.nanvar, "mean")
def nanvar(run: Any, a: Any, *args: Any, where: Any = True, **kwargs: Any) -> Any:
    a = as_array(run, a)
    there = ~np.isnan(a)
    numbers = run.call(np.where, there, a, 0.0)
    used = there & mask_of_ufunc(where, a.shape)
    return spread_of(run, numbers, *args, where=used, **kwargs)


@written_out(np.nanstd, "mean")
def nanstd(run: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    return root(run, nanvar(run, a, *args, **kwargs))


@handler(np.ndarray.var)
def handle_var_of(run: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if run.is_active(kwargs.get("mean")):
        return var(run, x, *args, **kwargs)
    return run.call_opaque(x.var, args, kwargs)


@handler(np.ndarray.std)
def handle_std_of(run: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    if run.is_active(kwargs.get("mean")):
        return std(run, x, *args, **kwargs)
    return run.call_opaque(x.std, args, kwargs)


def spread_of(
    run: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    mean: Any,
    where: Any = True,
    correction: Any = None,
) -> Any:
    """Σ |a - mean|² / (n - ddof)."""
    if dtype is not None or out is not None:
        options = {"dtype": dtype, "out": out, "mean": mean}
        return run.call_opaque(np.var, (a, axis), options)  # raises the error
    lost = ddof if correction is None else correction
    off = run.call(np.subtract, a, mean)
    squares = run.call(np.real, run.call(np.multiply, off, run.call(np.conjugate, off)))
    options = {"axis": axis, "keepdims": bool(keepdims), "where": where}
    total = run.call(np.sum, squares, **options)
    # NumPy sums the mask, so `[2, 0, 1]` counts three entries
    used = np.broadcast_to(where, squares.shape)
    count = np.sum(used, axis=axis, keepdims=bool(keepdims))
    return run.call(np.divide, total, np.maximum(count - lost, 0))


def root(run: Any, v: Any) -> Any:
    """√v with derivative zero at v = 0, a symmetric kink."""
    flat = v == 0
    return run.call(
        np.multiply, run.call(np.sqrt, run.call(np.where, flat, 1.0, v)), ~flat
    )


# active borders


@handler(np.pad)
def handle_pad(
    run: Any, array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any
) -> Any:
    if callable(mode):
        return padded_by(run, as_array(run, array), pad_width, mode, kwargs)
    for name, border in BORDERS.items():
        if run.is_active(kwargs.get(name)):
            x = as_array(run, array)
            check_kept(x.dtype, name)
            ends = run.call(np.broadcast_to, kwargs[name], (x.ndim, 2))
            ends = run.call(ends.astype, x.dtype)
            return framed(run, x, widths_of(pad_width, x.ndim), ends, border)
    return run.call_opaque(np.pad, (array, pad_width, mode), kwargs)


def check_kept(dtype: Any, name: str) -> None:
    """Raise an error for numbers that NumPy casts to the dtype of an integer array."""
    if dtype.kind not in "fc":
        refused("truncated", name, dtype)


def widths_of(pad_width: Any, ndim: int) -> Any:
    """Two numbers for each axis."""
    if not isinstance(pad_width, dict):
        return np.broadcast_to(pad_width, (ndim, 2)).tolist()
    widths = np.zeros((ndim, 2), int)
    for axis, width in pad_width.items():
        widths[axis] = width
    return widths.tolist()


def framed(run: Any, x: Any, widths: Any, ends: Any, border: Any) -> Any:
    """Axis after axis, each including the borders of the previous ones."""
    for axis, (before, after) in enumerate(widths):
        first = border(run, x, axis, before, run.read_array(ends, (axis, 0)), side=0)
        last = border(run, x, axis, after, run.read_array(ends, (axis, 1)), side=-1)
        x = run.call(np.concatenate, [first, x, last], axis=axis)
    return x


def constant_border(
    run: Any, x: Any, axis: int, width: int, end: Any, side: int
) -> Any:
    shape = (*x.shape[:axis], width, *x.shape[axis + 1 :])
    return run.call(np.full, shape, end)


def ramp(run: Any, x: Any, axis: int, width: int, end: Any, side: int) -> Any:
    """From the end value to the entry at the edge, which is not repeated."""
    shape = [1] * x.ndim
    shape[axis] = width
    share = np.arange(width) / max(width, 1)
    share = (share if side == 0 else share[::-1]).reshape(shape)
    edge = run.call(np.take, x, [side], axis=axis)
    by_edge = run.call(np.multiply, edge, share)
    return run.call(np.add, by_edge, run.call(np.multiply, end, 1.0 - share))


BORDERS = {"constant_values": constant_border, "end_values": ramp}


def padded_by(run: Any, x: Any, pad_width: Any, fill: Any, options: Any) -> Any:
    """`fill(vector, widths, axis, options)` writes into each vector, as in NumPy."""
    widths = widths_of(pad_width, x.ndim)
    padded = run.call(np.pad, x, widths)
    for axis, width in enumerate(widths):
        view = np.moveaxis(padded, axis, -1)
        for index in np.ndindex(view.shape[:-1]):
            run.call(fill, view[(*index, ...)], tuple(width), axis, options)
    return padded


# reductions with an active initial value

# Neutral elements of ufuncs for which NumPy has no identity.
NEUTRAL = {
    np.maximum: -np.inf,
    np.fmax: -np.inf,
    np.minimum: np.inf,
    np.fmin: np.inf,
}


@handler(np.ufunc.reduce)
def handle_reduce(run: Any, ufunc: Any, *args: Any, **kwargs: Any) -> Any:
    initial = kwargs.get("initial")
    masked = kwargs.get("where", True) is not True
    has_identity = ufunc.identity is not None or ufunc in NEUTRAL
    if not run.is_active(initial) or (masked and not has_identity):
        return run.call_opaque(ufunc.reduce, args, kwargs)
    return reduced_from(run, ufunc, *args, **kwargs)


def reduced_from(
    run: Any,
    ufunc: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    initial: Any,
    where: Any = True,
) -> Any:
    """The initial value becomes the first entry, the reduced axes become one axis."""
    a = as_array(run, array)
    check_kept(ufunc.reduce(np.ones(2, a.dtype), dtype=dtype).dtype, "initial")
    axes = np.arange(a.ndim)[axis if axis is None else np.ravel(axis)].ravel().tolist()
    rest = [i for i in range(a.ndim) if i not in axes]
    shape = [a.shape[i] for i in rest]
    flat = run.call(np.reshape, run.call(np.transpose, a, [*rest, *axes]), [*shape, -1])
    first = run.call(np.broadcast_to, initial, [*shape, 1])
    whole = run.call(np.concatenate, [first, flat], axis=-1)
    options = {"dtype": dtype, "out": out}
    if where is not True:
        used = mask_of_ufunc(where, a.shape).transpose([*rest, *axes])
        used = np.reshape(used, [*shape, -1])
        options["where"] = np.concatenate([np.ones([*shape, 1], bool), used], axis=-1)
        if ufunc.identity is None:
            options["initial"] = NEUTRAL[ufunc]
    result = run.call(ufunc.reduce, whole, -1, **options)
    shape_kept = [1 if i in axes else n for i, n in enumerate(a.shape)]
    return run.call(np.reshape, result, shape_kept) if keepdims else result


def as_function(f: Any) -> Any:
    """A method whose NumPy signature differs from that of its code."""

    def handle(run: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
        return run.call(f, a, *args, **kwargs)

    return handle


for _class in (np.ndarray, np.generic):
    HANDLERS[_class.all] = as_function(np.all)
    HANDLERS[_class.any] = as_function(np.any)
