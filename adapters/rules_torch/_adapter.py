"""PyTorch's adapter: `rules_core` calls it when a primitive meets a tensor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_torch._compile.trace import call_traced
from rules_torch._host.numpy_programs import numpy_function
from rules_torch._rules.cuts import watched
from rules_torch._rules.outside_tensors import refuse_in_body
from rules_torch._values.leaves import SymbolError
from rules_torch._values.strong_zero import strong_product

from ._compat import is_symbol
from ._config import CONFIG, TorchConfig
from ._dispatch import dispatch

__all__ = ["TorchAdapter", "adapter"]

TorchConfig.watched = staticmethod(watched)
_is_compiling = torch.compiler.is_dynamo_compiling


class TorchAdapter:
    """The adapter of PyTorch; `rules_core` finds it by the type of a tensor."""

    name = "torch"
    config = CONFIG

    def owns(self, cls: type) -> bool:
        """Whether instances of `cls` are torch tensors, or torch.fx's symbols."""
        return issubclass(cls, Tensor) or is_symbol(cls)

    def call(
        self, primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a primitive on tensors, its rules attached."""
        if _is_compiling():
            return call_traced(primitive, args, kwargs)
        try:
            return dispatch(primitive, args, kwargs)
        except SymbolError as found:  # of torch.fx.symbolic_trace
            tracer = found.symbol.tracer
            return tracer.create_proxy("call_function", primitive, args, kwargs)

    def check_captured(
        self, primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Refuse a call without tensors whose rules' functions read one."""
        if primitive.helpers and not _is_compiling():
            refuse_in_body(primitive, args, kwargs, (), lambda *_: True)

    def stop_gradient(self, x: Any) -> Any:
        """`x` without its derivative, in reverse and in forward mode."""
        return x.detach()

    def strong_product(self, p: Tensor, dx: Tensor) -> Tensor:
        """`p · dx`, zero where `dx` is zero and `p` is infinite or NaN."""
        return strong_product(p, dx)

    def numpy_function(self, f: Any, *examples: Any) -> Any:
        """A function that runs outside of all transforms, and the tensors it has."""
        return numpy_function(f, *examples)

    def cells(self, level: str) -> Iterable[Any]:
        """The host matrix of the tester."""
        from ._cells import cells

        return cells(level)


adapter = TorchAdapter()
