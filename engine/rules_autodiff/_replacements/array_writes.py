"""NumPy functions that write to an argument, as writes that the engine records."""

from typing import Any

import numpy as np

from rules_autodiff._hooks.numpy_protocols import as_entry
from rules_autodiff._hooks.overwritten import with_overwritten
from rules_autodiff._own_rules.own_rule import conj, fit
from rules_autodiff._python.handlers import HANDLERS, handler
from rules_autodiff._python.masks import mask_of_copyto
from rules_autodiff._refusals import refused

__all__: list[str] = []


@handler(np.ndarray.fill)
def handle_fill(run: Any, a: Any, value: Any) -> None:
    run.write(a, Ellipsis, value)


@handler(np.ndarray.__setitem__)
def handle_setitem(run: Any, a: Any, key: Any, value: Any) -> None:
    run.write(a, key, value)


@handler(np.ndarray.__getitem__)
def handle_getitem(run: Any, a: Any, key: Any) -> Any:
    return run.read_array(a, key)


@handler(np.ndarray.item)
def handle_item(run: Any, a: Any, *index: Any) -> Any:
    plain = a.item(*index)  # raises the errors
    if not run.is_active(a):
        return plain
    if len(index) == 1 and not isinstance(index[0], tuple):
        index = np.unravel_index(index[0] % a.size, a.shape)
    elif len(index) == 1:
        index = index[0]
    key = index or (0,) * a.ndim
    value = run.read_array(a, key)
    kinds = {"f": float, "c": complex}
    return run.call(kinds[a.dtype.kind], value) if a.dtype.kind in kinds else value


@handler(np.ndarray.tolist)
def handle_tolist(run: Any, a: Any) -> Any:
    if not run.is_active(a):
        return a.tolist()
    if a.ndim == 0:
        return handle_item(run, a)
    if a.ndim == 1:
        return [handle_item(run, a, i) for i in range(len(a))]
    return [handle_tolist(run, run.read_array(a, i)) for i in range(len(a))]


@handler(np.ndarray.copy)
def handle_copy(run: Any, a: Any, order: str | None = "C") -> Any:
    return run.copied(a, order or "C")


@handler(np.copy)
def handle_copy_function(run: Any, a: Any, order: Any = "K", **subok: Any) -> Any:
    if isinstance(a, np.ndarray) and not subok:
        return run.copied(a, order)
    return run.copied(run.call(np.asarray, a), order)


@handler(np.ndarray.__copy__)
def handle_shallow_copy(run: Any, a: Any) -> Any:
    return run.copied(a)


@handler(np.ndarray.sort)
def handle_sort(run: Any, a: Any, axis: int = -1, **kwargs: Any) -> None:
    if not a.ndim:
        a.sort(axis=axis, **kwargs)  # raises the error
    order = np.argsort(a, axis=axis, **kwargs)
    run.write(a, Ellipsis, run.read_array(a, along(order, axis, a)))


@handler(np.ndarray.partition)
def handle_partition(run: Any, a: Any, kth: Any, axis: int = -1, **kw: Any) -> None:
    if not a.ndim:
        a.partition(kth, axis=axis, **kw)  # raises the error
    order = np.argpartition(a, kth, axis=axis, **kw)
    run.write(a, Ellipsis, run.read_array(a, along(order, axis, a)))


def along(order: Any, axis: int, a: Any) -> Any:
    """The index of entries along one axis, as in `take_along_axis`."""
    grid = list(np.indices(a.shape, sparse=True))
    grid[axis] = order
    return tuple(grid)


@handler(np.copyto)
def handle_copyto(
    run: Any, dst: Any, src: Any, casting: Any = "same_kind", where: Any = True
) -> None:
    source = src if isinstance(src, np.ndarray) else np.asarray(src)
    typed = isinstance(src, np.ndarray | np.generic)
    if typed and not np.can_cast(source.dtype, dst.dtype, casting):
        np.copyto(dst.copy(), src, casting=casting)  # raises the error
    if where is True:
        run.write(dst, Ellipsis, src)
        return
    mask = mask_of_copyto(where, dst.shape)
    src = as_array(run, as_entry(run, src))
    if isinstance(src, np.ndarray) and src.ndim:
        src = run.read_array(run.call(np.broadcast_to, src, dst.shape), mask)
    run.write(dst, mask, src)


@handler(np.put, np.ndarray.put)
def handle_put(run: Any, a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    size = {"raise": None, "wrap": a.size, "clip": a.size}[mode]
    places = np.asarray(ind).ravel()
    if mode == "wrap":
        places = places % size
    elif mode == "clip":
        places = np.clip(places, 0, a.size - 1)
    places = np.where(places < 0, places + a.size, places)
    run.write(a, np.unravel_index(places, a.shape), repeated(run, v, len(places)))


def repeated(run: Any, values: Any, count: int) -> Any:
    """`values`, repeated or cut to a length."""
    if not isinstance(values, np.ndarray | list | tuple) or np.ndim(values) == 0:
        return values
    if not isinstance(values, np.ndarray):
        values = run.call(np.asarray, values)
    order = np.arange(count) % values.size
    return run.read_array(values, np.unravel_index(order, values.shape))


@handler(np.put_along_axis)
def handle_put_along_axis(
    run: Any, arr: Any, indices: Any, values: Any, axis: int | None = -1
) -> None:
    if axis is None:
        places = np.where(indices < 0, indices + arr.size, indices)
        run.write(arr, np.unravel_index(places, arr.shape), values)
    else:
        run.write(arr, along(indices, axis, arr), values)


@handler(np.putmask)
def handle_putmask(run: Any, a: Any, mask: Any, values: Any) -> None:
    mask = np.asarray(mask, bool)
    places = np.flatnonzero(mask)
    filled = repeated(run, values, a.size)
    if isinstance(filled, np.ndarray) and filled.ndim:
        filled = run.read_array(filled, places)
    run.write(a, mask.reshape(a.shape), filled)


@handler(np.place)
def handle_place(run: Any, arr: Any, mask: Any, vals: Any) -> None:
    mask = np.asarray(mask, bool).reshape(arr.shape)
    run.write(arr, mask, repeated(run, vals, int(mask.sum())))


@handler(np.fill_diagonal)
def handle_fill_diagonal(run: Any, a: Any, val: Any, wrap: bool = False) -> None:
    flags = np.zeros(a.shape, bool)
    np.fill_diagonal(flags, val=True, wrap=wrap)
    run.write(a, flags, repeated(run, val, int(flags.sum())))


def to_arrays_only(f: Any, follow: Any) -> Any:
    """For a first argument that is not an array, `f` itself raises the error."""

    def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
        if args and not isinstance(args[0], np.ndarray):
            return run.below.call(f, *args, **kwargs)
        return follow(run, *args, **kwargs)

    return handle


for _writing in (np.copyto, np.putmask, np.place, np.put_along_axis, np.fill_diagonal):
    HANDLERS[_writing] = to_arrays_only(_writing, HANDLERS[_writing])


# ufunc.at


@handler(np.add.at)
def handle_add_at(run: Any, a: Any, indices: Any, b: Any) -> None:
    run.add_at(a, indices, as_array(run, b))


def as_array(run: Any, x: Any) -> Any:
    """A list or flat iterator as an active array; anything else unchanged."""
    listed = isinstance(x, list | tuple | np.flatiter)
    return run.call(np.asarray, as_entry(run, x)) if listed else x


@handler(np.subtract.at)
def handle_subtract_at(run: Any, a: Any, indices: Any, b: Any) -> None:
    run.add_at(a, indices, run.neg(as_array(run, b)))


def applying_at(ufunc: Any) -> Any:
    """`ufunc.at(a, indices, b)`, entry by entry, in NumPy's order."""

    def handle(run: Any, a: Any, indices: Any, *b: Any) -> None:
        if not run.is_active((a, b)):
            run.write(a, Ellipsis, changed_at(ufunc, a, indices, b))
            return
        places = np.arange(a.size).reshape(a.shape)[indices]
        operands = [spread_to(run, value, places.shape) for value in b]
        for at in np.ndindex(places.shape):
            key = np.unravel_index(places[at], a.shape)
            values = [run.read_array(value, at) for value in operands]
            run.write(a, key, run.call(ufunc, run.read_array(a, key), *values))

    return handle


def changed_at(ufunc: Any, a: Any, indices: Any, b: Any) -> Any:
    result = a.copy()
    ufunc.at(result, indices, *b)
    return result


def spread_to(run: Any, value: Any, shape: tuple[int, ...]) -> Any:
    value = value if isinstance(value, np.ndarray) else run.call(np.asarray, value)
    return run.call(np.broadcast_to, value, shape)


for _ufunc in vars(np).values():
    if isinstance(_ufunc, np.ufunc) and _ufunc.nout == 1 and _ufunc.nin < 3:
        HANDLERS.setdefault(_ufunc.at, applying_at(_ufunc))


# random generators: the order is a constant, the generator is never restored


def shuffle(run: Any, draw: Any, x: Any, axis: int = 0) -> None:
    if not isinstance(x, np.ndarray):
        run.changing(x)
        draw(x)
        return
    order = np.arange(x.shape[axis])
    draw(order)
    key = (slice(None),) * (axis % x.ndim) + (order,)
    run.write(x, Ellipsis, run.read_array(x, key))


@handler(np.random.Generator.shuffle)
def handle_generator_shuffle(run: Any, rng: Any, x: Any, axis: int = 0) -> None:
    shuffle(run, rng.shuffle, x, axis)


@handler(np.random.RandomState.shuffle)
def handle_state_shuffle(run: Any, rng: Any, x: Any) -> None:
    shuffle(run, rng.shuffle, x)


@handler(np.ndarray.resize)
def handle_resize(run: Any, a: Any, *args: Any, **kwargs: Any) -> None:
    if run.is_active(a):
        refused("resized")
    a.resize(*args, **kwargs)


# functions that may write to their arguments


def overwriting(f: Any, place: int) -> Any:
    """`np.median(a, overwrite_input=True)` may change `a`, which must not be read."""

    def handle(run: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
        given, kwargs = dict(kwargs), {**kwargs, "overwrite_input": False}
        if len(args) > place:
            given["overwrite_input"] = args[place]
            args = (*args[:place], False, *args[place + 1 :])
            del kwargs["overwrite_input"]
        y = run.call_opaque(f, (a, *args), kwargs)
        return with_overwritten(run, f, (a, *args[:place]), given, y)

    return handle


for _median in (np.median, np.nanmedian):
    HANDLERS[_median] = overwriting(_median, 2)
for _quantile in (np.percentile, np.quantile, np.nanpercentile, np.nanquantile):
    HANDLERS[_quantile] = overwriting(_quantile, 3)


@handler(np.nan_to_num)
def handle_nan_to_num(
    run: Any, x: Any, copy: bool = True, *args: Any, **kw: Any
) -> Any:
    if not (copy or isinstance(x, np.ndarray)):
        np.array(x, copy=copy)  # raises an error unless `copy` is None
    y = run.call_opaque(np.nan_to_num, (x, True, *args), kw)
    if copy or not isinstance(x, np.ndarray):
        return y
    run.write(x, Ellipsis, y)
    return x if x.ndim else run.read_array(x, ())


_ = conj, fit, HANDLERS
