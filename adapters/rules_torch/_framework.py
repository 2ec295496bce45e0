"""Facts about tensors that the core needs, registered before all else."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import torch
from torch import Tensor

from rules_core import array_namespace
from rules_core.extend import Framework, register_framework

from ._compat import (
    functorch_active,
    is_legacy_batched,
    is_wrapped,
    outside_of_transforms,
)

__all__ = ["FRAMEWORK"]


def _type_name(cls: type) -> str:
    """Fake tensors and similar are tensors to a user."""
    return "Tensor" if cls.__module__.startswith("torch._") else cls.__name__


def _is_plain(x: Any) -> bool:
    """Whether the values of a tensor are neither recorded nor wrapped."""
    recorded = x.requires_grad or x.is_meta
    wrapped = is_wrapped(x) or is_legacy_batched(x)
    return type(x) is Tensor and not recorded and not wrapped


def _writable_strides(x: Any) -> Any:
    is_writable = (
        type(x) is Tensor
        and _is_plain(x)
        and x.layout is torch.strided
        and not x.is_inference()
        and (x.is_floating_point() or x.is_complex())
    )
    return x.stride() if is_writable else None


def _adds_in_place(x: Any, y: Any) -> bool:
    if type(x) is not Tensor:
        return False
    return _is_plain(y) and (x is y or not _share_storage(x, y))


def _share_storage(x: Any, y: Any) -> bool:
    return bool(x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr())


def _state(x: Any) -> Any:
    """The bits of a few numbers in memory, torch's count of writes elsewhere."""
    if type(x) in _PLAIN and x.device.type == "cpu" and x.numel() <= _FEW:
        try:
            if functorch_active():  # which would wrap what is computed of it
                with outside_of_transforms():
                    return _bits(x)
            return _bits(x)
        except (RuntimeError, TypeError, AttributeError):  # wrapped, or without data
            pass
    return id(x), 0 if x.is_inference() else x._version  # noqa: SLF001


def _bits(x: Any) -> Any:
    flat = x.detach().resolve_conj().resolve_neg().reshape(-1)
    return x.dtype, x.shape, crc32(flat.view(torch.uint8).numpy())


_PLAIN, _FEW = (Tensor, torch.nn.Parameter), 2**20


FRAMEWORK = Framework(
    Tensor,
    type_name=_type_name,
    is_concrete=_is_plain,
    writable_strides=_writable_strides,
    adds_in_place=_adds_in_place,
    on_device=True,
    state=_state,
)
register_framework(FRAMEWORK)

# Dynamo follows this where it meets it first, and warns of a cache on the way.
array_namespace(torch.empty(0))
