"""One forward pass in reverse mode, and the pullback that it leaves."""

import sys
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from rules_autodiff._boundary.enter import Const, Entrance, without_const
from rules_autodiff._boundary.leave import cotangent_of
from rules_autodiff._hooks.caches import check_result
from rules_autodiff._hooks.rule_results import check_copies
from rules_autodiff._hooks.run import Run
from rules_autodiff._python.errors import EngineError
from rules_autodiff._python.leaves import mapped
from rules_autodiff._python.plain_level import PLAIN, live
from rules_autodiff._python.values import INERT, is_number
from rules_autodiff._shadows.assigned_shapes import FormEntry
from rules_autodiff._shadows.saved_state import written_by, written_to
from rules_autodiff._shadows.slots import add_to
from rules_autodiff._tape.fast.generic import stay
from rules_autodiff._tape.fast.run import reverse_run
from rules_autodiff._tape.fast.sweep import followed, sweep_quickly
from rules_core import NoTangent, structure
from rules_core.extend import strong_zeros_met

from .sweep import redo, sweep, undo

__all__ = ["Recording", "guarded"]


NOTHING = NoTangent()
# To a run: the recording's, its entrance's, a variable's, and getrefcount's argument.
OWN_REFERENCES = 4


class Recording:
    """``y = f(*args)`` with its tape.

    Args:
        below: The level that does the arithmetic; one whose pass is over follows
            nothing more, and takes no write back.
        f: The function.
        args: Its positional arguments.
        kwargs: Its keyword arguments, constants.
        active: The positions of the arguments to differentiate.
        callables: Whether what a function captures is differentiated too.
        check: Asked of the entrance and the run when the program has run.

    Attributes:
        decides: Whether zeros that met infinity are looked at once more.
    """

    # It stands above this module, and is set there.
    decided: ClassVar[Callable[..., tuple[Any, ...]]]

    decides = True

    def __init__(
        self,
        below: Any,
        f: Any,
        args: Any,
        kwargs: Any,
        active: Any,
        *,
        callables: bool = False,
        check: Callable[[Entrance, Any], None] | None = None,
    ):
        self.below = live(below)
        self.active = tuple([i for i in active if type(args[i]) is not Const])
        self.asked = tuple(active)
        self.check = check
        self.f, self.args, self.kwargs = f, args, kwargs
        self.broken, self.callables = False, callables
        self.seeds: list[Any] = []  # what the output got since the last reverse pass
        self.record()

    def new_run(self) -> Any:
        """The run that records the tape."""
        return reverse_run(self.below)

    def record(self) -> None:
        """Run the program forward, onto a new tape."""
        run = self.run = self.new_run()
        self.entrance = Entrance(run, callables=self.callables)
        inner = without_const(self.args)
        for i in self.active:
            inner[i] = self.entrance.enter(inner[i])
        if len(self.active) < len(inner):
            self.entrance.enter_beside(inner, self.active)
        self.slots = [run.watch(inner[i]) for i in self.active]
        self.done = True  # the program's effects are in place
        try:
            self.output = guarded(run, self.f, inner, self.kwargs)
            if run.changes:
                self.output = in_own_forms(self.output, run.changes)
                self.check_written(inner)
            if self.check is not None:
                self.check(self.entrance, run)
        except BaseException:
            self.leave()
            raise
        finally:
            run.functions.clear()  # their cells hold the run: a cycle
            # It takes longer than a small program: only if somebody else has the run.
            if sys.getrefcount(run) > OWN_REFERENCES:
                self.run = run.retired()
        if self.run.changes:
            self.entrance.write_back(self.written)

    def check_written(self, inner: Any) -> None:
        """Refuse what was written to and is also seen by another way."""
        changed = written_to(self.run.changes)
        self.entrance.check_written(self.written() | changed)
        given, own = (*self.args, self.kwargs), (*inner, self.kwargs)
        self.entrance.check_alone(changed, self.f, given, own)

    def written(self) -> set[int]:
        """The ids of the owners of memory that the program wrote to."""
        return written_by(self.run.changes)

    def leave(self) -> None:
        """Take back what the program wrote; of no use where nothing was written."""
        if self.done and self.run.changes:
            undo(self.run.changes, self.below)
            self.entrance.write_back(self.written)
        self.done = False

    def value(self) -> Any:
        """The output in memory of its own, if the program's writes are taken back."""
        if not self.run.changes:
            return self.output
        return detached(self.output, {}, self.below)

    def pull(self, out: Any, dy: Any, below: Any) -> tuple[Any, ...]:
        """The cotangents of the active arguments, for one of the output `out`."""
        if self.run.changes:
            self.turn(below)
        if not self.done:
            out = self.again(out, below)
        self.seed(out, dy, below)
        return self.run_back(below)

    def turn(self, level: Any) -> None:
        """Let a level that takes its writes back take back also what is noted here."""
        if self.below.over and hasattr(self.below, "note"):
            message = (
                "The pullback of a function that writes must be called while the "
                "derivative goes on in which it was made, but that is over and has "
                "taken the writes back. Call vjp outside, or let the function copy."
            )
            raise EngineError(message)
        level = live(level)
        if level is not self.below and hasattr(level, "note"):
            level.note(Turn(self))

    def pull_leaf(self, row: int, dy: Any, below: Any, leaves: Any) -> tuple[Any, ...]:
        """The cotangents for one leaf of the output alone."""
        if not self.done:
            self.again(self.output, below)
        self.seed(leaves(self.output)[row], dy, below)
        return self.run_back(below)

    def again(self, out: Any, below: Any) -> Any:
        """Bring the program's effects back, for another reverse pass."""
        if self.broken:
            message = (
                "This pullback raised an error before and has lost its cotangents. "
                "Call vjp again."
            )
            raise EngineError(message)
        if self.run.replayable:
            redo(self.run.changes, below)
            self.done = True
            return out
        whole = out is self.output
        self.record()
        return self.output if whole else self.output[0]

    def seed(self, out: Any, dy: Any, below: Any = None) -> None:
        """Give a cotangent to (a part of) the output."""
        self.seeds.append((out, dy, below))
        slot = self.run.slot(out)
        if type(slot) is list and below is PLAIN and type(dy) is type(slot[1]):
            slot[0] += dy
        elif slot is not None:
            add_to(slot, dy, self.below if below is None else below)

    def run_back(self, below: Any) -> tuple[Any, ...]:
        """The reverse pass."""
        seeds, self.seeds, met = self.seeds, [], strong_zeros_met()
        try:
            if below is not PLAIN or not self.run.replayable:
                sweep(self.run.tape, below, self.run.move)
            elif not sweep_quickly(self.run.tape, self.slots):
                self.collect(below)
                self.start_again(seeds)
        except BaseException:
            self.broken = True
            raise
        finally:
            self.done = False
            if self.run.changes:
                self.entrance.write_back(self.written)
        found = self.collect(below)
        if not self.decides or strong_zeros_met() == met:
            return found
        if below is PLAIN and self.run.replayable and self.zeros_stay(seeds):
            return found
        return self.decided(self, seeds, below, found)

    def zeros_stay(self, seeds: list[Any]) -> bool:
        """Whether the zeros that met infinity are zero for constants alone."""
        if self.run.move is not followed:
            return False

        def again() -> None:
            redo(self.run.changes, PLAIN)
            self.give(seeds)
            self.seeds.clear()

        def clear() -> None:
            self.collect(PLAIN)

        try:
            return stay(self.run.tape, again, clear)
        except BaseException:
            self.broken = True
            raise

    def give(self, seeds: list[Any]) -> None:
        """Give cotangents to the output once more."""
        self.seeds.clear()
        for out, dy, below in seeds:
            self.seed(out, dy, below)

    def start_again(self, seeds: list[Any]) -> None:
        """The reverse pass once more, by maps that keep zeros strong."""
        redo(self.run.changes, PLAIN)
        self.give(seeds)
        self.seeds.clear()
        sweep(self.run.tape, PLAIN, self.run.move)

    def collect(self, below: Any) -> tuple[Any, ...]:
        for shadow in self.run.late:
            shadow.data = None
        args = self.args
        memo: dict[int, Any] = {}
        pairs = zip(self.active, self.slots, strict=True)
        found = [cotangent_of(args[i], slot, below, memo) for i, slot in pairs]
        if self.active == self.asked:
            return tuple(found)
        by_place = dict(zip(self.active, found, strict=True))
        return tuple([by_place.get(place, NOTHING) for place in self.asked])


class Turn:
    """Saves a pullback's state before an outer derivative calls it."""

    def __init__(self, recording: Recording):
        self.recording = recording
        self.other = self.state()

    def state(self) -> Any:
        own = dict(vars(self.recording))
        return own, [(e, e.other) for e in own["run"].changes if hasattr(e, "other")]

    def undo(self, _below: Any = None) -> None:
        here = self.state()
        own, entries = self.other
        vars(self.recording).update(own)
        for entry, other in entries:
            entry.other = other
        self.other = here

    redo = undo

    def reverse(self, _below: Any) -> None:
        self.undo()


def in_own_forms(output: Any, changes: Any) -> Any:
    """The output with arrays that keep their shape where `a.shape = …` is undone."""
    if not any(type(change) is FormEntry for change in changes):
        return output
    return mapped(output, lambda x: x.view() if isinstance(x, np.ndarray) else x, {})


def guarded(run: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Call through a run; recursion that is too deep is told as such.

    An error that is not the program's own comes out even if the program caught it.
    """
    run.program = f, args, kwargs
    try:
        y = check_result(run, run.call(f, *args, **kwargs))
    except RecursionError as error:
        message = (
            "The recursion of a differentiated function must fit into Python's limit, "
            "of which each of its calls takes about three frames, but it does not. "
            "Raise the limit by sys.setrecursionlimit. If the recursion has no end, "
            "look for a rule that calls its own function with what is no argument of "
            "it, such as the tuple of tangents."
        )
        raise RecursionError(message) from error
    except Exception as error:
        check_failure(run, error)
        raise
    check_failure(run)
    if run.copies:
        check_copies(run)
    return y


def check_failure(run: Any, error: Exception | None = None) -> None:
    """Raise the error that a run has noted, unless its cause was not caught."""
    failure, run.failure = run.failure, None  # it holds frames, and they the run
    if failure is not None and (error is None or not is_same(failure.__cause__, error)):
        raise failure


def is_same(one: Any, other: Any) -> bool:
    """Whether two errors are one, which may have been raised once more on its way."""
    return type(one) is type(other) and one.args == other.args


def detached(x: Any, memo: dict[int, Any], below: Any) -> Any:
    """A copy of arrays and mutable containers, which undoing writes does not reach."""
    if type(x) in INERT or is_number(x):
        return x
    if id(x) in memo:
        return memo[id(x)]
    if isinstance(x, np.ndarray):
        memo[id(x)] = below.copied(x)
        return memo[id(x)]
    level = None if callable(x) else structure(x)
    if level is None:
        return x
    if level.mutable:
        memo[id(x)] = shell = level.shell()
        return level.fill(
            shell, [detached(value, memo, below) for value in level.values]
        )
    memo[id(x)] = level.rebuild(
        [detached(value, memo, below) for value in level.values]
    )
    return memo[id(x)]


Run.recording = Recording
