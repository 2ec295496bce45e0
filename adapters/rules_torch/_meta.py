"""What is kept of a tensor in order to check and complete its tangents."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["Meta", "has_tangent_space", "stand_in", "zeros"]

# Shape, dtype and device; a plain tuple, for it is made in every call.
Meta = tuple[Any, Any, Any]


def has_tangent_space(meta: Meta) -> bool:
    """Whether such a tensor has a tangent: floating or complex."""
    return meta[1].is_floating_point or meta[1].is_complex  # type: ignore[no-any-return]


def zeros(meta: Meta) -> Tensor:
    """Zeros like the tensor."""
    shape, dtype, device = meta
    return torch.zeros(shape, dtype=dtype, device=device)


def stand_in(meta: Meta) -> Tensor:
    """A tensor of this shape and dtype that occupies no memory."""
    shape, dtype, device = meta
    return torch.zeros((), dtype=dtype, device=device).expand(shape)
