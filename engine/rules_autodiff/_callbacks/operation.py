"""One call of a program, run by a tape of its own, inside of written code.

Written code may come to nothing and begin again, so such a call must change nothing:
it raises an error before it does what is not known to be without effect.
"""

from functools import partial
from operator import attrgetter, itemgetter
from types import FunctionType, GeneratorType, MethodType
from typing import Any

import numpy as np

from rules_autodiff._hooks import access, calls, skipped_stores
from rules_autodiff._hooks.calls import Transform, is_opaque_class
from rules_autodiff._hooks.run import Run
from rules_autodiff._python.errors import UnsupportedProgram
from rules_autodiff._python.handlers import CALLABLES, HANDLERS
from rules_autodiff._python.lifted_code import hooks_of, is_lifted
from rules_autodiff._python.methods import python_method
from rules_autodiff._python.opaque import is_opaque
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._shadows.saved_state import written_to
from rules_autodiff._tape.fast.run import FastRun
from rules_autodiff._tape.recording import Recording
from rules_core import Primitive

from .captured_writes import captured_by, outside_of
from .effects import has_effects, is_known

__all__ = ["Operation"]


def iterated(run: Any, iterable: Any) -> Any:
    check_stream(run, iterable)
    return access.iterated(run, iterable)


def check_stream(run: Any, x: Any) -> None:
    """Stop before an iterator of others is used up."""
    if not hasattr(type(x), "__next__"):
        return
    if type(x) is GeneratorType and hooks_of(x) is run:
        return
    if not any(x is own for own in run.streams):
        stop("goes over an iterator")


def called(run: Any, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    if type(f) is not FunctionType or f not in run.functions:
        check_call(run, f)
    for x in args:
        check_stream(run, x)
    result = calls.call(run, f, *args, **kwargs)
    if hasattr(type(result), "__next__"):
        run.streams.append(result)
    return result


def decided(run: Any, test: Any, *skips: Any, depth: int = 1) -> bool:
    truth = skipped_stores.decided(run, test, *skips, depth=depth + 1)
    check_skipped(run)
    return truth


def passing(run: Any, *skips: Any, depth: int = 1) -> None:
    skipped_stores.passing(run, *skips, depth=depth + 1)
    check_skipped(run)


def passed(run: Any, *skips: Any, depth: int = 1) -> None:
    skipped_stores.passed(run, *skips, depth=depth + 1)
    check_skipped(run)


def check_skipped(run: Any) -> None:
    if run.skipped:
        stop("may read results of an earlier call")


class QuietRun(FastRun):
    """A run that stops before a call that may have an effect.

    Attributes:
        streams: Iterators that the run has made; others would be used up.
    """

    iter, call = iterated, called
    decided, passing, passed = decided, passing, passed

    def __init__(self) -> None:
        super().__init__()
        self.streams: list[Any] = []

    def call_native(self, f: Any, args: Any, kwargs: Any) -> Any:
        check_call(self, f)
        if "out" in kwargs or (type(f) is np.ufunc and len(args) > f.nin):
            stop("writes into an array")
        return super().call_native(f, args, kwargs)

    def call_opaque(self, f: Any, args: Any, kwargs: Any) -> Any:
        if not is_known(f):
            stop(f"calls {f!r}")
        return super().call_opaque(f, args, kwargs)

    def getitem(self, owner: Any, key: Any) -> Any:
        if isinstance(owner, dict) and type(owner) is not dict:
            stop("reads a dict that may make its entries")
        return super().getitem(owner, key)


def check_call(run: Any, f: Any) -> None:
    """Stop before a call whose effects are not known."""
    if type(f) is FunctionType:
        quiet = is_lifted(f) or (
            is_known(f)
            if is_opaque(f) or f in HANDLERS or run.has_rules(f)
            else not has_effects(f)
        )
    elif isinstance(f, Primitive):
        quiet = f.pure
    elif isinstance(f, type):
        quiet = is_known(f) or not (f in HANDLERS or is_opaque_class(f))
    elif isinstance(f, Transform) or type(f) in CALLABLES:
        quiet = False
    elif isinstance(f, MethodType | partial):
        check_call(run, f.__func__ if isinstance(f, MethodType) else f.func)
        quiet = True
    else:  # what a `__call__` of the program calls is checked there
        written = python_method(type(f), "__call__") is not None
        quiet = written or isinstance(f, GETTERS) or is_known(f)
    if not quiet:
        stop(f"calls {f!r}")


GETTERS = itemgetter, attrgetter


def stop(what: str) -> None:
    message = f"A call inside of written code must have no effects, but {what}."
    raise UnsupportedProgram(message)


class Operation(Recording):
    """`y = f(*args)` without effects, with its tape.

    Whether its cotangents move only the code around it could know.
    """

    decides = False

    def __init__(self, f: Any, args: Any, kwargs: Any, active: Any):
        super().__init__(PLAIN, f, args, kwargs, active, check=self.check_unchanged)

    def new_run(self) -> QuietRun:
        return QuietRun()

    def check_unchanged(self, entrance: Any, run: Any) -> None:
        """Raise an error for writes to what others see."""
        if not run.changes:
            return
        given = (self.f, *self.args, *self.kwargs.values())
        written = written_to(run.changes)
        seen = captured_by(given, entrance) | outside_of([self.f, *run.functions])
        if seen & written:
            stop("writes to what others see")


Run.operation = Operation
