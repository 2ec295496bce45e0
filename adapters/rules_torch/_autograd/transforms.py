"""The Function that works under every transform of torch.func, and in forward mode.

What a pullback captures is passed on as extra outputs of the Function. PyTorch then
knows how residuals depend on the inputs, at every level of nested transforms; kept
anywhere else they would be constants, and second derivatives silently wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rules_torch._compat import (
    Levels,
    apply_function,
    batch_levels,
    batched_at,
    call_function,
    functorch_active,
    is_view,
    let_go,
    noting_down,
    run_as_it_is,
    set_forward_enabled,
    strip_tangent,
    unwrap_dead,
)
from rules_torch._rules.cuts import differentiating, own_level, watched_if_tracked
from rules_torch._rules.derived_mode import transposed_pull
from rules_torch._rules.residuals import ResidualCall
from rules_torch._values.leaves import differentiable

__all__ = ["RuleFunction", "TransformCall"]


class TransformCall(ResidualCall):
    """A call under transforms.

    Attributes:
        reverse: Whether a reverse-mode transform may ask for cotangents.
        forward: How many forward-mode transforms are active.
        pushes: Whether forward mode has an frule of its own.
        levels: Transforms that differentiate, or None where plain forward mode is
            active besides them.
        wrapped: Which tensors a transform has wrapped.
    """

    __slots__ = ("forward", "levels", "pushes", "reverse", "wrapped")

    forward: int
    levels: Levels | None
    pushes: bool
    reverse: bool
    wrapped: Sequence[bool]

    def run(self, tensors: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """Outputs and extras of the forward pass, which gets no tensor twice.

        It runs below all transforms, where arguments that they wrapped at several
        levels, and what a rule captures from outside, may be one object. Each has
        derivatives of its own, so a residual must be found in the argument that it is.
        """
        # A program that is being written down would keep a detach, and have no second
        # derivative when it is differentiated later.
        apart = Tensor.view_as if noting_down() else _detached
        pairs = zip(tensors, self.wrapped, strict=True)
        found = super().run([apart(x, x) if own else x for x, own in pairs])
        taken = {*map(id, tensors)}
        outputs, extras = ([let_go(_apart(y, taken)) for y in ys] for ys in found)
        return outputs, extras

    def start(self, tensors: Sequence[Tensor]) -> tuple[Any, Sequence[Tensor]]:
        """`(y, residuals)`; forward mode by an frule needs the arguments only."""
        if self.reverse or not self.pushes:
            return super().start(tensors)
        self.autocast = None
        self.inputs = [(x.shape, x.dtype, x.device) for x in tensors]
        return self.primal(tensors), ()

    def tangents_of_extras_wanted(self) -> bool:
        """Whether a transform inside the one that pushes now may read the extras.

        Those outside know the extras by their own graphs. To push them regardless would
        run the rule again, whose own calls would push theirs, without end.
        """
        if not self.extras:
            return False
        if self.levels is None:
            return self.reverse or self.forward > 1
        now = Levels().order  # those outside, and the one that pushes
        inside = self.levels.order[len(now) :]
        if self.pushes:
            return not self.levels.reverse.isdisjoint(inside)
        return bool(inside)

    def split(
        self, saved: Sequence[Tensor]
    ) -> tuple[list[Tensor], Sequence[Tensor], Sequence[Tensor]]:
        """Residuals, inputs and extras out of what was saved."""
        count = len(self.inputs)
        residuals = [saved[i] for i in self.sources]
        return residuals, saved[:count], saved[count : count + self.extras]


class RuleFunction(torch.autograd.Function):
    """A primitive with its rules, as PyTorch's transforms see it."""

    generate_vmap_rule = True

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """`Function.apply` without binding a signature at every call."""
        return call_function(cls, *args) if functorch_active() else _apply(*args)

    @staticmethod
    def forward(call: TransformCall, *tensors: Tensor) -> Any:
        """Result and extra residuals."""
        outputs, extras = call.run(tensors)
        results = (*outputs, *extras)
        if call.forward:  # a view takes its tangent from its base, in its base's layout
            results = tuple(y.clone() if is_view(y) else y for y in results)
        sizes = batch_levels(tensors) if functorch_active() else {}
        if not sizes:
            return _alone(results)
        # Where one result is batched and another is not, torch's generated rule counts
        # the cotangent of the other once per example.
        full = [batched_at(y, sizes) for y in results]
        if call.forward:  # a tangent gets the strides of its primal and is written to
            full = [
                x if x is y else x.clone() for x, y in zip(full, results, strict=True)
            ]
        return _alone(tuple(full))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep inputs, outputs and extras, for both modes in one list."""
        call, *tensors = inputs
        ctx.call = call
        ctx.set_materialize_grads(False)
        results = output if type(output) is tuple else (output,)
        count = len(call.outputs)
        saved = call.saved(tensors, results[:count], results[count:])
        ctx.save_for_backward(*saved)
        if call.forward:
            ctx.save_for_forward(*saved)

    @staticmethod
    def backward(ctx: Any, *seeds: Tensor | None) -> tuple[Tensor | None, ...]:
        """Cotangents by the rrule, and through the residuals by deriving again."""
        saved = ctx.saved_tensors
        with differentiating(own_level(saved)):
            return (None, *_pull(ctx, saved, seeds))

    @staticmethod
    def jvp(ctx: Any, _call: Any, *tangents: Tensor | None) -> Any:
        """Tangents by the frule, or by transposing the pullback.

        torch switches forward mode off in here, which would lose the tangents of outer
        levels, and leaves the tangent of this level on the saved tensors.
        """
        raw = ctx.saved_tensors
        with set_forward_enabled(True), differentiating(own_level(raw)):
            return _push(ctx, [strip_tangent(t) for t in raw], tangents)


_apply = apply_function(RuleFunction)
run_as_it_is(RuleFunction.backward)
run_as_it_is(RuleFunction.jvp)


def _pull(
    ctx: Any, kept: Sequence[Tensor], seeds: Sequence[Tensor | None]
) -> list[Tensor | None]:
    call: TransformCall = ctx.call
    count = len(call.outputs)
    wanted = ctx.needs_input_grad[1:]
    saved = [unwrap_dead(t) for t in kept]
    residuals, tensors, extras = call.split(saved)
    dxs: list[Tensor | None] = [None] * len(wanted)
    if any(dy is not None for dy in seeds[:count]):
        node = ctx if hasattr(ctx, "next_functions") else None
        call.check_numbers(tensors)
        given = (call.rrule, (*residuals, *seeds[:count]), call.finish)
        dxs = watched_if_tracked(*given, residuals, seeds[:count], wanted, node)
    if any(dr is not None for dr in seeds[count:]):
        more = call.pull_extras(tensors, extras, seeds[count:], wanted)
        dxs = [_add(a, b) for a, b in zip(dxs, more, strict=True)]
    return dxs


def _push(ctx: Any, saved: Sequence[Tensor], tangents: Sequence[Tensor | None]) -> Any:
    call: TransformCall = ctx.call
    residuals, tensors, extras = call.split(saved)
    tangents = list(map(_in_own_dtype, tensors, tangents))
    if call.pushes:
        dys = call.push(tensors, tangents)
    else:
        call.check_numbers(tensors)
        dys = transposed_pull(call, residuals, tensors, tangents)
    if call.tangents_of_extras_wanted():
        return (*dys, *call.push_extras(tensors, extras, tangents))
    return _alone((*dys, *map(_zeros, extras)))


def _in_own_dtype(x: Tensor, dx: Tensor | None) -> Tensor | None:
    """The tangent in the precision of its primal.

    Of a float32 number times a Python number torch makes a tangent in float64.
    """
    if dx is None or dx.dtype == x.dtype or dx.is_complex() != x.is_complex():
        return dx
    return dx.to(x.dtype)


def _detached(x: Tensor, _like: Tensor) -> Tensor:
    return x.detach()


def _apart(y: Tensor, taken: set[int]) -> Tensor:
    """`y`, as another object where a Function would return one of its inputs."""
    return y.view_as(y) if id(y) in taken else y


def _alone(results: tuple[Any, ...]) -> Any:
    """One result without its tuple, which torch would take apart again and again."""
    return results[0] if len(results) == 1 else results


def _add(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _zeros(x: Tensor) -> Tensor | None:
    return torch.zeros_like(x) if differentiable(x) else None
