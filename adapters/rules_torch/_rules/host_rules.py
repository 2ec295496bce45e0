"""Rules that are declared `host=True`: NumPy-only, opaque, at first order only.

The rule, and later its pullback, run as opaque jobs. What the pullback captures is
kept as tensors, so that a second derivative finds its way here and is refused instead
of being silently zero. What is no array, a factorisation say, stays here; each example
of a batch has its own, which it finds by a number that is kept as a tensor too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import FlatCall, build_tangent, unflatten
from rules_torch._closures.convert import Plan, convert, rebuild
from rules_torch._errors import (
    SecondDerivativeError,
    UnconvertibleClosureError,
    UntraceableError,
)
from rules_torch._host.jobs import Job, PrimalJob
from rules_torch._host.lent_arrays import call_lent
from rules_torch._host.run import run_opaque
from rules_torch._values.leaves import differentiable
from rules_torch._values.meta import Meta, common_device, zeros
from rules_torch._values.numpy_arrays import from_numpy
from rules_torch._values.tangents import read_tangents

from .check_result import check_shapes, metas
from .lookup import find_again

__all__ = ["pull_host", "push_host", "start_host"]

_NUMBERS = (bool, int, float, complex)


# How to make a pullback again, and which of what it captured were Python's numbers.
_HostPlan = tuple[Plan, list[type | None]]


class _RuleJob(Job):
    """Something that a NumPy-only rule does."""

    def __init__(self, rule: Any) -> None:
        self.rule = rule

    def refuse_tracing(self) -> NoReturn:
        """A compiler would need the shapes of whatever the rule captures."""
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

    def __init__(
        self, primitive: rc.Primitive, layout: Any, needs: Any, rule: Any
    ) -> None:
        super().__init__(rule)
        self.needs = needs
        self.primal = PrimalJob(primitive, layout)
        self.count = 0
        self.plans: list[_HostPlan] = []

    def form(self) -> Any:
        """The layout of the result."""
        return self.primal.form()

    def run(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """Run the rule; the result's tensors, the plan's number, what is captured."""
        found = call_lent(self.primal.primitive, self._call, tensors)
        pullback = found.pop()
        outputs = self.primal.read(found, tensors)
        captured = self._take_apart(pullback)
        self.count = len(outputs)
        number = torch.tensor(len(self.plans) - 1)
        kept = from_numpy(captured, common_device(self.label(), tensors))
        return [*outputs, number, *kept]

    def _call(self, arrays: list[Any]) -> list[Any]:
        """`[y, pullback]`."""
        args, kwargs = unflatten(self.primal.layout, arrays)
        found = find_again(rc.rrule, self.primal.primitive, args, kwargs, self.rule)
        return list(found.run(self.needs))

    def _take_apart(self, pullback: Any) -> list[Any]:
        """Arrays and numbers of a pullback, in copies; keeps how to make it again."""
        import numpy as np

        # Numbers are taken out as well: in a batch each example has its own.
        leaf = (np.ndarray, np.generic, bool, int, float, complex)
        plan, captured = convert(pullback, leaf=leaf)
        if plan[2] is not None:
            raise UnconvertibleClosureError(self.rule, plan[2])
        kinds = [type(x) if type(x) in _NUMBERS else None for x in captured]
        self.plans.append((plan, kinds))
        return [np.array(x) for x in captured]


class _Pull(_RuleJob):
    """Cotangents by a pullback in NumPy, one for every input."""

    def __init__(self, call: Any, spread: Callable[..., Any]) -> None:
        super().__init__(call.rrule)
        self.primitive, self.plans = call.primitive, call.plan
        self.layout, self.spread = call.result, spread

    def run(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """Rebuild the pullback and call it."""
        number, *arguments = tensors
        plan, kinds = self.plans[int(number)]

        def call(arrays: list[Any]) -> list[Any]:
            pairs = zip(arrays, kinds, strict=False)  # the rest is the cotangent
            residuals = [x if kind is None else kind(x.item()) for x, kind in pairs]
            seeds = iter(arrays[len(kinds) :])
            dy = (
                next(seeds)
                if self.layout is None
                else build_tangent(self.layout, seeds)
            )
            return [rebuild(plan, residuals)(dy)]

        return self.spread(_to_tensors(call_lent(self.primitive, call, arguments)))


class _Push(_RuleJob):
    """`(y, dy)` by an frule in NumPy: tangents of the result's tensors."""

    def __init__(self, rule: Any, primal: PrimalJob, needs: Any, count: int) -> None:
        super().__init__(rule)
        self.primal, self.needs, self.count = primal, needs, count

    def form(self) -> Any:
        """The layout of the result."""
        return self.primal.form()

    def run(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """Run the rule."""
        found = call_lent(self.primal.primitive, self._call, tensors)
        given = [found.pop()]
        outputs = self.primal.read(found, tensors)
        result = self.primal.result
        dys = read_tangents(self.rule, result, outputs, _to_tensors(given))
        pairs = zip(outputs, dys, strict=True)
        return [torch.zeros_like(x) if dx is None else dx for x, dx in pairs]

    def _call(self, arrays: list[Any]) -> list[Any]:
        """`[y, dy]`."""
        args, kwargs = unflatten(self.primal.layout, arrays[: self.count])
        call = FlatCall.within(self.primal.layout)
        found = find_again(rc.frule, self.primal.primitive, args, kwargs, self.rule)
        return list(found.run(call.tangents(arrays[self.count :]), self.needs))


def _to_tensors(found: list[Any]) -> Any:
    """The last item of a list, taken out of it, with tensors for its arrays."""
    value = rc.unthunk(found.pop())
    cls = type(value)
    if isinstance(value, (tuple, list)):
        items = list(value)
        del value
        made = [_to_tensors([items.pop(0)]) for _ in range(len(items))]
        return cls._make(made) if hasattr(cls, "_make") else cls(made)
    if isinstance(value, dict):
        keys, items = list(value), list(value.values())
        del value
        return {key: _to_tensors([items.pop(0)]) for key in keys}
    if hasattr(value, "__array__") and not isinstance(value, rc.AbstractTangent):
        found.append(value)
        del value
        return from_numpy(found, None)[0]
    return value


def start_host(call: Any, tensors: Sequence[Tensor]) -> tuple[Any, Sequence[Tensor]]:
    """The forward pass of a call whose rrule is NumPy-only."""
    layout = call.full_layout()
    job = _Forward(call.primitive, layout, call.needs, call.rrule)
    found = run_opaque(job, tensors)
    call.plan = job.plans
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

    job = _Pull(call, spread)
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
