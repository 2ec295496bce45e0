"""JAX's gather and scatter on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["gather", "scatter"]


def gather(p: Any, operand: Any, indices: Any) -> Any:
    """The windows of an array that start at the indices."""
    numbers = p["dimension_numbers"]
    places, inside, shape = _places(
        np.shape(operand), indices, p["slice_sizes"], numbers.start_index_map,
        numbers.collapsed_slice_dims, numbers.operand_batching_dims,
        numbers.start_indices_batching_dims, clip="CLIP" in str(p["mode"]),
    )  # fmt: skip
    found = operand[places]
    if not inside.all():
        found = np.where(inside, found, _filling(p["fill_value"], operand.dtype))
    return _windows_at(found.reshape(shape), len(indices.shape) - 1, numbers)


def _filling(value: Any, dtype: Any) -> Any:
    if value is not None:
        return value
    if dtype.kind in "fc":
        return np.nan
    return np.iinfo(dtype).max if dtype.kind == "u" else np.iinfo(dtype).min


def _windows_at(found: Any, batch: int, numbers: Any) -> Any:
    """The axes of windows where the result has them."""
    offsets = list(numbers.offset_dims)
    return np.moveaxis(found, range(batch, batch + len(offsets)), offsets)


def scatter(combine: Any) -> Callable[..., Any]:
    """Windows of an array combined with updates; None writes over them."""

    def scattered(p: Any, operand: Any, indices: Any, updates: Any) -> Any:
        numbers = p["dimension_numbers"]
        windows = list(numbers.update_window_dims)
        without = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
        kept = [d for d in range(operand.ndim) if d not in without]
        sizes = np.ones(operand.ndim, int)
        sizes[kept] = [updates.shape[i] for i in windows]
        places, inside, shape = _places(
            np.shape(operand), indices, sizes, numbers.scatter_dims_to_operand_dims,
            numbers.inserted_window_dims, numbers.operand_batching_dims,
            numbers.scatter_indices_batching_dims, clip="CLIP" in str(p["mode"]),
        )  # fmt: skip
        batch = indices.ndim - 1
        given = np.moveaxis(updates, windows, range(batch, batch + len(windows)))
        inside = np.broadcast_to(inside, shape)
        at = tuple(np.broadcast_to(place, shape)[inside] for place in places)
        result, given = np.array(operand), np.broadcast_to(given, shape)[inside]
        if combine is None:
            result[at] = given
        else:
            combine.at(result, at, given)
        return result

    return scattered


def _places(
    shape: Any, indices: Any, sizes: Any, starts: Any, collapsed: Any, batching: Any,
    batched: Any, *, clip: bool,
) -> tuple[tuple[Any, ...], Any, Any]:  # fmt: skip
    """Index arrays for each axis, which entries lie inside, and their shape."""
    lead = indices.shape[:-1]
    kept = [d for d in range(len(shape)) if d not in (*collapsed, *batching)]
    full = (*lead, *(int(sizes[d]) for d in kept))
    inside: Any = np.ones((1,) * len(full), bool)
    places = []
    for d, length in enumerate(shape):
        start: Any = np.zeros((1,) * len(lead), int)
        if d in starts:
            start = indices[..., list(starts).index(d)].astype(int)
        if d in batching:
            axis = list(batched)[list(batching).index(d)]
            line = [1] * len(lead)
            line[axis] = -1
            start = np.arange(lead[axis]).reshape(line)
        last = length - int(sizes[d])
        if clip:
            start = np.clip(start, 0, last)
        good = (start >= 0) & (start <= last)
        good = good.reshape((*start.shape, *[1] * len(kept)))
        inside = inside & good
        place = np.clip(start, 0, max(last, 0)).reshape(good.shape)
        if d in kept:
            line = [1] * len(full)
            line[len(lead) + kept.index(d)] = -1
            place = place + np.arange(int(sizes[d])).reshape(line)
        places.append(place)
    return tuple(np.broadcast_arrays(*places)) if places else (), inside, full
