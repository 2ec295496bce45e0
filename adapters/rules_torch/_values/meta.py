"""Shapes, dtypes and devices of tensors, to check and complete their tangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc

__all__ = [
    "Meta",
    "common_device",
    "has_tangent_space",
    "is_ragged",
    "pattern",
    "stand_in",
    "zeros",
]

# Shape, dtype and device; a plain tuple, for it is made in every call.
Meta = tuple[Any, Any, Any]


def has_tangent_space(meta: Meta) -> bool:
    """Whether such a tensor has a tangent: floating or complex."""
    return meta[1].is_floating_point or meta[1].is_complex


def zeros(meta: Meta) -> Tensor:
    """Zeros like the tensor."""
    shape, dtype, device = meta
    return torch.zeros(shape, dtype=dtype, device=device)


def stand_in(meta: Meta) -> Tensor:
    """A tensor of this shape and dtype that occupies no memory."""
    shape, dtype, device = meta
    return torch.zeros((), dtype=dtype, device=device).expand(shape)


def pattern(metas: Sequence[Meta]) -> Any:
    """Shapes without their sizes: ones, and which of the others are equal."""
    numbers: dict[int, int] = {0: 0, 1: 1}
    return tuple(
        (tuple(numbers.setdefault(int(n), len(numbers)) for n in shape), dtype)
        for shape, dtype, _ in metas
    )


def is_ragged(metas: Sequence[Meta]) -> bool:
    """Whether a size is that of a nested tensor's rows, which is no number."""
    return any(
        isinstance(n, torch.SymInt) and n.node.is_nested_int()
        for shape, _, _ in metas
        for n in shape
    )


def common_device(label: str, tensors: Sequence[Tensor]) -> torch.device:
    """The device of the tensors of a host call; a 0-d one of the CPU goes anywhere.

    Raises:
        rc.UnsupportedError: They are on several.
    """
    first = tensors[0].device
    if all(x.device == first for x in tensors):
        return first
    found = {x.device: None for x in tensors if x.ndim or x.device.type != "cpu"}
    if len(found) > 1:
        message = (
            f"{label}: its tensors must be on one device, but got some on "
            f"{' and '.join(map(str, found))}. Move them by x.to(device)."
        )
        raise rc.UnsupportedError(message)
    return next(iter(found), first)
