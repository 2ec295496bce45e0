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

from rules_torch._compat import (
    apply_function,
    forward_mode_active,
    keep_out_of_graphs,
    let_go,
)
from rules_torch._rules.cuts import watched_if_tracked
from rules_torch._rules.residuals import ResidualCall
from rules_torch._values.meta import stand_in

__all__ = ["LEFT_OUT", "EagerFunction", "apply_eager", "attached", "pull", "save"]


class EagerFunction(torch.autograd.Function):
    """A primitive with its rules, outside of every transform."""

    @staticmethod
    def forward(ctx: Any, call: ResidualCall, *tensors: Tensor) -> Any:
        """The result's tensors; saves what the pullback captures."""
        outputs, extras = call.run(tensors)
        return save(ctx, call, tensors, [*map(let_go, outputs)], extras)

    @staticmethod
    def backward(ctx: Any, *seeds: Tensor | None) -> Any:
        """Cotangents by the rrule, differentiable where a graph is being made."""
        if seeds[0] is None and all(dy is None for dy in seeds):
            return (None,) * len(ctx.needs_input_grad)
        return pull(ctx, ctx.call, ctx.saved_tensors, seeds)


apply_eager = apply_function(EagerFunction)
LEFT_OUT = (
    "a rule of rules_core whose forward pass was not compiled; compile it as well, or "
    "give compiled autograd a compiler without fullgraph=True"
)
keep_out_of_graphs(EagerFunction.backward, LEFT_OUT)


def save(
    ctx: Any,
    call: ResidualCall,
    tensors: Sequence[Tensor],
    outputs: Sequence[Tensor],
    extras: Sequence[Tensor],
) -> Any:
    """Save what the backward pass needs; return the results of the forward pass."""
    ctx.call = call
    ctx.set_materialize_grads(False)
    saved = call.saved(tensors, outputs, extras)
    if extras or call.numbers:
        ctx.save_for_backward(*saved)
    else:  # inputs that are not captured are not kept alive
        ctx.save_for_backward(*[saved[i] for i in call.sources])
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def pull(
    ctx: Any,
    call: ResidualCall,
    saved: Sequence[Tensor],
    seeds: Sequence[Tensor | None],
) -> Any:
    """The backward pass, from what was saved."""
    wanted = ctx.needs_input_grad[1:]
    if call.extras or call.numbers:
        if torch.is_grad_enabled() or forward_mode_active():
            call.check_numbers(saved[: len(wanted)])
        if call.extras and torch.is_grad_enabled():
            saved = _rejoin(call, saved, len(wanted))
        saved = [saved[i] for i in call.sources]
    if torch.is_grad_enabled() or forward_mode_active():
        given = (call.rrule, (*saved, *seeds), call.finish)
        found = watched_if_tracked(*given, saved, seeds, wanted, ctx)
    else:
        found = call.finish(saved, seeds, wanted, ctx)
    return (None, *attached(call, found, wanted))


def attached(
    call: ResidualCall, found: Sequence[Tensor | None], wanted: Sequence[bool]
) -> Sequence[Tensor | None]:
    """Cotangents, zeros where there are none at all, as `torch.round` has them.

    Without any `torch.autograd.grad` would find the arguments unused.
    """
    if any(dx is not None for dx in found):
        return found
    pairs = zip(call.inputs, wanted, strict=True)
    return [stand_in(meta) if want else None for meta, want in pairs]


def _rejoin(
    call: ResidualCall, saved: Sequence[Tensor], count: int
) -> tuple[Tensor, ...]:
    """Saved tensors, with the extras as differentiable functions of the inputs."""
    last = count + call.extras
    joined = Rejoin.apply(call, count, *saved[:last])
    return (*saved[:count], *joined, *saved[last:])


class Rejoin(torch.autograd.Function):
    """Extras as functions of the inputs, evaluated already."""

    generate_vmap_rule = True

    @staticmethod
    def forward(call: ResidualCall, count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        """The extras themselves."""
        del call
        return tuple(t.view_as(t) for t in tensors[count:])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep the inputs, and the extras for their dtypes."""
        del output
        ctx.call, ctx.count, *tensors = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx: Any, *seeds: Tensor | None) -> Any:
        """Through the rule, run again."""
        saved = ctx.saved_tensors
        tensors, extras = saved[: ctx.count], saved[ctx.count :]
        found: list[Tensor | None] = [None] * ctx.count
        if any(dr is not None for dr in seeds):
            wanted = ctx.needs_input_grad[2 : 2 + ctx.count]
            found = ctx.call.pull_extras(tensors, extras, seeds, wanted)
        return (None, None, *found, *[None] * len(extras))
