"""NumPy functions that call a user's function, entry by entry or row by row.

C code and NumPy's own loops would call it unseen. Here the loops are plain Python over
single entries, and functions with rules combine the results.
"""

from typing import Any

import numpy as np

from rules_autodiff._python.handlers import CALLABLES, handler
from rules_autodiff._refusals import no_rule_error, refused

__all__: list[str] = []


def gathered(run: Any, items: list[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers, or arrays of one shape, as one array with leading axes `shape`.

    Without a dtype NumPy uses that of the first.
    """
    if not items:
        return np.zeros(shape, dtype or float)
    whole = run.call(np.array, items)
    own = np.asarray(items[0]).dtype
    dtype = own if dtype is None and own.kind in "biufc" else dtype
    if dtype is not None and whole.dtype != np.dtype(dtype):
        if np.dtype(dtype).kind not in "fc" and run.is_active(whole):
            refused("truncated", "the results", np.dtype(dtype))
        whole = run.call(whole.astype, dtype)
    return run.call(np.reshape, whole, (*shape, *whole.shape[1:]))


def combined(run: Any, results: list[Any], shape: Any, dtypes: Any) -> Any:
    """The outputs of a function, called once per entry."""
    if not results or not isinstance(results[0], tuple):
        return gathered(run, results, shape, dtypes[0])
    columns = zip(*results, strict=True)
    pairs = zip(columns, dtypes * len(results[0]), strict=False)
    return tuple([gathered(run, list(c), shape, dtype) for c, dtype in pairs])


def as_array(run: Any, x: Any) -> Any:
    return x if isinstance(x, np.ndarray) else run.call(np.asarray, x)


def entry(run: Any, a: Any, index: Any) -> Any:
    """One entry as a Python number, which `numpy.vectorize` passes on."""
    return run.call(a.item, *index) if a.dtype.kind in "fiub" else a[index]


# numpy.vectorize


def call_vectorized(run: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """`numpy.vectorize(f)(*args)`: calls `f` once per entry."""
    excluded = {place for place in f.excluded if isinstance(place, int)}
    moving = {i: as_array(run, x) for i, x in enumerate(args) if i not in excluded}
    named = {n: as_array(run, x) for n, x in kwargs.items() if n not in f.excluded}
    if f.signature is not None:
        return call_with_signature(run, f, list(moving.values()))
    shape = np.broadcast_shapes(*(a.shape for a in (*moving.values(), *named.values())))
    indices, results = list(np.ndindex(shape)), []
    if f.otypes is None and not f.cache:
        indices[:0] = indices[:1]  # NumPy tries the first entry to learn the outputs
    for index in indices:
        arguments = list(args)
        for i, a in moving.items():
            arguments[i] = entry(run, a, own_index(index, a.shape))
        chosen = {n: entry(run, a, own_index(index, a.shape)) for n, a in named.items()}
        results.append(run.call(f.pyfunc, *arguments, **{**kwargs, **chosen}))
    results = results[-np.prod(shape, dtype=int) :]
    return combined(run, results, shape, list(f.otypes or ()) or [None])


def own_index(index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index into an array that was broadcast."""
    last = index[len(index) - len(shape) :]
    return tuple([0 if n == 1 else i for i, n in zip(last, shape, strict=True)])


def call_with_signature(run: Any, f: Any, arrays: list[Any]) -> Any:
    """`numpy.vectorize(f, signature="(n),(n)->()")`: calls `f` once per row."""
    inputs = f.signature.partition("->")[0].replace(" ", "")
    counts = [part.count(",") + 1 if part else 0 for part in inputs[1:-1].split("),(")]
    ranks = [a.ndim - count for a, count in zip(arrays, counts, strict=True)]
    outer = [a.shape[:rank] for a, rank in zip(arrays, ranks, strict=True)]
    shape = np.broadcast_shapes(*outer)
    results = []
    for index in np.ndindex(shape):
        rows = [
            run.read_array(a, own_index(index, own)) if own else a
            for a, own in zip(arrays, outer, strict=True)
        ]
        results.append(run.call(f.pyfunc, *rows))
    return combined(run, results, shape, list(f.otypes or ()) or [None])


CALLABLES[np.vectorize] = call_vectorized


@handler(np.vectorize)
def handle_vectorize(_run: Any, *args: Any, **kwargs: Any) -> Any:
    return np.vectorize(*args, **kwargs)


# row by row


@handler(np.apply_along_axis)
def handle_along_axis(
    run: Any, func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    arr = as_array(run, arr)
    axis %= arr.ndim
    moved = np.moveaxis(arr, axis, -1)
    shape = moved.shape[:-1]
    rows = [run.read_array(moved, index) for index in np.ndindex(shape)]
    results = [run.call(func1d, row, *args, **kwargs) for row in rows]
    whole = gathered(run, results, shape, None)
    extra = whole.ndim - len(shape)
    places = tuple(range(len(shape), whole.ndim))
    return run.call(np.moveaxis, whole, places, tuple(range(axis, axis + extra)))


@handler(np.apply_over_axes)
def handle_over_axes(run: Any, func: Any, a: Any, axes: Any) -> Any:
    value = as_array(run, a)
    rank = value.ndim
    for axis in (axes,) if isinstance(axes, int) else axes:
        place = axis % rank
        result = run.call(func, value, place)
        same_rank = result.ndim == rank
        value = result if same_rank else run.call(np.expand_dims, result, place)
    return value


# made of functions and iterables


@handler(np.fromiter)
def handle_fromiter(run: Any, iter: Any, dtype: Any, count: int = -1, **kw: Any) -> Any:
    items = list(run.iter(iter)) if count < 0 else first(run.iter(iter), count)
    if not run.is_active(items):
        return np.fromiter(items, dtype, count, **kw)
    return gathered(run, items, (len(items),), np.dtype(dtype))


def first(items: Any, count: int) -> list[Any]:
    return [item for item, _ in zip(items, range(count), strict=False)]


@handler(np.fromfunction)
def handle_fromfunction(
    run: Any, function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    kwargs.pop("like", None)
    return run.call(function, *np.indices(shape, dtype=dtype), **kwargs)


@handler(np.piecewise)
def handle_piecewise(
    run: Any, x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any
) -> Any:
    x = as_array(run, x)
    conditions = masks(x, condlist)
    if len(funclist) == len(conditions) + 1:
        conditions.append(~np.any(conditions, axis=0))
    if len(funclist) != len(conditions):
        return np.piecewise(x, condlist, funclist)  # raises the error
    y = np.zeros(x.shape, x.dtype)
    for mask, piece in zip(conditions, funclist, strict=True):
        if callable(piece):
            if not mask.any():
                continue
            value = run.call(piece, run.read_array(x, mask), *args, **kw)
            run.write(y, mask, value)
        else:
            run.write(y, mask, piece)
    return y


def masks(x: Any, condlist: Any) -> list[Any]:
    """The conditions as arrays of the shape of `x`, one per piece."""
    single = isinstance(condlist, bool | np.bool_) or (
        not isinstance(condlist[0], list | tuple | np.ndarray) and x.ndim != 0
    )
    listed = [condlist] if single else condlist
    return [np.asarray(c, bool).reshape(x.shape) for c in listed]


# numpy.r_, numpy.c_ and numpy.s_


@handler(type(np.s_).__getitem__)
def handle_index(_run: Any, maker: Any, key: Any) -> Any:
    """`numpy.s_[0:x]`, which returns the index."""
    return maker[key]


@handler(type(np.r_).__getitem__)
def handle_joined(run: Any, maker: Any, key: Any) -> Any:
    """`numpy.r_[x, 1.0, 0:3]`, `numpy.c_[x, y]`."""
    parts = key if isinstance(key, tuple) else (key,)
    if not run.is_active(parts) or any(isinstance(part, str) for part in parts):
        if run.is_active(parts):
            raise no_rule_error(type(maker).__getitem__, run.kind.kind)
        return run.below.call(type(maker).__getitem__, maker, key)
    ranges = [spaced(run, p) if isinstance(p, slice) else p for p in parts]
    arrays = [run.call(np.atleast_1d, as_array(run, part)) for part in ranges]
    return run.call(np.column_stack if maker is np.c_ else np.concatenate, arrays)


def spaced(run: Any, part: slice) -> Any:
    """The numbers of a slice: by count, or by steps."""
    start = 0 if part.start is None else part.start
    step = 1 if part.step is None else part.step
    if isinstance(step, complex):
        return run.call(np.linspace, start, part.stop, int(abs(step)))
    return run.call(np.arange, start, part.stop, step)
