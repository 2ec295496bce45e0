"""Sets, blocks and random choices: results that contain entries of their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.arguments import array_of, moves, restore, tangent_array
from rules_numpy._declare.axes import scatter_add
from rules_numpy._declare.derivative import DECLARED, derivative
from rules_numpy.arrays.joining import joined, vstack_parts

from .statistics import unique_derivative

__all__: list[str] = []


def _weights(y: Any, arrays: Any) -> Any:
    """For each argument W with y = Σ W a: the entries equal to a result share it."""
    hits = [np.where(y[:, None] == np.ravel(a), 1.0, 0.0) for a in arrays]
    count = np.maximum(sum(np.sum(h, axis=1, keepdims=True) for h in hits), 1.0)
    return [hit / count for hit in hits]


def _set_maps(y: Any, arrays: Any) -> Any:
    def pair(weights: Any, a: Any) -> Any:
        def set_pushforward(da: Any) -> Any:
            return np.matmul(weights, np.ravel(da))

        def set_pullback(dy: Any) -> Any:
            return np.reshape(np.matmul(dy, weights), a.shape)

        return set_pushforward, set_pullback

    return tuple(map(pair, _weights(y, arrays), arrays))


@derivative([np.union1d, np.setxor1d], argnums=(0, 1))
def union_derivative(y: Any, a: Any, b: Any, *_options: Any) -> Any:
    """The tangent of an entry is the mean of those of equal entries, on either side."""
    return _set_maps(y, (a, b))


@derivative(np.intersect1d, argnums=(0, 1))
def intersect1d_derivative(
    y: Any, a: Any, b: Any, assume_unique: Any = False, return_indices: Any = False
) -> Any:
    """As `union1d`."""
    if not return_indices:
        return _set_maps(y, (a, b))
    maps = _set_maps(y[0], (a, b))
    return tuple(_first_of_three(pair) for pair in maps)


def _first_of_three(pair: Any) -> Any:
    def first_pushforward(dx: Any) -> Any:
        return pair[0](dx), rc.NoTangent(), rc.NoTangent()

    def first_pullback(dy: Any) -> Any:
        return pair[1](dy[0])

    return first_pushforward, first_pullback


@derivative(np.setdiff1d, argnums=(0, 1))
def setdiff1d_derivative(y: Any, a: Any, b: Any, assume_unique: Any = False) -> Any:
    """The result contains only entries of the first argument."""
    return _set_maps(y, (a,))[0], None


@derivative([np.unique_all, np.unique_counts, np.unique_inverse])
def unique_with_counts_derivative(y: Any, x: Any) -> Any:
    """As `unique`; all other results are integers."""
    return unique_derivative(y, x)


if hasattr(np, "row_stack"):
    joined(np.row_stack)(vstack_parts)  # noqa: NPY201  old programs call it


def _leaves(arrays: Any) -> Any:
    if isinstance(arrays, list):
        return [leaf for x in arrays for leaf in _leaves(x)]
    return [arrays]


def _like(arrays: Any, leaves: Any) -> Any:
    """The nested list of this form with other leaves, taken from an iterator."""
    if isinstance(arrays, list):
        return [_like(x, leaves) for x in arrays]
    return next(leaves)


@derivative(np.block, arrays=False)
def block_derivative(y: Any, arrays: Any) -> Any:
    """The cotangent of every block is its part."""
    plain = [array_of(x, np.block) for x in _leaves(arrays)]

    def block_pushforward(tangents: Any) -> Any:
        flat = _tangents(arrays, tangents)
        moved = [
            np.zeros(x.shape) if isinstance(dx, rc.AbstractZero) else dx
            for x, dx in zip(plain, flat, strict=True)
        ]
        return np.block(_like(arrays, iter(moved)))

    def block_pullback(dy: Any) -> Any:
        ends = np.cumsum([0, *(x.size for x in plain)])
        numbers = [
            np.reshape(np.arange(start, start + x.size), x.shape)
            for start, x in zip(ends, plain, strict=False)
        ]
        places = np.block(_like(arrays, iter(numbers)))
        flat = scatter_add(dy, places, (int(ends[-1]),))
        cotangents = [
            np.reshape(flat[start : start + x.size], x.shape)
            for start, x in zip(ends, plain, strict=False)
        ]
        return _nested(arrays, iter(zip(plain, cotangents, strict=True)))

    return block_pushforward, block_pullback


def _tangents(arrays: Any, tangents: Any) -> Any:
    if not isinstance(arrays, list):
        return [tangents]
    if isinstance(tangents, rc.AbstractZero):
        return [tangents] * len(_leaves(arrays))
    pairs = zip(arrays, tangents, strict=True)
    return [leaf for x, dx in pairs for leaf in _tangents(x, dx)]


def _nested(arrays: Any, found: Any) -> Any:
    if isinstance(arrays, list):
        return rc.Tangent(list, *(_nested(x, found) for x in arrays))
    plain, dx = next(found)
    return restore(arrays, rc.ProjectTo(plain)(dx)) if moves(arrays) else rc.NoTangent()


class _Draw:
    """Entries drawn at random: indices are drawn, then taken."""

    def __init__(self, f: Any) -> None:
        self.f = f

    def draw(self, generator: Any, a: Any, args: Any, kw: Any) -> Any:
        """The result and the origin of each entry."""
        x = array_of(a, self.f)
        if x.ndim == 0:
            return self.f(generator, a, *args, **kw), x, None, 0
        axis = kw.get("axis", 0)
        rest = {**kw, "axis": 0} if "axis" in kw else kw
        index = self.f(generator, x.shape[axis], *args, **rest)
        return np.take(x, index, axis=axis), x, index, axis


def _random_selection(f: Any) -> None:
    drawn = _Draw(f)

    def random_selection_rrule(generator: Any, a: Any, *args: Any, **kw: Any) -> Any:
        y, x, index, axis = drawn.draw(generator, a, args, kw)

        def random_selection_pullback(dy: Any) -> Any:
            da: Any = rc.NoTangent()
            if moves(a) and index is not None:
                moved = np.moveaxis(x, axis, 0)
                places = np.reshape(np.arange(x.size), moved.shape)[index]
                lead = np.ndim(index)
                seed = np.moveaxis(dy, range(axis, axis + lead), range(lead))
                da = np.moveaxis(scatter_add(seed, places, moved.shape), 0, axis)
                da = restore(a, da)
            return (rc.NoTangent(), da, *[rc.NoTangent()] * len(args))

        return y, random_selection_pullback

    def random_selection_frule(
        tangents: Any, generator: Any, a: Any, *args: Any, **kw: Any
    ) -> Any:
        y, _, index, axis = drawn.draw(generator, a, args, kw)
        da = tangents[1]
        if isinstance(da, rc.AbstractZero) or index is None:
            return y, rc.NoTangent() if not moves(y) else rc.ZeroTangent()
        return y, np.take(tangent_array(a, da), index, axis=axis)

    rc.rrule.define(f)(random_selection_rrule)
    rc.frule.define(f)(random_selection_frule)
    DECLARED[f] = random_selection_rrule, (1,)


for _class in (np.random.Generator, np.random.RandomState):
    _random_selection(_class.permutation)
    _random_selection(_class.choice)
