"""Pullbacks: by straight-line code if there is some, otherwise by a tape."""

from collections.abc import Callable
from typing import Any

from rules_autodiff._boundary.directions import check_direction, check_function
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._tape.recording import Recording
from rules_autodiff._transforms.derived_function import on_plain
from rules_autodiff._transforms.linear_map import Kept, agree, refuse_other_value
from rules_autodiff.straight._tier.arguments import (
    check_any,
    check_flat,
    differentiated,
)
from rules_autodiff.straight._tier.left import PINNED, asked, leave
from rules_autodiff.straight._tier.tier import (
    Left,
    Pass,
    check_plain,
    check_tier,
    not_straight,
)
from rules_core import NoTangent

from .grad import split_aux

__all__ = ["VJP", "by_tier", "vjp"]


def by_tier(point: Any, level: Any) -> Any:
    """The value of a program by straight-line code, or else by a recording."""
    point.passed = None
    if point.tier != "tape":
        try:
            return point.start_straight(level)
        except Left as error:
            if point.tier in PINNED:
                raise not_straight(point.f, error) from None
    return point.record(level)


class VJP(Kept):
    """The pullback of a `vjp`: may be called again, and in any order.

    It keeps the tape and the residuals of rules alive. If the program writes to its
    arguments, a call undoes the writes, as the reverse pass does; the next call repeats
    them first.
    """

    has_aux = False
    tier = "tape"
    passed: Pass | None = None  # a run of straight-line code, instead of a recording

    start = by_tier

    def start_straight(self, level: Any) -> Any:
        check_plain(level, has_aux=self.has_aux)
        args, now = self.args, asked(self.tier)
        active = differentiated(args)
        check_any(active, args)
        check_flat([x for i, x in enumerate(args) if i not in active])
        passed = Pass(
            self.f, args, self.kwargs, active, now=now, writing=self.tier in PINNED
        )
        ruled = passed.written.unit.ruled
        if self.tier not in PINNED and any(x.reads_variables() for x in ruled):
            leave("a rule reads variables, which may be others at the pullback")
        self.passed, self.out = passed, passed.output
        return self.out

    def record(self, level: Any) -> Any:
        args = range(len(self.args))
        self.recording = Recording(level, self.f, self.args, self.kwargs, args)
        self.out, _ = split_aux(self.recording, self.has_aux)
        return self.recording.value()

    def apply(self, level: Any, dy: Any) -> Any:
        check_direction(self.out, dy, "pullback: the cotangent of the result")
        if self.passed is not None:
            try:
                return self.back_straight(self.passed, level, dy)
            except Left as error:
                if self.tier in PINNED:
                    raise not_straight(self.f, error) from None
            self.record_late(self.passed.output)
        return self.recording.pull(self.out, dy, level)

    def back_straight(self, passed: Pass, level: Any, dy: Any) -> Any:
        check_plain(level)
        cotangents = passed.back(dy)
        if len(cotangents) == len(self.args):
            return cotangents
        by_place = dict(zip(passed.active, cotangents, strict=True))
        return tuple([by_place.get(i, NoTangent()) for i in range(len(self.args))])

    def record_late(self, known: Any) -> None:
        """Record a tape after all: for another level, or for strong zeros."""
        if not agree(known, self.record(PLAIN)):
            refuse_other_value(self.f)
        self.passed = None

    def __call__(self, dy: Any) -> Any:
        """`(dx1, dx2, …)`, one per primal."""
        return self.run_on(PLAIN, dy)


@on_plain
def vjp(
    _below: Any,
    f: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    tier: str = "auto",
) -> Any:
    """`(y, pullback)` with `y = f(*primals)` and `pullback(dy) = (dx1, dx2, …)`.

    The pullback does not copy array arguments or arrays that `f` captures: do not
    change them before you call it. You may write to the value `y`. If `f` writes to its
    arguments they are as `f` leaves them until the first call of the pullback, which
    undoes the writes; with `tier="straight"` they are not written to.

    Args:
        f: The function.
        *primals: Its arguments; all are differentiated.
        has_aux: Whether `f` returns `(y, aux)`; the result is `(y, pullback, aux)`.
        tier: As in `grad`.

    >>> from rules_autodiff import vjp
    >>> y, pullback = vjp(lambda x, y: x * y, 3.0, 2.0)
    >>> y, pullback(1.0), pullback(10.0)
    (6.0, (2.0, 3.0), (20.0, 30.0))
    """
    check_function(f, "vjp")
    check_tier(tier, "vjp")
    pullback = VJP(f, primals, {})
    pullback.has_aux, pullback.tier = has_aux, tier
    value = pullback.begin(_below)
    return (value[0], pullback, value[1]) if has_aux else (value, pullback)
