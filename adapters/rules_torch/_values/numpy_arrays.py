"""Tensors as NumPy arrays and back, without copying where memory allows.

A copy is made for what the other side cannot hold: CUDA tensors, bfloat16, conjugate
views, negative strides, read-only results, and results that the function, its caller
or another result may know as well.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import torch
from torch import Tensor

from rules_torch._compat import is_of_parameter, with_memory

__all__ = ["ALONE", "from_numpy", "numpy_dtype", "to_numpy", "torch_dtype"]


def to_numpy(x: Tensor) -> Any:
    """The data of a tensor as a NumPy array.

    `x.numpy()` makes it impossible to resize the memory of a tensor, which FSDP does
    with parameters and their views; the DLPack protocol does not.
    """
    if x.dtype is torch.bfloat16:
        return x.detach().float().numpy(force=True)
    if is_of_parameter(x) and x.device.type == "cpu":
        import numpy as np

        return np.from_dlpack(x.detach().resolve_conj().resolve_neg())
    return with_memory(x).numpy(force=True)


def from_numpy(values: list[Any], device: Any) -> list[Tensor]:
    """NumPy values as tensors; empties the list.

    A copy is made of an array that may have other references: an argument, a buffer
    that the function keeps, or one that is in the list twice. So the caller must hold
    no value but in the list.
    """
    values.reverse()
    return [_from_numpy(values, device) for _ in range(len(values))]


def _from_numpy(values: list[Any], device: Any) -> Tensor:
    import numpy as np

    array = values.pop()
    if type(array) is not np.ndarray:
        array = np.asarray(array)
    if getrefcount(array) > ALONE or not _is_fresh(array):
        array = array.copy()
    if array.dtype.char in "gG" or not array.dtype.isnative:  # no such type in torch
        array = array.astype(
            array.dtype.newbyteorder("=")
            if array.dtype.char not in "gG"
            else {"g": "f8", "G": "c16"}[array.dtype.char]
        )
    out = torch.from_numpy(array)
    return out if device is None or device.type == "cpu" else out.to(device)


def _is_fresh(array: Any) -> bool:
    """Whether torch can have the memory of an array that has no other reference."""
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        return False
    base = array.base
    while base is not None:
        # One more reference is that of the view.
        if not hasattr(base, "base") or getrefcount(base) > ALONE + 1:
            return False  # a buffer of another library, such as a memoryview
        array, base = base, base.base
    return bool(array.flags.owndata)


def _count_alone() -> int:
    array = object()
    return getrefcount(array)


# The references that Python counts to a value that one local variable holds.
ALONE = _count_alone()


def numpy_dtype(dtype: torch.dtype) -> Any:
    """The NumPy dtype in which a host function sees tensors of a dtype."""
    import numpy as np

    name = "float32" if dtype is torch.bfloat16 else str(dtype).removeprefix("torch.")
    return np.dtype(name)


def torch_dtype(dtype: Any) -> torch.dtype:
    """The torch dtype of a NumPy dtype, or of itself."""
    import numpy as np

    if isinstance(dtype, torch.dtype):
        return dtype
    return getattr(torch, np.dtype(dtype).name)
