"""NumPy arrays as tensors and back, without copying where that is safe.

PyTorch has no read-only tensors, while the arrays that come in may belong to JAX, which
takes them to be immutable: a function that writes into them is refused. Memory goes out
only if no other tensor, be it an argument or one that the function keeps, shares it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_torch._compat import owns_its_memory, was_written_to, with_memory

__all__ = ["check_unwritten", "exact_dtype", "give", "lend", "take"]

_BFLOAT16 = "bfloat16"  # the name of a NumPy dtype where JAX's ml_dtypes is imported


def take(value: Any) -> Tensor:
    """A NumPy array as a tensor on its memory, also where that is read-only."""
    import numpy as np

    array = np.asarray(value)
    if array.dtype.kind == "V" and array.dtype.name == _BFLOAT16:
        return take(array.view(np.int16)).view(torch.bfloat16)
    if array.dtype.char in "gG" or not array.dtype.isnative:  # no such type in torch
        wide = {"g": "f8", "G": "c16"}.get(array.dtype.char)
        array = array.astype(wide or array.dtype.newbyteorder("="))
    if any(stride < 0 or stride % array.itemsize for stride in array.strides):
        array = array.copy()
    if array.flags.writeable:
        return torch.from_numpy(array)
    return torch.from_dlpack(array)


def check_unwritten(name: str, taken: Sequence[Tensor]) -> None:
    """Refuse a function that has written into the memory that it was lent.

    Raises:
        rc.UnsupportedError: It has.
    """
    for i, x in enumerate(taken):
        if was_written_to(x):
            message = (
                f"{name} must not write into its arguments, but array {i} of the call "
                "was written to. It shares its memory with the caller's array, which "
                "is damaged now; clone it in the function first."
            )
            raise rc.UnsupportedError(message)


def lend(x: Tensor) -> Any:
    """A tensor as a NumPy array, bfloat16 too where NumPy has been taught it."""
    x = with_memory(x.detach()).cpu().resolve_conj().resolve_neg()
    if x.dtype is not torch.bfloat16:
        return x.numpy()
    if exact_dtype(x.dtype).name != _BFLOAT16:
        return x.float().numpy()
    return x.contiguous().view(torch.int16).numpy().view(_BFLOAT16)


def give(leaves: list[Tensor]) -> list[Any]:
    """Results as NumPy arrays without other references; empties the list.

    The caller must still hold the arguments, lest one that is returned be taken for a
    fresh result.
    """
    own = [_laid_out(leaves.pop(0)) for _ in range(len(leaves))]
    for i, x in enumerate(own):
        if not owns_its_memory(x):
            own[i] = x.clone()
        del x
    return [lend(x) for x in own]


def _laid_out(x: Tensor) -> Tensor:
    """Without history, and each element at a place of its own."""
    x = with_memory(x.detach())
    overlaps = any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape, strict=True))
    return x.contiguous() if overlaps else x


def exact_dtype(dtype: torch.dtype) -> Any:
    """The NumPy dtype of a dtype; float32 for bfloat16 if NumPy does not know it."""
    import numpy as np

    try:
        return np.dtype(str(dtype).removeprefix("torch."))
    except TypeError:
        return np.dtype("float32")
