"""Tensors as NumPy arrays and back, without copying where memory allows.

A copy is made for what the other side cannot hold: CUDA tensors, bfloat16, conjugate
views, negative strides, read-only results, and results that share memory with an
argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ._compat import with_memory

__all__ = ["from_numpy", "numpy_dtype", "to_numpy", "torch_dtype"]


def to_numpy(x: Tensor) -> Any:
    """The data of a tensor as a NumPy array."""
    if x.dtype is torch.bfloat16:
        x = x.float()
    return with_memory(x).numpy(force=True)


def from_numpy(value: Any, arrays: Sequence[Any], device: Any) -> Tensor:
    """A NumPy result as a tensor; copied where it may share memory with `arrays`."""
    import numpy as np

    array = np.asarray(value)
    if array.ndim and _must_copy(array, arrays, np):
        array = array.copy()
    if array.dtype.char in "gG" or not array.dtype.isnative:  # no such type in torch
        array = array.astype(
            array.dtype.newbyteorder("=")
            if array.dtype.char not in "gG"
            else {"g": "f8", "G": "c16"}[array.dtype.char]
        )
    if not array.flags.writeable:
        array = array.copy()
    out = torch.from_numpy(array)
    return out if device is None or device.type == "cpu" else out.to(device)


def _must_copy(array: Any, arrays: Sequence[Any], np: Any) -> bool:
    return (
        not array.flags.writeable
        or any(stride < 0 for stride in array.strides)
        or any(np.may_share_memory(array, other) for other in arrays)
    )


def numpy_dtype(dtype: torch.dtype) -> Any:
    """The NumPy dtype in which a host function sees tensors of a dtype."""
    import numpy as np

    name = "float32" if dtype is torch.bfloat16 else str(dtype).removeprefix("torch.")
    return np.dtype(name)


def torch_dtype(dtype: Any) -> torch.dtype:
    """The torch dtype of a NumPy dtype."""
    import numpy as np

    return getattr(torch, np.dtype(dtype).name)
