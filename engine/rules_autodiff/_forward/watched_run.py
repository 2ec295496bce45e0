"""A pass in which zeros are watched: those that do not move, and the others."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rules_autodiff._own_rules.arithmetic import sign
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._python.values import is_number
from rules_core import AbstractZero, ZeroTangent

from .forward import ForwardRun
from .lanes import check_equal, nothing, rewinder
from .still import is_nan, is_numeric, product_of
from .watched import finite_part, instead, jumps, mixed, probe_of, probed, settled

__all__ = ["WatchedRun"]

STEPS = frozenset({sign, np.sign})
# Functions without poles: a value of theirs that is infinite is too large, and stays.
WITHOUT_POLES = frozenset({
    operator.add, operator.mul, operator.sub, np.add, np.cosh, np.exp, np.exp2,
    np.expm1, np.multiply, np.sinh, np.square, np.subtract,
})  # fmt: skip


class WatchedRun(ForwardRun):
    """One forward pass with ``count`` tangents, and the probe of each beside them.

    Where a zero of what moves met an infinite partial derivative the tangent is NaN;
    where an infinite tangent met a factor that is zero and does not move it is zero.
    So it is where the value became too large before, and another function is flat.
    """

    def __init__(self, below: Any = PLAIN, count: int = 1, width: int | None = None):
        super().__init__(below, 2 * count if width is None else width)
        self.count = count

    def begin(self, x: Any, directions: list[Any]) -> None:
        given = [self.canonical(x, dx) for dx in directions]
        self.assign(x, [*given, *map(probe_of, given)])

    def pushed_by_core(self, rule: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
        lanes = range(self.width)
        rows = [tuple([self.short_tangent(x, lane) for x in args]) for lane in lanes]
        found = [
            self.below.call(rule.frule, row, *args)
            for row in rows[: self.count] or rows[:1]
        ]
        y = found[0][0]

        def push(dxs: Any) -> Any:
            return self.below.call(rule.frule, dxs, *args)[1]

        call = Pushed(self.below, rule.function, args, {}, y, rows, push)
        dys = call.tangents([dy for _, dy in found[: self.count]])
        return y, [*dys, *map(call.probe, rows[self.count :])]

    def pushed_by_rule(
        self, found: Any, f: Any, args: tuple[Any, ...], needs: tuple[bool, ...]
    ) -> tuple[Any, Any]:
        rewind = rewinder(f, found.args) if self.width > 1 else nothing
        rule, lanes = found.rule, range(self.width)
        rows = [tuple([self.rule_tangent(rule, x, i) for x in args]) for i in lanes]
        y, dys = None, []

        def push(dxs: Any) -> Any:
            rewind()
            return self.canonical(y, self.below.call(found.run, dxs, needs)[1], found)

        for lane, row in enumerate(rows[: self.count] or rows[:1]):
            if lane:
                rewind()
            value, dy = self.below.call(found.run, row, needs)
            y = value if lane == 0 else y
            check_equal(y, value, f)
            dys.append(self.canonical(y, dy, found))
        own = 0 if found.bound else 1  # after the tangent of the function
        call = Pushed(
            self.below, f, args[own:], found.kwargs, y, [row[own:] for row in rows],
            lambda dxs: push((*rows[0][:own], *dxs)),
        )  # fmt: skip
        dys = call.tangents(dys[: self.count])
        return y, [*dys, *[call.probe(row, rule) for row in call.rows[self.count :]]]

    def pushed_by_adjoint(self, push: Any, y: Any, args: tuple[Any, ...]) -> Any:
        rows = [self.active_row(args, lane) for lane in range(self.width)]
        dys = super().pushed_by_adjoint(push, y, args)

        def pushed(dxs: Any) -> Any:
            return self.canonical(y, push(dxs))

        settled_ = settled(self.below, y, rows, dys[: self.count], pushed)
        return [*settled_, *dys[self.count :]]


@dataclass
class Pushed:
    """A call with the tangents of its arguments.

    Attributes:
        below: The level that computes.
        f: The function.
        args: Its arguments.
        kwargs: Its options.
        y: Its result.
        rows: For each lane the tangents of the arguments, and then their probes.
        push: The tangent of the result, of tangents of the arguments.
    """

    below: Any
    f: Any
    args: tuple[Any, ...]
    kwargs: Any
    y: Any
    rows: list[Any]
    push: Callable[[Any], Any]

    def __post_init__(self) -> None:
        self.product = product_of(self.f, self.args, self.kwargs)

    def probe(self, row: Any, rule: Any = None) -> Any:
        """The probe of the result."""
        if self.product is not None:
            found = mixed(self.y, self.product.moving(row))
        elif self.f in STEPS:
            found = jumps(self.y, self.args[0], row[0])
        elif rule is None:
            found = self.push(row)
        else:
            found = probed(rule, self.y, row, self.push)
        return self.staying(row, found)

    def staying(self, row: Any, probe: Any) -> Any:
        """A probe of the result without what has become too large, and so stays."""
        if self.f not in WITHOUT_POLES or isinstance(probe, AbstractZero):
            return probe
        large = np.isinf(self.y)
        if not np.any(large):
            return probe
        for x, moves in zip(self.args, map(is_nan, row), strict=True):
            if is_numeric(x):
                large = large & ~(np.isinf(x) & moves)
        return mixed(self.y, np.isnan(probe) & ~large)

    def tangents(self, dys: list[Any]) -> list[Any]:
        """The tangents: NaN, or zero, where a zero met infinity."""
        probes = self.rows[len(dys) :]
        if self.product is not None:
            for lane, row in enumerate(self.rows[: len(dys)]):
                reach = self.product.infinite(row, probes[lane])
                if reach is not None and not np.all(reach):
                    finite = tuple([finite_part(self.below, dx) for dx in row])
                    dys[lane] = instead(self.below, reach, dys[lane], self.push(finite))
        for lane, row in enumerate(self.rows[: len(dys)]):
            large = [*map(too_large, self.args, row, probes[lane])]
            if any(map(np.any, large)) and is_numeric(self.y):
                dys[lane] = self.at_infinity(dys[lane], row, large)
        return settled(self.below, self.y, self.rows, dys, self.push)

    def at_infinity(self, dy: Any, row: Any, large: list[Any]) -> Any:
        """A tangent without that of values that are too large, where it is flat."""
        pairs = [*zip(row, large, strict=True)]
        with np.errstate(all="ignore"):
            slope = self.push(tuple([ones_at(dx, mask) for dx, mask in pairs]))
        if not is_numeric(slope):
            return dy
        flat = np.equal(slope, 0) & np.isfinite(self.y)
        if not np.any(flat):
            return dy
        rest = tuple([without_some(self.below, dx, mask) for dx, mask in pairs])
        return instead(self.below, np.logical_not(flat), dy, self.push(rest))


def too_large(x: Any, dx: Any, probe: Any) -> Any:
    """Where a value is infinite, as it has become too large, and so is its tangent.

    One that is NaN is not known.
    """
    if not is_numeric(x) or not is_numeric(dx):
        return False
    return np.isinf(x) & np.isinf(dx) & np.logical_not(is_nan(probe))


def ones_at(dx: Any, mask: Any) -> Any:
    """A tangent of ones in some places."""
    if not is_numeric(dx):
        return ZeroTangent()
    return type(dx)(mask) if is_number(dx) else np.asarray(mask).astype(dx.dtype)


def without_some(below: Any, dx: Any, mask: Any) -> Any:
    """A tangent with zeros in some places."""
    if not np.any(mask):
        return dx
    zero = type(dx)(0) if is_number(dx) else np.zeros_like(dx)
    return instead(below, np.logical_not(mask), dx, zero)
