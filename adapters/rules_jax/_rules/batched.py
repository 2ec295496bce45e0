"""A spec over a batch axis: the rules stay attached to a batched call.

Every part is `jax.vmap` of the single one, so nested batches nest. Cotangents of
unbatched arguments are summed over the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import jax
from jax import tree_util

from rules_jax import _compat
from rules_jax._values.leaves import by_types
from rules_jax._values.owned_caches import kept_by_owner

from .linear_map import batched_backward

__all__ = ["Batched"]


@_compat.held_weakly
@final
class Batched:
    """`inner` over a batch axis; every result has it in front.

    Args:
        inner: The spec of one element.
        axis: JAX's description of the batch axis.
        dims: Batch dimension of each leaf, None where it has none.
    """

    def __init__(self, inner: Any, axis: Any, dims: tuple[Any, ...]) -> None:
        self.inner, self.dims = inner, dims
        self.size = axis.size
        self.axis = _compat.axis_keywords(axis)
        self.name, self.has_frule, self.has_rrule = (
            inner.name,
            inner.has_frule,
            inner.has_rrule,
        )
        self.frule, self.rrule = inner.frule, inner.rrule
        self.is_host = inner.is_host
        self._outs: dict[Any, Any] = {}

    @staticmethod
    def of(inner: Any, axis: Any, dims: tuple[Any, ...]) -> Batched:
        """One object per batch, so that what was traced is found again."""
        return _batched(inner, axis, dims)

    def primal(self, *leaves: Any) -> list[Any]:
        """Results of the function itself."""
        return list(self._map(self.inner.primal, self.dims)(*leaves))

    def _map(self, f: Any, in_axes: Any) -> Any:
        return jax.vmap(f, in_axes=in_axes, **self.axis)

    def outs(self, leaves: Sequence[Any]) -> Any:
        """Types of the results."""
        return by_types(self._outs, leaves, self._infer)

    def _infer(self, leaves: Sequence[Any]) -> Any:
        single: list[Any] = []

        def trace(*row: Any) -> list[Any]:
            single.append(self.inner.outs(row))
            return list(self.inner.primal(*row))

        closed = jax.make_jaxpr(self._map(trace, self.dims))(*leaves)
        effects = frozenset(closed.effects)
        return single[0]._replace(avals=tuple(closed.out_avals), effects=effects)

    def push(
        self, wanted: Sequence[bool], leaves: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """`vmap` of the frule."""
        avals = self.outs(leaves).avals
        moved = [
            (t, d) for t, d in zip(tangents, self.dims, strict=True) if t is not None
        ]
        present: list[bool] = []

        def one(row: Any, given: Any) -> Any:
            rest = iter(given)
            full = [None if t is None else next(rest) for t in tangents]
            results, found = self.inner.push(wanted, row, full)
            present[:] = [x is not None for x in found]
            return results, [x for x in found if x is not None]

        axes = (list(self.dims), [d for _, d in moved])
        results, found = self._map(one, axes)(list(leaves), [t for t, _ in moved])
        rest = iter(found)
        return list(results), [
            next(rest) if there else None
            for there, _ in zip(present, avals, strict=True)
        ]

    def save(
        self, wanted: Sequence[bool], leaves: Sequence[Any]
    ) -> tuple[list[Any], Any]:
        """`vmap` of the rrule; residuals that are arguments keep their own batching."""
        structure: list[Any] = []
        forwarded: list[Any] = []

        def one(*row: Any) -> Any:
            results, saved = self.inner.save(wanted, row)
            arrays, treedef = tree_util.tree_flatten(saved)
            structure.append(treedef)
            places = {id(x): i for i, x in enumerate(row)}
            forwarded.extend(places.get(id(x)) for x in arrays)
            return results, [x for x in arrays if id(x) not in places]

        results, rest = self._map(one, self.dims)(*leaves)
        new = iter(rest)
        arrays = [next(new) if i is None else leaves[i] for i in forwarded]
        axes = [0 if i is None else self.dims[i] for i in forwarded]
        return list(results), _BatchedSaved(
            arrays, _BatchedLoad(self, structure[0], axes)
        )

    def load(self, saved: Any, cotangents: Sequence[Any]) -> list[Any]:
        """`vmap` of the pullback."""
        if all(ct is None for ct in cotangents):
            return [None] * len(self.dims)
        static = saved.static

        def backward(arrays: Any, cts: Any) -> list[Any]:
            return list(self.inner.load(static.structure.unflatten(arrays), cts))

        return batched_backward(
            backward,
            (list(saved.arrays), static.axes),
            cotangents,
            self.dims,
            self.axis,
        )


@kept_by_owner
def _batched(inner: Any, axis: Any, dims: tuple[Any, ...]) -> Batched:
    return Batched(inner, axis, dims)


@final
class _BatchedLoad:
    def __init__(self, spec: Batched, structure: Any, axes: list[Any]) -> None:
        self.spec, self.structure, self.axes = spec, structure, axes


@tree_util.register_pytree_node_class
@final
class _BatchedSaved:
    """Residuals of a batched call."""

    def __init__(self, arrays: Sequence[Any], static: _BatchedLoad) -> None:
        self.arrays, self.static = arrays, static

    def tree_flatten(self) -> Any:
        """Children and static part."""
        return tuple(self.arrays), self.static

    @classmethod
    def tree_unflatten(cls, static: Any, arrays: Any) -> _BatchedSaved:
        """The reverse."""
        return cls(arrays, static)
