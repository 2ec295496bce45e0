"""The product in which zero is strong, `0 · ∞ = 0`, with few operations.

The mask takes six passes over the memory. Where the plain product is finite no zero met
an infinity, so the mask would change nothing, at any order; a sum tells it in one pass.
"""

from __future__ import annotations

from cmath import isfinite
from typing import Any

import torch
from torch import Tensor

from rules_torch._compat import older_vmap_active, tracing_or_transforming

__all__ = ["strong_product"]

_PLAIN = (Tensor, torch.nn.Parameter)
_is_compiling = torch.compiler.is_compiling


def strong_product(p: Tensor, dx: Tensor) -> Tensor:
    """`p · dx`, zero where `dx` is and `p` is infinite or NaN."""
    if _has_data(p) and _has_data(dx):
        product = p * dx
        if isfinite(product.detach().sum().item()):
            return product
    dead = ~torch.isfinite(p) & (dx == 0)
    return torch.where(dead, torch.zeros_like(p), p) * dx


def _has_data(x: Any) -> bool:
    """Whether asking for a value of `x` costs nothing, and is not written down."""
    return not (
        type(x) not in _PLAIN
        or not x.is_cpu
        or _is_compiling()
        or tracing_or_transforming()
        or older_vmap_active()
    )
