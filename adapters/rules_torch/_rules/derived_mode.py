"""A mode without a rule of its own: the transpose of the other mode's rule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_torch._compat import (
    compiling_backward,
    forward_mode_active,
    functorch_active,
)
from rules_torch._config import CONFIG
from rules_torch._errors import HostRuleError, SelfTransposeError
from rules_torch._native_derivatives import transpose
from rules_torch._values.meta import has_tangent_space, zeros

from .check_result import check_pattern
from .cuts import watched
from .linearity import linearity

__all__ = ["transposed_pull", "transposed_push"]

Cotangents = list[Tensor | None]

_COMPILED = (
    "{}: the backward pass of eager code must not be compiled (compiled autograd) "
    "where the reverse rule is derived from an frule. Define an rrule, or compile the "
    "forward pass too."
)


def transposed_push(
    call: Any,
    tensors: Sequence[Tensor],
    seeds: Sequence[Tensor | None],
    wanted: Sequence[bool],
) -> Cotangents:
    """Reverse mode of a function that has only an frule."""
    found_rule = call.find_frule(tensors)
    if found_rule is None:
        raise _not_found(call, tensors, kind="rrule")
    if compiling_backward():
        raise rc.UnsupportedError(_COMPILED.format(call.primitive.table.label))
    if found_rule.rule.host:
        raise HostRuleError(found_rule.rule)
    chosen = [i for i, want in enumerate(wanted) if want]
    primals = tensors
    if not (torch.is_grad_enabled() or functorch_active() or forward_mode_active()):
        primals = [x.detach() for x in tensors]  # the first derivative, and no other
    outputs = [i for i, meta in enumerate(call.outputs) if has_tangent_space(meta)]

    def pushforward(*dxs: Tensor) -> tuple[Tensor, ...]:
        tangents: Cotangents = [None] * len(tensors)
        for i, dx in zip(chosen, dxs, strict=True):
            tangents[i] = dx
        dys = call.push(primals, tangents)
        return tuple(dys[i] for i in outputs)

    points = [tensors[i] for i in chosen]
    with _once(call, found_rule.rule):
        given = [seeds[i] for i in outputs]
        check = linearity(call, found_rule.rule, chosen)
        found = iter(transpose(pushforward, points, given, check))
    return [next(found) if want else None for want in wanted]


# A checkpoint that runs again inside a transposition may transpose the same frule. An
# frule that asks for its own transpose, of arguments as large or larger, never ends.
_NESTED = 3

# The calls whose frules are being transposed here.
_TRANSPOSED: ContextVar[tuple[Any, ...]] = ContextVar("_TRANSPOSED", default=())


@contextmanager
def _once(call: Any, rule: Any) -> Iterator[None]:
    """Refuse to transpose an frule inside its own transposition.

    Raises:
        SelfTransposeError: It is asked for.
    """
    shapes = [(meta[0], meta[1]) for meta in call.inputs]
    key = (call.primitive, call.layout, shapes)
    running = _TRANSPOSED.get()
    around = [
        other == key or _is_smaller(other[2], shapes)
        for other in running
        if other[0] is key[0]
    ]
    if sum(around) >= _NESTED:
        raise SelfTransposeError(rule)
    token = _TRANSPOSED.set((*running, key))
    try:
        yield
    finally:
        _TRANSPOSED.reset(token)


def _is_smaller(shapes: Any, others: Any) -> bool:
    """Whether arguments have fewer entries; sizes that a compiler lacks do not tell."""
    sizes = [[n for shape, _ in part for n in shape] for part in (shapes, others)]
    if not all(type(n) is int for part in sizes for n in part):
        return False
    counts = [sum(math.prod(shape) for shape, _ in part) for part in (shapes, others)]
    return counts[0] < counts[1]


def transposed_pull(
    call: Any,
    residuals: Sequence[Tensor],
    tensors: Sequence[Tensor],
    tangents: Sequence[Tensor | None],
) -> Cotangents:
    """Forward mode of a function that has only an rrule."""
    if call.rrule is None:
        raise _not_found(call, tensors, kind="frule")
    if call.rrule.host:
        raise HostRuleError(call.rrule)
    chosen = [i for i, dx in enumerate(tangents) if dx is not None]
    outputs = [i for i, meta in enumerate(call.outputs) if has_tangent_space(meta)]
    wanted = [dx is not None for dx in tangents]

    def pullback(*dys: Tensor) -> tuple[Tensor, ...]:
        seeds: Cotangents = [None] * len(call.outputs)
        for i, dy in zip(outputs, dys, strict=True):
            seeds[i] = dy
        dxs = watched(call.rrule, call.finish, residuals, seeds, wanted)
        return tuple(
            torch.zeros_like(tensors[i]) if dx is None else dx
            for i, dx in ((i, dxs[i]) for i in chosen)
        )

    points = [zeros(call.outputs[i]) for i in outputs]
    check_pattern(call)
    check = linearity(call, call.rrule, chosen)
    pushed = transpose(pullback, points, [tangents[i] for i in chosen], check)
    found: Cotangents = [None] * len(call.outputs)
    for i, dy in zip(outputs, pushed, strict=True):
        found[i] = zeros(call.outputs[i]) if dy is None else dy
    return found


def _not_found(call: Any, tensors: Sequence[Tensor], *, kind: str) -> rc.RuleNotFound:
    args, kwargs = call.arguments(tensors)
    return rc.RuleNotFound.build(kind, call.primitive, args, kwargs, CONFIG)
