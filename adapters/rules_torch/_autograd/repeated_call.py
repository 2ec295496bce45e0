"""autograd.Function for rules whose pullback has one code and one set of captures.

Nearly all rules are of this kind: the pullback of each call has one code object, and
captures the corresponding arguments, results and intermediate values. So one call is
taken apart, in the general way; later calls are compared with it, which takes far less
time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from types import FunctionType
from typing import Any, NamedTuple

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import reads_of, reads_of_rule
from rules_torch._closures.convert import TENSORS, is_bare, rebuild
from rules_torch._closures.parts import captured
from rules_torch._compat import (
    apply_function,
    autocast_active,
    is_view,
    keep_out_of_graphs,
    unwrap_dead,
)
from rules_torch._errors import blame_rule
from rules_torch._rules.residuals import ResidualCall

from .eager import LEFT_OUT, apply_eager, attached, pull

__all__ = ["Slot", "Unlike", "apply_quick"]

_grad_enabled = torch.is_grad_enabled
_WHOLE = frozenset(
    {torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8}
)


class Unlike(Exception):
    """A call is not like the last one.

    Attributes:
        pair: What the rule returned; None if it has to run again, to be refused.
    """

    def __init__(self, pair: Any) -> None:
        self.pair = pair


class Slot:
    """A rule of a primitive, and how its calls go.

    Attributes:
        primitive: The primitive.
        rule: The rule.
        function: What calls the rule.
        quick: Whether calls can be quick.
        habit: How the last call went that was taken apart.
        reads: Whether the rule, or what it calls again, reads what may change.
    """

    __slots__ = ("function", "habit", "primitive", "quick", "reads", "rule")

    def __init__(self, primitive: rc.Primitive, rule: Any) -> None:
        self.primitive, self.rule = primitive, rule
        self.function = _function_of(primitive, rule)
        self.quick = rule.plain and not rule.host
        self.habit: Habit | None = None
        again = reads_of(rule.again)
        self.reads = again is not None or reads_of_rule(rule) is not None

    def take_apart(self, args: Sequence[Tensor], pair: Any = None) -> Any:
        """A call in the general way, with which those after it are compared."""
        call = ResidualCall(self.primitive, None, self.rule)
        call.found = pair
        tensors = [*map(unwrap_dead, args)]
        y = call.result_of(apply_eager(call, *tensors))
        if pair is not None:
            self.habit = _habit(call, tensors, pair)
            self.quick = self.habit is not None
        return y


def _function_of(primitive: rc.Primitive, rule: Any) -> Callable[..., Any]:
    if primitive.table.primitive is primitive:
        return rule.function

    def function(*tensors: Tensor) -> Any:
        with primitive.acting():
            return rule.function(*tensors)

    return function


class Habit:
    """How a call of a rule went: arguments, result and residuals, in this order.

    Attributes:
        count: How many arguments there are.
        code: Of the pullback.
        scope: The globals of the pullback.
        kind: The class of the pullback.
        size: How many residuals there are.
        distinct: How many different objects there are.
        same: Places where the same object is.
        extras: Picks the residuals that are neither in nor out.
        saves: Picks what is to be saved.
        inputs: Picks the arguments out of what was saved; None if they are not all.
        residuals: Picks the residuals out of what was saved.
        own: Whether the primitive is that of its function (`Primitive.acting`).
        model: The call.
    """

    __slots__ = (
        "code", "count", "distinct", "extras", "inputs", "kind", "model", "own",
        "residuals", "same", "saves", "scope", "size",
    )  # fmt: skip

    def __init__(self, call: ResidualCall, pullback: Any, first: Sequence[int]) -> None:
        head, residuals = _parts(pullback)
        self.model, self.kind, self.size = call, type(pullback), len(residuals)
        self.code, self.scope = head.__code__, head.__globals__
        self.count, self.distinct = len(call.inputs), len(set(first))
        count = self.count
        self.same = [(i, j) for i, j in enumerate(first) if i != j]
        new = [i for i, j in enumerate(first) if i == j > count]
        saved = [*range(count), *new, *[count for _ in call.kept]]
        if not call.extras:
            saved = [saved[i] for i in call.sources]
        whole = set(saved).issuperset(range(count))
        self.extras, self.saves = _picker(new), _picker(saved)
        places = [i % len(saved) for i in call.sources]  # outputs count from the end
        self.residuals = _picker(places) if call.extras else tuple
        self.own = call.primitive.table.primitive is call.primitive
        self.inputs = _picker([*map(saved.index, range(count))]) if whole else None

    def again(self, inputs: Sequence[Any], dy: Tensor) -> ResidualCall:
        """The call of which a backward pass is the other half."""
        model = self.model
        call = ResidualCall(model.primitive, None, model.rrule)
        call.autocast, call.plan = None, model.plan
        call.inputs = [(x.shape, x.dtype, x.device) for x in inputs]
        call.outputs = [(dy.shape, dy.dtype, dy.device)]
        call.kept, call.extras, call.sources = model.kept, model.extras, model.sources
        call.numbers = False
        return call


class _Form(NamedTuple):
    """Properties required of an argument that was not saved."""

    shape: torch.Size
    dtype: torch.dtype
    device: torch.device


def _picker(places: Sequence[int]) -> Callable[[Any], Sequence[Any]]:
    if len(places) > 1:
        return itemgetter(*places)
    start = places[0] if places else 0
    return itemgetter(slice(start, start + len(places)))


class QuickFunction(torch.autograd.Function):
    """A primitive on tensors alone, with a rule that gets nothing but them."""

    @staticmethod
    def forward(ctx: Any, slot: Slot, *tensors: Tensor) -> Any:
        """The result; saves what the pullback captures.

        Raises:
            Unlike: The call does not go as the last one.
        """
        try:
            pair, habit = slot.function(*tensors), slot.habit
        except Exception as error:
            blame_rule(slot.rule, error, tensors)
            raise
        if type(pair) is not tuple or len(pair) != 2:
            raise Unlike(None)
        y, pullback = pair
        if habit is None or type(y) is not Tensor or type(pullback) is not habit.kind:
            raise Unlike(pair)
        if y.dtype in _WHOLE:  # converted if the function is declared to return floats
            raise Unlike(pair)
        head, residuals = _parts(pullback)
        # Its defaults do not count: given as many arguments, the same code needs none.
        if (
            len(residuals) != habit.size
            or type(head) is not FunctionType
            or head.__code__ is not habit.code
            or head.__globals__ is not habit.scope
            or not TENSORS.issuperset(map(type, residuals))
        ):
            raise Unlike(pair)
        values = (*tensors, y, *residuals)
        if len({*map(id, values)}) != habit.distinct:
            raise Unlike(pair)
        for i, j in habit.same:
            if values[i] is not values[j]:
                raise Unlike(pair)
        for extra in habit.extras(values):
            if extra.requires_grad:
                raise Unlike(pair)
        if not is_view(y):  # as `let_go`; nothing is written down here
            y = y.detach()
        ctx.habit = habit
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*habit.saves((*tensors, y, *residuals)))
        if habit.inputs is None:
            ctx.inputs = [_Form(x.shape, x.dtype, x.device) for x in tensors]
        return y

    @staticmethod
    def backward(ctx: Any, dy: Tensor | None) -> Any:
        """Cotangents by the rrule, in the general way unless they fit as they are."""
        habit = ctx.habit
        if dy is None:
            return (None,) * (habit.count + 1)
        saved, wanted = ctx.saved_tensors, ctx.needs_input_grad
        inputs = ctx.inputs if habit.inputs is None else habit.inputs(saved)
        if not habit.own or _grad_enabled() or autocast_active():
            return pull(ctx, habit.again(inputs, dy), saved, (dy,))
        try:
            result = rebuild(habit.model.plan, habit.residuals(saved))(dy)
        except Exception as error:
            blame_rule(habit.model.rrule, error, part="the pullback of ")
            raise
        dxs = _as_they_are(result, inputs, wanted)
        if dxs is None:
            call = habit.again(inputs, dy)
            found = call.spread(result, wanted[1:], ctx)
            dxs = [None, *attached(call, found, wanted[1:])]
        return tuple(dxs)


apply_quick = apply_function(QuickFunction)
keep_out_of_graphs(QuickFunction.backward, LEFT_OUT)


def _as_they_are(
    result: Any, inputs: Sequence[Any], wanted: Sequence[bool]
) -> list[Tensor | None] | None:
    """The answer of a pullback, if all that is wanted fits its argument."""
    if type(result) is not tuple or len(result) != len(inputs) + 1:
        return None
    found: list[Tensor | None] = [None]
    for x, dx, want in zip(inputs, result[1:], wanted[1:], strict=True):
        if not want:
            found.append(None)
        elif isinstance(dx, Tensor) and dx.dtype is x.dtype and dx.shape == x.shape:
            found.append(dx)
        else:
            return None
    return found


def _parts(pullback: Any) -> tuple[Any, Sequence[Any]]:
    """The function of a pullback, and what it is to be given or has captured."""
    if type(pullback) is rc.Pullback:
        return pullback.fn, pullback.residuals
    return pullback, captured(pullback)


def _habit(call: ResidualCall, tensors: Sequence[Tensor], pair: Any) -> Habit | None:
    """The form that later calls are expected to have; None if too much may differ."""
    y, pullback = pair
    if type(y) is not Tensor or call.plan is None or not is_bare(call.plan):
        return None
    if y.dtype in _WHOLE:
        return None
    values = (*tensors, y, *_parts(pullback)[1])
    ids = [*map(id, values)]
    first = [*map(ids.index, ids)]
    if first[len(tensors)] < len(tensors):  # the result is an argument
        return None
    habit = Habit(call, pullback, first)
    return None if any(x.requires_grad for x in habit.extras(values)) else habit
