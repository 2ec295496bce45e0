"""PyTorch as the AD system that a rule may call back into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import torch
from torch import Tensor

import rules_core as rc

from ._leaves import differentiable, flatten, pair, tangent_of, unflatten
from ._transpose import pull_back

__all__ = ["CONFIG", "TorchConfig"]


@final
class TorchConfig(rc.RuleConfig, rc.HasReverseMode, rc.HasForwardsMode):
    """The configuration that rules receive when PyTorch differentiates.

    `rrule_via_ad` and `frule_via_ad` differentiate any torch function by torch itself,
    to any order; tensors that the function captures have cotangents too.

    >>> import torch
    >>> from rules_core import rrule_via_ad
    >>> from rules_torch import TorchConfig
    >>> y, pullback = rrule_via_ad(TorchConfig(), torch.square, torch.tensor(3.0))
    >>> y, pullback(torch.tensor(1.0))[1]
    (tensor(9.), tensor(6.))
    """

    def rrule_via_ad(self, f: Any, *args: Any, **kw: Any) -> tuple[Any, Any]:
        """`(y, pullback)`; the pullback evaluates `f` again and may be kept."""
        return f(*args, **kw), rc.Pullback(_pull_back, f, args, kw)

    def frule_via_ad(
        self, tangents: tuple[Any, ...], f: Any, *args: Any, **kw: Any
    ) -> tuple[Any, Any]:
        """`(y, dy)` by one forward-mode evaluation."""
        run = _Flat(f, args, kw)
        seeds = list(pair(run.layout[3][0], rc.Tangent(tuple, *tangents)))
        chosen = run.chosen()
        points = tuple(run.tensors[i] for i in chosen)
        dxs = tuple(_concrete(seeds[i], run.tensors[i]) for i in chosen)
        ys, dys = torch.func.jvp(run.on(chosen), points, dxs)
        return run.read(ys), run.tangent(dys)


class _Flat:
    """A call `f(*args, **kw)` as a function of the tensors in it, `f`'s own included."""

    def __init__(self, f: Any, args: tuple[Any, ...], kw: dict[str, Any]) -> None:
        self.tensors: list[Tensor] = []
        self.layout = flatten(((f, *args), kw), self.tensors)
        if self.layout[0] == "static":
            parts = tuple(("static", x) for x in (f, *args))
            names = tuple(range(len(parts)))
            whole = (("sequence", tuple, names, parts), ("static", kw))
            self.layout = ("sequence", tuple, (0, 1), whole)

    def chosen(self) -> list[int]:
        """The tensors among the positional arguments that have a tangent."""
        return [i for i, x in enumerate(self.tensors) if differentiable(x)]

    def on(self, chosen: Sequence[int]) -> Any:
        """The function of the chosen tensors, to the tensors of the result."""

        def run(*xs: Tensor) -> tuple[Tensor, ...]:
            filled = list(self.tensors)
            for i, x in zip(chosen, xs, strict=True):
                filled[i] = x
            (f, *args), kw = unflatten(self.layout, filled)
            outputs: list[Tensor] = []
            self.result = flatten(f(*args, **kw), outputs)
            self.floating = [differentiable(y) for y in outputs]
            return tuple(outputs)

        return run

    def read(self, ys: Sequence[Tensor]) -> Any:
        """The result again from its tensors."""
        return unflatten(self.result, ys)

    def tangent(self, dys: Sequence[Tensor]) -> Any:
        """The tangent of the result."""
        pairs = zip(dys, self.floating, strict=True)
        return tangent_of(self.result, (dy if ok else rc.NoTangent() for dy, ok in pairs))


def _concrete(dx: Any, x: Tensor) -> Tensor:
    dx = rc.unthunk(dx)
    return torch.zeros_like(x) if isinstance(dx, rc.AbstractZero) else dx


def _pull_back(f: Any, args: tuple[Any, ...], kw: dict[str, Any], dy: Any) -> Any:
    """Cotangents `(df, dx1, …)` of a call, by torch's own reverse mode."""
    run = _Flat(f, args, kw)
    chosen = run.chosen()

    def seeded(*xs: Tensor) -> tuple[Tensor, ...]:
        outputs = run.on(chosen)(*xs)
        return tuple(y for y, ok in zip(outputs, run.floating, strict=True) if ok)

    points = [run.tensors[i] for i in chosen]
    outputs = seeded(*points)
    seeds = [s for s, ok in zip(pair(run.result, dy), run.floating, strict=True) if ok]
    seeds = [_concrete(s, y) for s, y in zip(seeds, outputs, strict=True)]
    found: list[Any] = [rc.NoTangent()] * len(run.tensors)
    for i, dx in zip(chosen, pull_back(seeded, points, seeds), strict=True):
        found[i] = rc.ZeroTangent() if dx is None else dx
    leaves = iter(found)
    return tuple(tangent_of(part, leaves) for part in run.layout[3][0][3])


CONFIG = TorchConfig()
