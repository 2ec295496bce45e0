"""Tensors of torch's older vmap, by which backward passes take many cotangents at once.

`torch.autograd.grad(is_grads_batched=True)`, `torch.autograd.functional.jacobian(
vectorize=True)` and `gradcheck` use it. It stands above autograd: what a Function
records of such a tensor is lost when the batch is taken apart. So a call is handed on
to `torch.func.vmap`, which stands below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import unflatten
from rules_torch._compat import (
    add_older_batch_dim,
    is_legacy_batched,
    take_older_batch_dim,
)

from .leaves import flatten

__all__ = ["run_whole_batch"]


def run_whole_batch(
    label: str, fn: Callable[..., Any], tensors: Sequence[Tensor]
) -> Any:
    """`fn(*tensors)`, where the older vmap has batched some of the tensors.

    Raises:
        rc.UnsupportedError: A tensor is batched twice.
    """
    pairs = [take_older_batch_dim(x) for x in tensors]
    if any(is_legacy_batched(x) for x, _ in pairs):
        message = (
            f"{label}: it is batched twice by torch's older vmap (is_grads_batched, "
            "vectorize=True), which loses derivatives. Use torch.func.jacrev instead."
        )
        raise rc.UnsupportedError(message)
    layout: Any = None

    def run(*xs: Tensor) -> tuple[Tensor, ...]:
        nonlocal layout
        leaves: list[Tensor] = []
        layout = flatten(fn(*xs), leaves)
        return tuple(leaves)

    dims = tuple(dim for _, dim in pairs)
    found = torch.func.vmap(run, dims)(*[x for x, _ in pairs])
    return unflatten(layout, [add_older_batch_dim(y) for y in found])
