"""The Function for plain eager code: the cheapest that is right at every order.

The pullback is taken apart after the forward pass and its tensors are saved; the
backward pass puts them back. Under `create_graph` the extras, which are constants to
PyTorch, are first joined to the inputs by a Function whose derivative runs the rule
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ._compat import apply_function, will_execute
from ._residuals import EXTRA, ResidualCall, separate

__all__ = ["EagerFunction", "apply_eager"]

# Below this size, asking the engine whether a cotangent is used costs more than it.
_LARGE = 4096


class EagerFunction(torch.autograd.Function):
    """A primitive with its rules, outside of every transform."""

    @staticmethod
    def forward(ctx: Any, call: ResidualCall, *tensors: Tensor) -> Any:
        """The result's tensors; saves what the pullback captures."""
        y, residuals = call.start(tensors)
        outputs = [separate(t, tensors) for t in call.flatten_result(y)]
        extras = call.locate(residuals, tensors, outputs)
        ctx.call = call
        ctx.set_materialize_grads(False)
        if extras:
            call.refuse_own_graphs(extras)
            ctx.save_for_backward(*residuals, *tensors)
        else:
            ctx.save_for_backward(*residuals)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *seeds: Tensor | None) -> Any:
        """Cotangents by the rrule, differentiable where a graph is being made."""
        call: ResidualCall = ctx.call
        wanted = ctx.needs_input_grad[1:]
        if all(dy is None for dy in seeds):
            return (None,) * (len(wanted) + 1)
        residuals = ctx.saved_tensors
        if call.floating:
            count = len(call.sources)
            residuals, tensors = residuals[:count], residuals[count:]
            if torch.is_grad_enabled():
                residuals = _rejoin(call, residuals, tensors)
        return (None, *call.finish(residuals, seeds, wanted, _Prune(ctx, call)))


apply_eager = apply_function(EagerFunction)


def _rejoin(
    call: ResidualCall, residuals: Sequence[Tensor], tensors: Sequence[Tensor]
) -> list[Tensor]:
    """The residuals, with the extras as differentiable functions of the inputs."""
    extras = call.extras_among(residuals)
    joined = Rejoin.apply(call, len(tensors), *tensors, *extras)
    pairs = zip(call.sources, residuals, strict=True)
    return [joined[i] if kind == EXTRA else r for (kind, i), r in pairs]


class Rejoin(torch.autograd.Function):
    """Extras as functions of the inputs, evaluated already."""

    @staticmethod
    def forward(
        ctx: Any, call: ResidualCall, count: int, *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        """The extras themselves."""
        ctx.call, ctx.count = call, len(tensors)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors[:count])
        return tuple(t.view_as(t) for t in tensors[count:])

    @staticmethod
    def backward(ctx: Any, *seeds: Tensor | None) -> Any:
        """Through the rule, run again."""
        nothing = (None,) * (ctx.count + 2)
        if all(dr is None for dr in seeds):
            return nothing
        tensors = ctx.saved_tensors
        wanted = ctx.needs_input_grad[2 : 2 + len(tensors)]
        found = ctx.call.pull_extras(tensors, seeds, wanted)
        return (None, None, *found, *nothing[len(found) + 2 :])


class _Prune:
    """Whether the backward pass that is running uses the i-th cotangent."""

    __slots__ = ("call", "ctx")

    def __init__(self, ctx: Any, call: ResidualCall) -> None:
        self.ctx, self.call = ctx, call

    def __call__(self, i: int) -> bool:
        if self.call.inputs[i].shape.numel() <= _LARGE:
            return True
        return will_execute(self.ctx.next_functions[i][0])
