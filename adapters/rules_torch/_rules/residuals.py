"""Captures of a pullback, and how they depend on the inputs.

A residual that is an input or an output of the call is found again there. The others,
*extras*, are values that PyTorch knows nothing of; their derivatives, which second
derivatives need, come from running the rule again, only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from rules_core.extend import Reads, statics, unflatten
from rules_torch._closures.convert import holds_numbers
from rules_torch._compat import is_dead, is_view_without_history
from rules_torch._native_derivatives import pull_back, push_forward
from rules_torch._values.leaves import differentiable

from .call import Call
from .check_result import blame_result, refuse_number
from .cuts import are_tracked, watched
from .read_later import as_before, note_value
from .reads_in_graphs import in_graph

__all__ = ["ResidualCall"]

_DEAD = (
    "a tensor of a torch.func transform that has ended (call rrule_via_ad or "
    "torch.func.vjp inside the pullback)"
)
_OWN_GRAPH = "the graph of a derivative that the rule takes by torch itself"


class ResidualCall(Call):
    """A call that knows where its residuals are.

    What is saved: the inputs, then the extras, then the outputs that are captured.

    Attributes:
        sources: For each residual its index in what is saved; outputs count from the
            end.
        kept: Which outputs are residuals.
        extras: How many residuals are neither in nor out.
        numbers: Whether the pullback captures numbers, which may have been tensors.
    """

    __slots__ = ("extras", "kept", "numbers", "sources")

    kept: Sequence[int]

    def run(self, tensors: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """Outputs and extras of the forward pass; notes where the residuals are."""
        self.watch = in_graph(self.reads, self.primitive, tensors)
        y, residuals = self.start(tensors)
        if self.reads is not None:
            self.reads.settle()
        self.numbers = self._holds_numbers()
        outputs = self.flatten_result(y)
        if isinstance(self.reads, Reads) and self.reads.own:
            note_value(self.reads, outputs)
        if not outputs and (error := blame_result(self, blamed=False)) is not None:
            raise error
        if not outputs:
            refuse_number(self, y)
        if self.watch is not None:
            residuals = [*residuals, self.watch.settled(outputs)]
        known = {id(x): i for i, x in enumerate(tensors)}
        for i, output in enumerate(outputs):
            if id(output) in known:  # a Function must not return one of its inputs
                outputs[i] = output.view_as(output)
            else:
                known[id(output)] = ~i
        return outputs, self._locate(known, residuals, tensors)

    def _holds_numbers(self) -> bool:
        if self.plan is None or self.rrule.host:
            return False
        return holds_numbers(self.plan, self._statics)

    def _statics(self) -> Iterable[Any]:
        return () if self.layout is None else statics(self.layout)

    def check_numbers(self, tensors: Sequence[Tensor]) -> None:
        """Refuse captured numbers that were tensors with a derivative beyond this one.

        The rule runs again to tell: the forward pass cannot.
        """
        if self.numbers and are_tracked(tensors):
            with torch.enable_grad():
                self._run_again(tensors)

    def _run_again(self, tensors: Sequence[Tensor]) -> Any:
        """Outputs and extras once more, as functions of the inputs."""
        with as_before(self.reads, self.primitive):
            return watched(self.rrule, self._again().run, tensors)

    def _again(self) -> _Again:
        again = _Again(self.primitive, self.layout, self.rrule)
        again.needs = self.needs
        return again

    def _locate(
        self,
        known: dict[int, int],
        residuals: Sequence[Tensor],
        inputs: Sequence[Tensor],
    ) -> list[Tensor]:
        """The extras; notes where each residual can be found again.

        What is known: places of inputs, and of outputs, counted as `~i`.
        """
        kept: list[int] = []
        extras: list[Tensor] = []
        sources = []
        for residual in residuals:
            source = known.get(id(residual))
            if source is None:
                extra = residual
                if residual.requires_grad:
                    if not is_view_without_history(residual):
                        obstacle = _DEAD if is_dead(residual) else _OWN_GRAPH
                        anew = [*self.refuse(obstacle, inputs)]
                        number = residuals[-1:] if self.watch is not None else []
                        return self._locate(known, [*anew, *number], inputs)
                    extra = residual.detach()
                source = known[id(residual)] = len(inputs) + len(extras)
                extras.append(extra)
            elif source < 0:
                if ~source not in kept:
                    kept.append(~source)
                source = ~kept.index(~source)
            sources.append(source)
        self.kept, self.extras, self.sources = kept, len(extras), sources
        return extras

    def saved(
        self,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        extras: Sequence[Tensor],
    ) -> tuple[Tensor, ...]:
        """Tensors to save, in the order that `sources` counts by."""
        if not self.kept:
            return (*inputs, *extras)
        return (*inputs, *extras, *[outputs[i] for i in reversed(self.kept)])

    def result_of(self, out: Any) -> Any:
        """The result of the primitive, from the outputs of a Function."""
        if self.result is None and type(out) is not tuple:
            return out
        outputs = out if type(out) is tuple else (out,)
        outputs = outputs[: len(self.outputs)]
        return outputs[0] if self.result is None else unflatten(self.result, outputs)

    def _extra_map(
        self, tensors: Sequence[Tensor], chosen: Sequence[int]
    ) -> Callable[..., tuple[Tensor, ...]]:
        """Chosen inputs ↦ the extras that have a tangent, by running the rule again."""

        def extra_map(*xs: Tensor) -> tuple[Tensor, ...]:
            filled = list(tensors)
            for i, x in zip(chosen, xs, strict=True):
                filled[i] = x
            _, extras = self._run_again(filled)
            return tuple(extra for extra in extras if differentiable(extra))

        return extra_map

    def pull_extras(
        self,
        tensors: Sequence[Tensor],
        extras: Sequence[Tensor],
        seeds: Sequence[Tensor | None],
        wanted: Sequence[bool],
    ) -> list[Tensor | None]:
        """Cotangents that reach the inputs through the extras."""
        if not any(map(differentiable, extras)):
            return [None] * len(wanted)
        chosen = [i for i, want in enumerate(wanted) if want]
        pairs = zip(extras, seeds, strict=True)
        seeds = [dr for extra, dr in pairs if differentiable(extra)]
        fn = self._extra_map(tensors, chosen)
        found = iter(pull_back(fn, [tensors[i] for i in chosen], seeds))
        return [next(found) if want else None for want in wanted]

    def push_extras(
        self,
        tensors: Sequence[Tensor],
        extras: Sequence[Tensor],
        tangents: Sequence[Tensor | None],
    ) -> list[Tensor | None]:
        """Tangents of the extras; None for those that have none."""
        if not any(map(differentiable, extras)):  # as the number of a call in a graph
            return [None] * len(extras)
        pairs = [(i, dx) for i, dx in enumerate(tangents) if dx is not None]
        chosen = [i for i, _ in pairs]
        fn = self._extra_map(tensors, chosen)
        primals = [tensors[i] for i in chosen]
        _, pushed = push_forward(fn, primals, [dx for _, dx in pairs])
        found = iter(pushed)
        return [next(found) if differentiable(extra) else None for extra in extras]


class _Again(ResidualCall):
    """Run a call once more, differentiably, so that extras have their histories."""

    __slots__ = ()

    def _locate(
        self,
        known: dict[int, int],
        residuals: Sequence[Tensor],
        inputs: Sequence[Tensor],
    ) -> list[Tensor]:
        extras = {id(r): r for r in residuals if id(r) not in known}
        return list(extras.values())
