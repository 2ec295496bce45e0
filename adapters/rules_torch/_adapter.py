"""What `rules_core` calls when a primitive meets a torch tensor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc

from ._compat import (
    Levels,
    forward_mode_active,
    functorch_active,
    unwrap_dead,
)
from ._config import CONFIG
from ._eager import apply_eager
from ._functorch import RuleFunction, TransformCall
from ._host import run_primal
from ._leaves import flatten, unflatten
from ._residuals import ResidualCall

__all__ = ["TorchAdapter", "adapter", "dispatch"]


class TorchAdapter:
    """The adapter of PyTorch; `rules_core` finds it by the type of a tensor."""

    name = "torch"

    def owns(self, cls: type) -> bool:
        """Whether instances of `cls` are torch tensors."""
        return issubclass(cls, Tensor)

    def call(
        self, primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a primitive on tensors, its rules attached."""
        return dispatch(primitive, args, kwargs)

    def stop_gradient(self, x: Any) -> Any:
        """`x` without its derivative, in reverse and in forward mode."""
        return x.detach()

    def cells(self, level: str) -> Iterable[Any]:
        """The host matrix of the tester."""
        from ._matrix import cells

        return cells(level)


adapter = TorchAdapter()


def dispatch(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a primitive by the cheapest mechanism that is right here."""
    args, kwargs = primitive.bind(args, kwargs)
    tensors, layout = _flatten_call(args, kwargs)
    if layout is not None:
        args, kwargs = unflatten(layout, tensors)
    if functorch_active() or forward_mode_active():
        return _transformed(primitive, args, kwargs, tensors, layout)
    if not torch.is_grad_enabled():
        return run_primal(primitive, args, kwargs)
    wanted = [x.requires_grad for x in tensors]
    if True not in wanted:
        return run_primal(primitive, args, kwargs)
    call = ResidualCall(primitive, layout)
    if not _find_rrule(call, args, kwargs, wanted) and not _needs_function(call, args, kwargs):
        return run_primal(primitive, args, kwargs)
    return _result(call, apply_eager(call, *map(unwrap_dead, tensors)))


def _flatten_call(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Sequence[Tensor], Any]:
    """The tensors of a call and its layout, None where the arguments are tensors."""
    if not kwargs and all(isinstance(x, Tensor) for x in args):
        return args, None
    tensors: list[Tensor] = []
    layout = flatten((args, kwargs), tensors)
    return tensors, layout


def _find_rrule(
    call: ResidualCall, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: list[bool]
) -> bool:
    """Look up the rrule of a call and tell it which derivatives are wanted."""
    found = rc.rrule.resolve(call.primitive.fun, args, kwargs, CONFIG)
    if found is None:
        return False
    call.found, call.rrule = found, found.rule
    if found.rule.needs:
        call.needs = call.needs_of(wanted, len(found.args))
    return True


def _has_frule(
    call: ResidualCall, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    return rc.frule.resolve(call.primitive.fun, args, kwargs, CONFIG) is not None


def _needs_function(
    call: ResidualCall, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    """Whether torch must not differentiate the primal itself."""
    return call.primitive.host or _has_frule(call, args, kwargs)


def _transformed(
    primitive: rc.Primitive,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tensors: Sequence[Tensor],
    layout: Any,
) -> Any:
    """A call under transforms of torch.func or with forward-mode tangents."""
    levels = Levels()
    modes = [levels.tracking(x) for x in tensors]
    reverse, forward = (any(mode) for mode in zip(*modes, strict=True))
    if not reverse and not forward:
        return run_primal(primitive, args, kwargs)
    call = TransformCall(primitive, layout)
    call.pushes = _has_frule(call, args, kwargs)
    found = _find_rrule(call, args, kwargs, [r or f for r, f in modes])
    if not found and not call.pushes and not primitive.host:
        return run_primal(primitive, args, kwargs)
    call.found = None  # it holds tensors of this level; the rule runs below it
    call.reverse, call.forward = reverse, max(len(levels.forward), 1) if forward else 0
    return _result(call, RuleFunction.apply(call, *tensors))


def _result(call: ResidualCall, out: Any) -> Any:
    outputs = out if type(out) is tuple else (out,)
    outputs = outputs[: len(call.outputs)]
    return outputs[0] if call.result is None else unflatten(call.result, outputs)
