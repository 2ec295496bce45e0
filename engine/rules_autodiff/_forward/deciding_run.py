"""The level on which a gradient is computed again, to find out which zeros stay.

A zero cotangent is strong where it is zero nearby too: it is a constant, or a selection
has made it zero. Where it is the value of a derivative that moves with the arguments,
its product with infinity is NaN, as in forward mode.
"""

from types import MethodType
from typing import Any

import numpy as np

from rules_autodiff._hooks.calls import Transform
from rules_autodiff._own_rules.arithmetic import strong, strong_quotient
from rules_autodiff._python.leaves import leaves
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._python.values import INERT, is_float_array, is_number
from rules_core import AbstractThunk, AbstractZero, RRuleCall, unthunk, zero_tangent

from .watched import filled, without
from .watched_run import WatchedRun

__all__ = ["DecidingRun"]

PRODUCTS = frozenset({strong, strong_quotient})


class DecidingRun(WatchedRun):
    """A forward pass with one probe: NaN where a value moves with the arguments.

    The tape of the gradient is recorded above it, and its reverse pass runs on it.
    """

    def __init__(self, below: Any = PLAIN):
        super().__init__(below, 0, 1)

    def begin(self, x: Any, directions: Any) -> None:
        """Note what moves of an argument: all, or by masks of its leaves."""
        if directions[0] is True:
            self.mark(x, {})
            return
        for leaf, moves in zip(leaves(x), directions[0], strict=True):
            if np.any(moves):
                self.assign(leaf, [filled(zero_tangent(leaf), moves)])

    def mark(self, x: Any, seen: dict[int, Any]) -> None:
        """Note that everything in a value moves."""
        if is_number(x) or is_float_array(x):
            self.assign(x, [filled(zero_tangent(x), True)])
        elif type(x) not in INERT and id(x) not in seen:
            seen[id(x)] = x
            inside = self.structure(x)
            for value in () if inside is None else inside.values:
                self.mark(value, seen)

    def pushed_by_core(self, rule: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
        y, (probe,) = super().pushed_by_core(rule, args)
        if rule.function in PRODUCTS:
            d, p = args
            y = without(self.below, y, y, self.known(rule.function, d, p))
        return y, [probe]

    def moves(self, x: Any) -> Any:
        """Where a value moves."""
        probe = self.short_tangent(x, 0)
        return False if isinstance(probe, AbstractZero) else np.isnan(probe)

    def known(self, f: Any, d: Any, p: Any) -> Any:
        """Where a product with strong zeros is what it says."""
        moves = self.moves(d)
        with np.errstate(all="ignore"):
            finite = np.isfinite(p if f is strong else np.divide(1.0, p))
        large = np.isinf(p) & np.logical_not(self.moves(p))
        return finite | large | np.not_equal(d, 0) | np.logical_not(moves)

    # Rules whose code cannot be followed: what they make of something moving moves.

    def call(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        if type(f) is not MethodType or f.__func__ is not RRuleCall.run:
            return super().call(f, *args, **kwargs)
        (y, pullback), followed = self.tried(f, args, kwargs)
        if not followed:
            self.mark(y, {})
        return y, Tried(pullback, followed)

    def tried(self, f: Any, args: Any, kwargs: Any) -> tuple[Any, bool]:
        """The result of a call, run below if it cannot be followed; whether it can."""
        failure = self.failure
        try:
            return super().call(f, *args, **kwargs), True
        except Exception:
            self.failure = failure
            return self.below.call(f, *args, **kwargs), False

    def pulled(self, pullback: Any, dy: Any, followed: bool) -> Any:
        """The cotangents of a rule."""
        if followed:
            found, followed = self.tried(pullback, (dy,), {})
            if followed:
                return found
        else:
            found = self.below.call(pullback, dy)
        if self.is_active(dy) or any(np.any(leaf) for leaf in leaves(dy)):
            found = forced(found, self.below)
            self.mark(found, {})
        return found


class Tried(Transform):
    """The pullback of a rule, followed if that is possible."""

    def __init__(self, pullback: Any, followed: bool):
        self.pullback, self.followed = pullback, followed

    def run_on(self, below: Any, dy: Any) -> Any:
        if isinstance(below, DecidingRun):
            return below.pulled(self.pullback, dy, self.followed)
        return below.call(self.pullback, dy)

    def __call__(self, dy: Any) -> Any:
        return self.pullback(dy)


def forced(found: Any, below: Any) -> Any:
    """Cotangents with their thunks computed."""
    if isinstance(found, AbstractThunk):
        return forced(below.call(unthunk, found), below)
    if type(found) is tuple:
        return tuple([forced(part, below) for part in found])
    return found
