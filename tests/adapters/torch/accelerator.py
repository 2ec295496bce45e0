"""A pretended accelerator, for machines that have none.

Its tensors have a device of their own, which computes in the memory of the CPU but
refuses what a real one refuses: tensors of the CPU beside its own, and NumPy. It
changes PyTorch for the whole process, so it is switched on in processes of its own.
"""

from __future__ import annotations

from typing import Any, Self

import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils.backend_registration import (
    _DummyBackendModule,
    _setup_privateuseone_for_python_backend,
)

__all__ = ["NAME", "switch_on"]

NAME = "pretended"
_MOVES = {torch.ops.aten.copy_.default, torch.ops.aten._to_copy.default}


class Pretended(Tensor):
    """A tensor of the device; `data_on_cpu` is what it holds."""

    data_on_cpu: Tensor

    @staticmethod
    def __new__(cls, data: Tensor) -> Self:
        made: Self = Tensor._make_wrapper_subclass(
            cls,
            data.shape,
            strides=data.stride(),
            storage_offset=data.storage_offset(),
            dtype=data.dtype,
            device=torch.device(NAME, 0),
        )
        made.data_on_cpu = data
        return made

    def numpy(self, *, force: bool = False) -> Any:
        """As other devices do: only by way of the CPU."""
        if not force:
            message = f"can't convert {NAME}:0 device type tensor to numpy."
            raise TypeError(message)
        return self.detach().cpu().resolve_conj().resolve_neg().numpy()

    def __repr__(self, **_options: Any) -> str:
        return f"Pretended({self.data_on_cpu})"

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        own: list[Pretended] = []
        if func not in _MOVES:
            _refuse_mixture(func, args, kwargs)
        inner_args, inner = pytree.tree_map(
            lambda x: _inside(x, own), (list(args), kwargs)
        )
        leaves = "device" in kwargs and torch.device(kwargs["device"]).type == "cpu"
        if "device" in kwargs:
            inner["device"] = "cpu"
        found = func(*inner_args, **inner)
        if leaves:
            return found
        found = pytree.tree_map(lambda y: _outside(y, own), found)
        return return_and_correct_aliasing(func, args, kwargs, found)


def _inside(x: Any, own: list[Pretended]) -> Any:
    if isinstance(x, Pretended):
        own.append(x)
        return x.data_on_cpu
    return torch.device("cpu") if isinstance(x, torch.device) else x


def _outside(y: Any, own: list[Pretended]) -> Any:
    if not isinstance(y, Tensor):
        return y
    for x in own:  # what was written to is handed back itself
        if x.data_on_cpu is y:
            return x
    return Pretended(y)


def _refuse_mixture(func: Any, args: Any, kwargs: Any) -> None:
    """Like other devices: only 0-d tensors of the CPU may stand beside its own."""
    for x in pytree.tree_leaves((args, kwargs)):
        if isinstance(x, Tensor) and x.device.type == "cpu" and x.ndim:
            message = (
                "Expected all tensors to be on the same device, but found at least two "
                f"devices, {NAME}:0 and {x.device}! (in {func})"
            )
            raise RuntimeError(message)


def _empty(size: Any, *, dtype: Any = None, **_options: Any) -> Tensor:
    return Pretended(torch.empty(size, dtype=dtype))


def _empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, **_options: Any
) -> Tensor:
    return Pretended(torch.empty_strided(size, stride, dtype=dtype))


def _zeros(size: Any, *, dtype: Any = None, **_options: Any) -> Tensor:
    return Pretended(torch.zeros(size, dtype=dtype))


class _Module(_DummyBackendModule):
    """What PyTorch asks the device about."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """The dtypes of its autocast."""
        return [torch.float16, torch.bfloat16]


_LIBRARY = torch.library.Library("aten", "IMPL")


def switch_on() -> None:
    """Tell PyTorch about the device."""
    _setup_privateuseone_for_python_backend(NAME, _Module())
    _LIBRARY.impl("empty.memory_format", _empty, "PrivateUse1")
    _LIBRARY.impl("empty_strided", _empty_strided, "PrivateUse1")
    _LIBRARY.impl("_efficientzerotensor", _zeros, "PrivateUse1")
