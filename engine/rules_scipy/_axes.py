"""Functions of the array API whose torch names fail in one of torch's vmaps.

`torch.func.vmap` has no batching rule for `moveaxis` of one axis, and the older vmap,
which `is_grads_batched` and `vectorize=True` use, has none for `concat`. Both have one
for another name of the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rules_core as rc

__all__ = ["concat", "moveaxis"]


def moveaxis(
    x: Any, source: int | Sequence[int], destination: int | Sequence[int]
) -> Any:
    """`xp.moveaxis`."""
    return rc.array_namespace(x).moveaxis(x, _axes(source), _axes(destination))


def _axes(axes: int | Sequence[int]) -> tuple[int, ...]:
    return tuple(axes) if isinstance(axes, Sequence) else (axes,)


def concat(parts: Sequence[Any], axis: int = 0) -> Any:
    """`xp.concat`."""
    xp = rc.array_namespace(*parts)
    parts = list(parts)
    if hasattr(xp, "cat"):  # torch's name
        return xp.cat(parts, axis)
    return xp.concat(parts, axis=axis)
