"""Rules for functions that write into their arguments, in Mooncake's form."""

from collections.abc import Callable
from typing import Any, TypeVar, final

import numpy as np

from rules_autodiff._duals import CoDual, Dual, NoFData, NoRData
from rules_autodiff._slots import add_to, take_from
from rules_autodiff._values import INERT, is_float_array, is_number
from rules_core import (
    AbstractZero,
    NoTangent,
    RuleDefinitionError,
    structure,
)

__all__ = ["MutatingEntry", "codual", "frule_mutating", "rrule_mutating"]

F = TypeVar("F", bound=Callable[..., Any])


@final
class MutatingRules:
    """The mutating rules of one mode: `define(f)` registers, `find(f)` looks up."""

    def __init__(self, kind: str):
        self.kind = kind
        self.rules: dict[Any, Callable[..., Any]] = {}

    def define(self, f: Any) -> Callable[[F], F]:
        """Register the decorated function as the mutating rule of `f`.

        `@rrule_mutating.define(f)`: the rule takes a `CoDual` for `f` and one for each
        argument and returns a `CoDual` and a pullback. The pullback gets the rdata of
        the result, adds to the fdata of the arguments, undoes what the rule wrote, and
        returns one rdata per argument, `f` included. `@frule_mutating.define(f)`: the
        rule takes `Dual`s and returns a `Dual`.

        Raises:
            RuleDefinitionError: `f` is not hashable, or has a rule from another place.

        >>> import numpy as np
        >>> from rules_autodiff import CoDual, NoFData, NoRData, grad, rrule_mutating
        >>> def double(x):
        ...     x *= 2
        >>> @rrule_mutating.define(double)
        ... def double_rule(f, x):
        ...     x.primal[...] *= 2
        ...
        ...     def double_pullback(_):
        ...         x.primal[...] /= 2
        ...         x.fdata[...] *= 2
        ...         return NoRData(), NoRData()
        ...
        ...     return CoDual(None, NoFData()), double_pullback
        >>> def program(x):
        ...     y = x * 1.0
        ...     double(y)
        ...     return y @ y
        >>> grad(program)(np.array([1.0, 2.0]))
        array([ 8., 16.])
        """

        def register(rule: F) -> F:
            old = self.rules.get(f)
            if old is not None and place_of(old) != place_of(rule):
                message = (
                    f"{self.kind} for {f!r} must be defined once, but is defined by "
                    f"{'.'.join(place_of(old))} and by {'.'.join(place_of(rule))}."
                )
                raise RuleDefinitionError(message)
            self.rules[f] = rule
            return rule

        return register

    def find(self, f: Any) -> Callable[..., Any] | None:
        """The rule of `f`, or None."""
        if not self.rules:
            return None
        try:
            return self.rules.get(f)
        except TypeError:
            return None


def place_of(rule: Any) -> tuple[str, str]:
    return rule.__module__, rule.__qualname__


rrule_mutating = MutatingRules("rrule_mutating")
frule_mutating = MutatingRules("frule_mutating")


# reverse mode


class MutatingEntry:
    """A call that a mutating rule answered; its pullback also undoes its writes."""

    __slots__ = ("fdata", "out", "pullback", "slots", "value")

    def __init__(self, pullback: Any, slots: Any, out: Any, value: Any, fdata: Any):
        self.pullback, self.slots, self.out = pullback, slots, out
        self.value, self.fdata = value, fdata

    def reverse(self, below: Any) -> None:
        rdata: Any = NoRData()
        if type(self.out) is list:
            found = take_from(self.out, below)
            rdata = zero_like(self.value) if found is None else found
        for slot, ct in zip(self.slots, self.results(rdata, below), strict=True):
            if type(slot) is list and not isinstance(ct, NoRData):
                add_to(slot, ct, below)
        if isinstance(self.fdata, np.ndarray):
            below.store_item(0.0, self.fdata, Ellipsis)

    def results(self, rdata: Any, below: Any) -> Any:
        found = below.call(self.pullback, rdata)
        if type(found) is not tuple or len(found) != len(self.slots):
            message = (
                f"The pullback of a mutating rule must return a tuple of "
                f"{len(self.slots)} rdata, one for the function and one per argument, "
                f"but returned {found!r}."
            )
            raise RuleDefinitionError(message)
        return found

    def undo(self, below: Any) -> None:
        zero = NoRData() if type(self.out) is not list else zero_like(self.value)
        self.results(zero, below)


def zero_like(value: Any) -> Any:
    return value * 0.0


def codual(run: Any, x: Any, memo: dict[int, Any]) -> CoDual[Any, Any]:
    """An argument of a mutating rule in reverse mode."""
    return CoDual(x, fdata_of(run, x, memo))


def fdata_of(run: Any, x: Any, memo: dict[int, Any]) -> Any:
    if type(x) in INERT or is_number(x):
        return NoFData()
    if id(x) in memo:
        return memo[id(x)]
    if is_float_array(x):
        memo[id(x)] = found = run.shadow_of(x)
        return found
    level = None if callable(x) else structure(x)
    if level is None:
        return NoFData()
    parts = [fdata_of(run, value, memo) for value in level.values]
    if all(isinstance(part, NoFData) for part in parts):
        return NoFData()
    memo[id(x)] = found = level.rebuild(parts)
    return found


def call_mutating_reverse(run: Any, rule: Any, f: Any, args: Any) -> Any:
    """Run a mutating rule and note its pullback."""
    memo: dict[int, Any] = {}
    duals = [codual(run, x, memo) for x in (f, *args)]
    slots = [run.slot(x) if is_number(x) else None for x in (f, *args)]
    given = [value.fdata for value in duals]
    result = run.below.call(rule, *duals)
    if not (isinstance(result, tuple) and isinstance(result[0], CoDual)):
        message = (
            f"The mutating rule {rule.__qualname__} must return a CoDual and a "
            f"pullback, but returned {result!r}."
        )
        raise RuleDefinitionError(message)
    out, pullback = result
    check_aliases(rule, duals, out)
    y = out.primal
    fdata = None
    slot = None
    if is_number(y):
        y = run.below.box(y)
        slot = run.watch(y)
    elif is_float_array(y) and not any(out.fdata is own for own in given):
        fdata = run.adopt_shadow(y, out.fdata)
    run.note_mutating(MutatingEntry(pullback, slots, slot, y, fdata))
    return y


def check_aliases(rule: Any, duals: Any, out: CoDual[Any, Any]) -> None:
    """What aliases in the program must alias in the derivative, and nothing else."""
    if not (is_float_array(out.primal) and isinstance(out.fdata, np.ndarray)):
        return
    for place, given in enumerate(duals):
        if not is_float_array(given.primal):
            continue
        primal = np.may_share_memory(out.primal, given.primal)
        fdata = np.may_share_memory(out.fdata, given.fdata)
        if primal != fdata:
            message = (
                f"The result of the mutating rule {rule.__qualname__} must alias "
                f"argument {place} in its fdata where it does in its primal, but the "
                f"primals {'share' if primal else 'do not share'} memory and the fdata "
                f"{'do' if fdata else 'do not'}. Return CoDual(x.primal, x.fdata) of "
                "the argument, or the same view of both."
            )
            raise RuleDefinitionError(message)


def call_mutating_forward(run: Any, rule: Any, f: Any, args: Any) -> Any:
    """Run a mutating rule on duals."""
    duals = [Dual(x, live_tangent(run, x)) for x in (f, *args)]
    out = run.below.call(rule, *duals)
    if not isinstance(out, Dual):
        message = (
            f"The mutating rule {rule.__qualname__} must return a Dual, but returned "
            f"{out!r}."
        )
        raise RuleDefinitionError(message)
    y = out.primal
    if is_number(y):
        y = run.below.box(y)
        run.assign(y, [out.tangent])
    elif is_float_array(y):
        if run.flow(y) is None and not isinstance(out.tangent, AbstractZero):
            run.assign(y, [out.tangent])
    else:
        run.assign(y, [run.canonical(y, out.tangent)])
    return y


def live_tangent(run: Any, x: Any) -> Any:
    """The tangent of an argument; for an array one that may be written to."""
    if is_float_array(x):
        flow = run.flow(x) or run.new_flow(x)
        return flow.window(x, 0)
    return NoTangent() if callable(x) else run.tangent(x, 0)
