"""The engine for rules: `rrule_via_ad`, `frule_via_ad`, and derived rules."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from rules_autodiff._boundary.enter import Entrance
from rules_autodiff._forward.forward import ForwardRun
from rules_autodiff._forward.kept_state import restore
from rules_autodiff._forward.watched_run import WatchedRun
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._python.values import is_number
from rules_autodiff._refusals import name_of, refused
from rules_autodiff._shadows.saved_state import written_to
from rules_autodiff._shadows.unknown import handed_on
from rules_autodiff._tape.recording import Recording, guarded
from rules_autodiff._transforms.derived_function import on_plain
from rules_autodiff._transforms.linear_map import Kept, agree, refuse_other_value
from rules_autodiff.straight._tier.called_back import CalledBack, pushed
from rules_autodiff.straight._tier.left import leave
from rules_autodiff.straight._tier.pushed_back import PushedBack
from rules_autodiff.straight._tier.tier import Left, check_plain
from rules_core import AbstractZero, StructuralTangent, backing
from rules_core.extend import strong_zeros_met

from .apart import ApartRun
from .captured_writes import captured_by, check_captured

__all__ = ["derive_frule", "derive_rrule", "frule_via_engine", "rrule_via_engine"]


def apply(f: Any, *args: Any, **kwargs: Any) -> Any:
    """A call whose function is differentiated like the arguments."""
    return f(*args, **kwargs)


@on_plain
def rrule_via_engine(
    below: Any, f: Any, args: Any, kwargs: Any, by_rule: bool = False
) -> Any:
    """``(y, pullback)`` with ``pullback(dy) = (df, dx1, …)``."""
    pullback = ViaPullback(f, args, kwargs)
    pullback.by_rule = by_rule
    if not kwargs:
        with suppress(Left):
            if quiet(below) is PLAIN:
                return pullback.pass_through(below), pullback
            return pullback.push_through(below), pullback
    return pullback.begin(below), pullback


class ViaPullback(Kept):
    """`dy ↦ (df, dx1, …)`; a call undoes the program's writes.

    Attributes:
        by_rule: Whether a rule calls it: then the function must have no side effects.
    """

    by_rule = False

    # Generated code, instead of a recording.
    passed: CalledBack | None = None
    pushed: PushedBack | None = None

    def pass_through(self, level: Any) -> Any:
        """Run `f` by generated code; the value in its own memory.

        Raises:
            Left: The tape has to do it.
        """
        passed = CalledBack(self.f, self.args)
        check_read(level, passed.caps)
        self.value, self.level, self.passed = passed.output, level, passed
        return passed.own_output()

    def push_through(self, level: Any) -> Any:
        """Run `f` and its tangents by generated code, on a forward run.

        Raises:
            Left: The tape has to do it.
        """
        check_forward(level)
        given = (self.f, *self.args)
        lanes = [
            tuple([level.tangent(x, lane) for x in given])
            for lane in range(level.width)
        ]
        pushed = PushedBack(self.f, self.args, lanes)
        check_read(level.below, pushed.caps)
        self.value, self.level, self.pushed = pushed.output, level, pushed
        y = (
            level.below.box(pushed.output)
            if is_number(pushed.output)
            else np.array(pushed.output)
        )
        level.assign(y, pushed.tangents)
        return y

    def start(self, level: Any) -> Any:
        self.passed = self.pushed = None
        arguments = (self.f, *self.args)
        check = self.check if self.by_rule else None
        self.recording = Recording(
            level, apply, arguments, self.kwargs, range(len(arguments)), callables=True,
            check=check,
        )  # fmt: skip
        return self.recording.value()

    def check(self, entrance: Any, run: Any) -> None:
        reached = captured_by((self.f, *self.args), entrance)  # the tape keeps it alive
        written = written_to(run.changes)
        check_captured(self.f, entrance, reached, written, run.functions)

    def apply(self, level: Any, dy: Any) -> Any:
        if self.passed is not None:
            try:
                check_plain(quiet(level))
                return self.passed.back(dy)
            except Left:
                self.record_late(self.passed.output, self.level)
        if self.pushed is not None:
            try:
                return self.pull_pushed(level, dy)
            except Left:
                self.record_late(self.pushed.output, self.level)
        with handed_on(self.recording):
            return self.recording.pull(self.recording.output, dy, level)

    def pull_pushed(self, level: Any, dy: Any) -> Any:
        """The cotangents, with tangents on a forward run."""
        pushed = self.pushed
        if level is not self.level or pushed is None:
            leave("a derivative of a derivative is taken")
        check_forward(level)
        moves = [level.short_tangent(dy, lane) for lane in range(level.width)]
        lanes = [None if isinstance(x, AbstractZero) else x for x in moves]
        raw, rows = pushed.back(dy, lanes)
        raw = [level.below.box(c) if is_number(c) else c for c in pushed.in_class(raw)]
        found = pushed.shaped(raw)
        assign_parts(level, found, [pushed.shaped(row) for row in rows])
        return found

    def record_late(self, known: Any, level: Any) -> None:
        """Record a tape after all: for another level, or for strong zeros."""
        if not agree(known, self.start(level)):
            refuse_other_value(self.f)


def check_forward(level: Any) -> None:
    """Let the tape serve other levels than one forward run on plain values.

    Raises:
        Left: This is another.
    """
    if type(level) is not ForwardRun or level.over or quiet(level.below) is not PLAIN:
        leave("a derivative of a derivative is taken")


def quiet(level: Any) -> Any:
    """A level, or the plain one for a call apart: there all values are constants."""
    return PLAIN if isinstance(level, ApartRun) else level


def check_read(level: Any, read: Any) -> None:
    """Let a run apart refuse what a function reads, and a run that waits follows.

    Raises:
        Left: There is such a value.
    """
    if isinstance(level, ApartRun) and any(map(level.apart.is_followed, read)):
        leave("it reads a value that is differentiated")


def assign_parts(level: Any, x: Any, rows: list[Any]) -> None:
    """Give the numbers and arrays in cotangents their tangents, in one form."""
    if is_number(x) or isinstance(x, np.ndarray):
        level.assign(x, rows)
    elif isinstance(x, StructuralTangent):
        parts = [backing(row) for row in rows]
        for name, part in backing(x).items():
            assign_parts(level, part, [row[name] for row in parts])
    elif type(x) in (tuple, list):
        for i, part in enumerate(x):
            assign_parts(level, part, [row[i] for row in rows])
    elif type(x) is dict:
        for name, part in x.items():
            assign_parts(level, part, [row[name] for row in rows])


@on_plain
def frule_via_engine(
    below: Any, tangents: Any, f: Any, args: Any, kwargs: Any, by_rule: bool = False
) -> Any:
    """``(y, dy)`` for the tangents ``(df, dx1, …)``."""
    if quiet(below) is PLAIN and not kwargs:
        with suppress(Left):
            return pushed(tangents, f, args, lambda read: check_read(below, read))
    call = ForwardCall(tangents, f, args, kwargs, by_rule)
    before = strong_zeros_met()
    run = ForwardRun(below)
    y, finish = call.on(run)
    if strong_zeros_met() != before:  # of what moves, or not?
        restore(run)
        call.end(run)
        known, run = y, WatchedRun(below)
        y, finish = call.on(run)
        if not agree(known, y):
            refused("watched", name_of(f))
    finish()
    dy = run.own_tangent(y, 0)
    call.end(run)
    return y, dy


class ForwardCall:
    """A call with tangents `(df, dx1, …)`, on the hooks of a run."""

    def __init__(self, tangents: Any, f: Any, args: Any, kwargs: Any, by_rule: bool):
        self.tangents, self.f, self.args, self.kwargs = tangents, f, args, kwargs
        self.by_rule = by_rule

    def on(self, run: ForwardRun) -> tuple[Any, Callable[[], None]]:
        """The value, and what is left to do if it is to stay."""
        entrance = Entrance(run, callables=True)
        inner = [entrance.enter(x) for x in (self.f, *self.args)]
        for x, dx in zip(inner, self.tangents, strict=True):
            if dx is not None:
                run.begin(x, [dx])
        reached = captured_by((self.f, *self.args), entrance) if self.by_rule else set()
        y = guarded(run, apply, inner, self.kwargs)

        def finish() -> None:
            written = run.written_ids
            if run.changed:
                entrance.write_back(lambda: written)
            if self.by_rule:
                check_captured(self.f, entrance, reached, written, run.functions)

        return y, finish

    def end(self, run: ForwardRun) -> None:
        run.functions.clear()  # their cells refer to the run
        run.retire()


def derive_rrule(f: Callable[..., Any]) -> Callable[..., Any]:
    """The engine's own reverse rule of `f`: `(*args) ↦ (y, pullback)`.

    `pullback(dy) = (df, dx1, …)`, as in a rule; it may be called again.

    >>> from rules_autodiff import derive_rrule
    >>> y, pullback = derive_rrule(lambda x, y: x * y)(3.0, 2.0)
    >>> y, pullback(1.0)
    (6.0, (NoTangent(), 2.0, 3.0))
    """

    def derived_rrule(*args: Any, **kwargs: Any) -> Any:
        return rrule_via_engine(f, args, kwargs)

    return derived_rrule


def derive_frule(f: Callable[..., Any]) -> Callable[..., Any]:
    """The engine's own forward rule of `f`: `(tangents, *args) ↦ (y, dy)`.

    >>> from rules_autodiff import derive_frule
    >>> from rules_core import NoTangent
    >>> derive_frule(lambda x: x * x)((NoTangent(), 1.0), 3.0)
    (9.0, 6.0)
    """

    def derived_frule(tangents: Any, *args: Any, **kwargs: Any) -> Any:
        return frule_via_engine(tangents, f, args, kwargs)

    return derived_frule
