"""What a pullback captures, and how that depends on the inputs.

A residual that is an input or an output of the call is found again there. The others,
*extras*, are values that PyTorch knows nothing of; their derivatives, which second
derivatives need, come from running the rule again, only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from ._call import Call
from ._errors import UnconvertibleClosureError
from ._leaves import differentiable
from ._transpose import pull_back, push_forward

__all__ = ["EXTRA", "INPUT", "OUTPUT", "ResidualCall", "separate"]

INPUT, OUTPUT, EXTRA = "input", "output", "extra"


def separate(y: Tensor, inputs: Sequence[Tensor]) -> Tensor:
    """`y`, as a view if it is one of the inputs: a Function must not return those."""
    return y.view_as(y) if any(y is x for x in inputs) else y


class ResidualCall(Call):
    """A call that knows where its residuals are.

    Attributes:
        sources: For each residual, whether it is an input, an output or an extra, and
            which one.
        floating: For each extra, whether it has a tangent.
    """

    __slots__ = ("floating", "sources")

    def locate(
        self,
        residuals: Sequence[Tensor],
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
    ) -> list[Tensor]:
        """The extras; notes where each residual can be found again."""
        known = {id(t): (OUTPUT, i) for i, t in enumerate(outputs)}
        known.update({id(t): (INPUT, i) for i, t in enumerate(inputs)})
        extras: list[Tensor] = []
        for residual in residuals:
            if id(residual) not in known:
                known[id(residual)] = (EXTRA, len(extras))
                extras.append(residual)
        self.sources = [known[id(residual)] for residual in residuals]
        self.floating = [differentiable(extra) for extra in extras]
        return extras

    def refuse_own_graphs(self, extras: Sequence[Tensor]) -> None:
        """An extra that the rule itself made differentiable would lose its history."""
        if any(extra.requires_grad for extra in extras):
            raise UnconvertibleClosureError(
                self.rrule, "the graph of a derivative that the rule takes by torch itself"
            )

    def extras_among(self, residuals: Sequence[Tensor]) -> list[Tensor]:
        """The extras, in order, out of the list of residuals."""
        pairs = zip(self.sources, residuals, strict=True)
        found = {i: residual for (kind, i), residual in pairs if kind == EXTRA}
        return [found[i] for i in sorted(found)]

    def _extra_map(
        self, tensors: Sequence[Tensor], chosen: Sequence[int]
    ) -> Callable[..., tuple[Tensor, ...]]:
        """Chosen inputs ↦ the extras that have a tangent, by running the rule again."""

        def extra_map(*xs: Tensor) -> tuple[Tensor, ...]:
            filled = list(tensors)
            for i, x in zip(chosen, xs, strict=True):
                filled[i] = x
            again = ResidualCall(self.primitive, self.layout, self.rrule)
            again.needs = self.needs
            y, residuals = again.start(filled)
            outputs = [separate(t, filled) for t in again.flatten_result(y)]
            extras = again.locate(residuals, filled, outputs)
            return tuple(extra for extra in extras if differentiable(extra))

        return extra_map

    def pull_extras(
        self,
        tensors: Sequence[Tensor],
        seeds: Sequence[Tensor | None],
        wanted: Sequence[bool],
    ) -> list[Tensor | None]:
        """Cotangents that reach the inputs through the extras."""
        chosen = [i for i, want in enumerate(wanted) if want]
        seeds = [dr for dr, floating in zip(seeds, self.floating, strict=True) if floating]
        fn = self._extra_map(tensors, chosen)
        found = iter(pull_back(fn, [tensors[i] for i in chosen], seeds))
        return [next(found) if want else None for want in wanted]

    def push_extras(
        self, tensors: Sequence[Tensor], tangents: Sequence[Tensor | None]
    ) -> list[Tensor | None]:
        """Tangents of the extras; None for those that have none."""
        chosen = [i for i, dx in enumerate(tangents) if dx is not None]
        fn = self._extra_map(tensors, chosen)
        pushed = push_forward(
            fn, [tensors[i] for i in chosen], [tangents[i] for i in chosen]
        )
        found = iter(pushed)
        return [next(found) if floating else None for floating in self.floating]
