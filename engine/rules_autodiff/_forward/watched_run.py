"""A pass in which zero tangents are watched: those that do not move, and the others."""

from functools import partial
from typing import Any

from rules_autodiff._python.plain_level import PLAIN

from .forward import ForwardRun
from .lanes import check_equal, nothing, rewinder
from .watched import probe_of, probed, settled

__all__ = ["WatchedRun"]


class WatchedRun(ForwardRun):
    """One forward pass with ``count`` tangents, and the probe of each beside them.

    Where a zero of what moves met an infinite partial derivative the tangent is NaN.
    """

    def __init__(self, below: Any = PLAIN, count: int = 1):
        super().__init__(below, 2 * count)
        self.count = count

    def begin(self, x: Any, directions: list[Any]) -> None:
        given = [self.canonical(x, dx) for dx in directions]
        self.assign(x, [*given, *map(probe_of, given)])

    def pushed_by_core(self, rule: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
        y, dys = super().pushed_by_core(rule, args)
        rows = [
            tuple([self.short_tangent(x, lane) for x in args])
            for lane in range(self.width)
        ]
        push = partial(self.below.call, rule.frule)
        return y, settled(self.below, y, rows, dys, lambda dxs: push(dxs, *args)[1])

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

        for lane, row in enumerate(rows[: self.count]):
            if lane:
                rewind()
            value, dy = self.below.call(found.run, row, needs)
            y = value if lane == 0 else y
            check_equal(y, value, f)
            dys.append(self.canonical(y, dy, found))
        dys += [probed(rule, y, row, push) for row in rows[self.count :]]
        return y, settled(self.below, y, rows, dys, push)

    def pushed_by_adjoint(self, push: Any, y: Any, args: tuple[Any, ...]) -> Any:
        rows = [self.active_row(args, lane) for lane in range(self.width)]
        dys = super().pushed_by_adjoint(push, y, args)

        def pushed(dxs: Any) -> Any:
            return self.canonical(y, push(dxs))

        return settled(self.below, y, rows, dys, pushed)
