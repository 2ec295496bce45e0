"""Rules that are declared `host=True`: NumPy-only, opaque, at first order only.

The rule, and later its pullback, run as opaque jobs. What the pullback captures is
kept as tensors, so that a second derivative finds its way here and is refused instead
of being silently zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor

import rules_core as rc

from ._blame import check_shapes, metas
from ._closure import Plan, convert, rebuild
from ._config import CONFIG
from ._errors import SecondDerivativeError, UnconvertibleClosureError, UntraceableError
from ._fit import read_tangents
from ._host import Job, PrimalJob, run_opaque
from ._leaves import differentiable, tangent_of, unflatten
from ._meta import Meta, common_device, zeros
from ._numpy import from_numpy, to_numpy

__all__ = ["pull_host", "push_host", "start_host"]

_NUMBERS = (bool, int, float, complex)


_HostPlan = tuple[Plan, list[type | None]]


class _RuleJob(Job):
    """Something that a NumPy-only rule does."""

    def __init__(self, rule: Any) -> None:
        self.rule = rule

    def trace(self, tensors: Sequence[Tensor]) -> NoReturn:
        """A compiler would need the shapes of whatever the rule captures."""
        del tensors
        raise UntraceableError(
            self.rule.target,
            f"its {self.rule.kind} at {self.rule.location} is declared host=True",
            "Write the rule with primitives and array-API functions.",
        )

    def label(self) -> str:
        """The function's name."""
        return str(self.rule.target)

    def refuse(self) -> NoReturn:
        """First order only."""
        raise SecondDerivativeError(self.rule)


class _Forward(_RuleJob):
    """`(y, residuals)` by an rrule in NumPy."""

    plan: Plan
    kinds: list[type | None]

    def __init__(
        self, primitive: rc.Primitive, layout: Any, needs: Any, rule: Any
    ) -> None:
        super().__init__(rule)
        self.needs = needs
        self.primal = PrimalJob(primitive, layout)
        self.count = 0

    def run(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """Run the rule; the result's tensors, then the arrays that are captured."""
        import numpy as np

        arrays = [to_numpy(x) for x in tensors]
        args, kwargs = unflatten(self.primal.layout, arrays)
        found = rc.rrule.resolve(self.primal.primitive.fun, args, kwargs, CONFIG)
        assert found is not None
        y, pullback = found.run(self.needs)
        outputs = self.primal.read(y, arrays, tensors)
        # Numbers are taken out as well: in a batch each example has its own.
        leaf = (np.ndarray, np.generic, bool, int, float, complex)
        self.plan, captured = convert(pullback, leaf=leaf)
        if self.plan[2] is not None:
            raise UnconvertibleClosureError(self.rule, self.plan[2])
        self.count = len(outputs)
        self.kinds = [type(x) if type(x) in _NUMBERS else None for x in captured]
        device = common_device(self.label(), tensors)
        return [*outputs, *[from_numpy(np.array(x), (), device) for x in captured]]


class _Pull(_RuleJob):
    """Cotangents by a pullback in NumPy, one for every input."""

    def __init__(
        self, rule: Any, plan: _HostPlan, layout: Any, spread: Callable[..., Any]
    ) -> None:
        super().__init__(rule)
        self.plan, self.kinds = plan
        self.layout, self.spread = layout, spread

    def run(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """Rebuild the pullback and call it."""
        count = len(self.kinds)
        pairs = zip(tensors[:count], self.kinds, strict=True)
        residuals = [
            to_numpy(x) if kind is None else kind(x.item()) for x, kind in pairs
        ]
        seeds = iter([to_numpy(x) for x in tensors[count:]])
        dy = next(seeds) if self.layout is None else tangent_of(self.layout, seeds)
        result = rebuild(self.plan, residuals)(dy)
        return self.spread(_to_tensors(result))


class _Push(_RuleJob):
    """`(y, dy)` by an frule in NumPy: tangents of the result's tensors."""

    def __init__(self, rule: Any, primal: PrimalJob, needs: Any, count: int) -> None:
        super().__init__(rule)
        self.primal, self.needs, self.count = primal, needs, count

    def run(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """Run the rule."""
        arrays = [to_numpy(x) for x in tensors]
        args, kwargs = unflatten(self.primal.layout, arrays[: self.count])
        tangents = iter(arrays[self.count :])
        parts = self.primal.layout[3][0][3]
        dxs = tuple(tangent_of(part, tangents) for part in parts)
        found = rc.frule.resolve(self.primal.primitive.fun, args, kwargs, CONFIG)
        assert found is not None
        y, dy = found.run((rc.NoTangent(), *dxs), self.needs)
        outputs = self.primal.read(y, arrays, tensors)
        result = self.primal.result
        primal = outputs[0] if result is None else unflatten(result, outputs)
        dys = read_tangents(self.rule, result, primal, outputs, _to_tensors(dy))
        pairs = zip(outputs, dys, strict=True)
        return [torch.zeros_like(x) if dx is None else dx for x, dx in pairs]


def _to_tensors(value: Any) -> Any:
    """Arrays inside a rule's answer as tensors."""
    value = rc.unthunk(value)
    if isinstance(value, (tuple, list)):
        return type(value)(_to_tensors(item) for item in value)
    if isinstance(value, dict):
        return {key: _to_tensors(item) for key, item in value.items()}
    if hasattr(value, "__array__") and not isinstance(value, rc.AbstractTangent):
        return from_numpy(value, (), None)
    return value


def start_host(call: Any, tensors: Sequence[Tensor]) -> tuple[Any, Sequence[Tensor]]:
    """The forward pass of a call whose rrule is NumPy-only."""
    layout = call.full_layout()
    job = _Forward(call.primitive, layout, call.needs, call.rrule)
    found = run_opaque(job, tensors)
    call.plan = (job.plan, job.kinds)
    outputs, result = found[: job.count], job.primal.result
    y = outputs[0] if result is None else unflatten(result, outputs)
    return y, found[job.count :]


def pull_host(
    call: Any,
    residuals: Sequence[Tensor],
    seeds: Sequence[Tensor | None],
    wanted: Sequence[bool],
) -> list[Tensor | None]:
    """The backward pass of a call whose rrule is NumPy-only."""

    def spread(result: Any) -> list[Tensor]:
        found = call.spread(result, wanted)
        chosen = zip(found, call.inputs, wanted, strict=True)
        return [
            zeros(meta) if dx is None else dx.to(meta[2])
            for dx, meta, want in chosen
            if want
        ]

    job = _Pull(call.rrule, call.plan, call.result, spread)
    filled = [_seed(dy, meta) for dy, meta in zip(seeds, call.outputs, strict=True)]
    found = iter(run_opaque(job, [*residuals, *filled]))
    return [next(found) if want else None for want in wanted]


def _seed(dy: Tensor | None, meta: Meta) -> Tensor:
    return zeros(meta) if dy is None else dy


def push_host(
    call: Any,
    rule: Any,
    needs: Any,
    tensors: Sequence[Tensor],
    tangents: Sequence[Tensor | None],
) -> list[Tensor | None]:
    """Forward mode of a call whose frule is NumPy-only."""
    primal = PrimalJob(call.primitive, call.full_layout())
    job = _Push(rule, primal, needs, len(tensors))
    pairs = zip(tensors, tangents, strict=True)
    filled = [torch.zeros_like(x) if dx is None else dx for x, dx in pairs]
    found = run_opaque(job, [*tensors, *filled])
    check_shapes(rule, call.outputs, metas(tuple(found)))
    return [dy if differentiable(dy) else None for dy in found]
