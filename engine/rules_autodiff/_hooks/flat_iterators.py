"""`a.flat`, NumPy's iterator over all entries: each is read from and written to `a`."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rules_autodiff._python.handlers import handler

from .interface import Hooks

__all__ = ["flat_getitem", "flat_items", "flat_setitem"]


def flat_getitem(run: Hooks, items: Any, key: Any) -> Any:
    """`a.flat[key]`: a number or a copy. NumPy starts again where it iterates."""
    items[key]
    return run.read_array(items.base, place_of(items.base, key))


def flat_setitem(run: Hooks, items: Any, key: Any, value: Any) -> None:
    """`a.flat[key] = value`, repeated or cut to the number of entries."""
    place = place_of(items.base, key)
    count = np.size(place[0]) if place else 1
    if isinstance(value, list | tuple):
        value = run.call(np.asarray, value)
    if isinstance(value, np.ndarray) and value.ndim:
        value = run.call(np.resize, value, np.shape(place[0]) if count > 1 else ())
    run.write(items.base, place, value)
    items[key] = items.base[place]  # moves the iterator as NumPy does


def flat_next(run: Hooks, items: Any) -> Any:
    """`next(a.flat)`."""
    place = items.coords
    next(items)  # moves on, or stops
    return run.read_array(items.base, place)


def flat_items(run: Hooks, items: Any) -> Iterator[Any]:
    """The entries that are left."""
    while True:
        try:
            item = flat_next(run, items)
        except StopIteration:
            return
        yield item


def place_of(a: Any, key: Any) -> Any:
    """The index of an array for an index of its flat iterator."""
    return np.unravel_index(np.arange(a.size)[key], a.shape)


@handler(np.flatiter.__next__)
def handle_next(run: Any, items: Any) -> Any:
    return flat_next(run, items)


@handler(np.flatiter.__getitem__)
def handle_getitem(run: Any, items: Any, key: Any) -> Any:
    return flat_getitem(run, items, key)


@handler(np.flatiter.__setitem__)
def handle_setitem(run: Any, items: Any, key: Any, value: Any) -> None:
    flat_setitem(run, items, key, value)


@handler(np.flatiter.copy, np.flatiter.__array__)
def handle_copy(run: Any, items: Any, *_args: Any, **_kw: Any) -> Any:
    return run.copied(run.call(np.ravel, items.base))
