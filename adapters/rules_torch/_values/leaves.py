"""Tensors in values: what a leaf of a layout is here, and what is opened for some."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any, final

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import Opener, flatten as _flatten
from rules_torch._closures.parts import reaches_tensor
from rules_torch._compat import is_symbol
from rules_torch._errors import HiddenTensorsError

from .defaults import capturing_defaults, defaults_of

__all__ = [
    "SymbolError", "TensorOpener", "as_array", "differentiable", "flatten",
    "in_own_memory",
]  # fmt: skip


class SymbolError(Exception):
    """An argument is what `torch.fx.symbolic_trace` calls functions with."""

    def __init__(self, symbol: Any) -> None:
        self.symbol = symbol


def differentiable(x: Any) -> bool:
    """Whether a tensor has a tangent: floating or complex."""
    return x.is_floating_point() or x.is_complex()


def as_array(value: Any) -> Any:
    """A value that is an array of any library; None for others."""
    return value if hasattr(value, "__array__") else None


def flatten(
    value: Any, tensors: list[Tensor], shared: list[Tensor] | None = None
) -> Any:
    """The layout of `value`; its tensors are appended to `tensors`.

    Those that share the memory of NumPy arrays are appended to `shared` as well.

    NumPy arrays are leaves as well: they become tensors, without copying where torch
    can share their memory. Objects and functions are opened as `rc.structure` does.

    Raises:
        HiddenTensorsError: Tensors are hidden where they cannot be taken out.
    """
    opener = _OPENER if shared is None else _Noting(shared)
    return _flatten(value, tensors, opener)


def in_own_memory(
    tensors: Sequence[Tensor], shared: Sequence[Tensor]
) -> Sequence[Tensor]:
    """Tensors of a call, with copies of those that share memory with NumPy arrays.

    A program may write into these before the pullback, which PyTorch does not count.
    """
    if not shared or torch.compiler.is_dynamo_compiling():
        return tensors
    lent = {*map(id, shared)}
    return [x.clone() if id(x) in lent else x for x in tensors]


class TensorOpener(Opener):
    """Tensors, and NumPy's arrays as tensors."""

    static = (
        *Opener.static,
        torch.dtype, torch.device, torch.Size,
        torch.SymBool, torch.SymFloat, torch.SymInt,
    )  # fmt: skip

    def convert(self, value: Any) -> Tensor | None:
        """The tensor of a NumPy array."""
        if type(value).__module__ == "numpy" and hasattr(value, "__array__"):
            return _from_numpy(value)
        return None

    def open(self, value: Any) -> rc.Structure | None:
        """Instances, functions and whatever else the core can take apart."""
        if is_symbol(type(value)):
            raise SymbolError(value)
        if not reaches_tensor(value):
            return None
        if isinstance(value, FunctionType) and reaches_tensor(defaults_of(value)):
            value = capturing_defaults(value)
        level = rc.structure(value)
        if level is None:
            raise HiddenTensorsError(type(value).__qualname__)
        return level

    def inside(self, value: Any) -> Opener:
        """Arrays that a function captures are copied."""
        return _COPIER if callable(value) else self


@final
class _Copier(TensorOpener):
    """Inside functions: a pullback may call them when their arrays were written to."""

    def convert(self, value: Any) -> Tensor | None:
        """The tensor of a copy of a NumPy array."""
        x = super().convert(value)
        return x if x is None or torch.compiler.is_dynamo_compiling() else x.clone()

    def inside(self, value: Any) -> Opener:
        """All arrays further inside are copied too."""
        del value
        return self


@final
class _Noting(TensorOpener):
    """Notes the tensors of NumPy arrays."""

    def __init__(self, shared: list[Tensor]) -> None:
        super().__init__(Tensor)
        self._shared = shared

    def convert(self, value: Any) -> Tensor | None:
        """The tensor of a NumPy array, noted."""
        x = super().convert(value)
        if x is not None:
            self._shared.append(x)
        return x


def _from_numpy(value: Any) -> Tensor:
    if torch.compiler.is_dynamo_compiling():  # which has made it a tensor already
        return torch.as_tensor(value)
    flags = getattr(value, "flags", None)
    if flags is None or not flags.writeable or any(s < 0 for s in value.strides):
        value = value.copy()
    return torch.as_tensor(value)


_OPENER, _COPIER = TensorOpener(Tensor), _Copier(Tensor)
