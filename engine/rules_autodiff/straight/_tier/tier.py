"""The straight-line tier: gradients by written code, where there is some.

Everything that is not as it was when the code was written, or that it cannot decide, is
left to the tape: written code changes nothing that others see, so the tape can always
begin anew.
"""

import threading
from contextvars import Context
from math import isfinite
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from rules_autodiff._boundary.enter import Const, alias, without_const
from rules_autodiff._python.errors import UnsupportedProgram
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._refusals import name_of
from rules_autodiff.straight._guard.trust import is_answered

from .arguments import (
    bound,
    differentiated,
    leaves_of,
    signature_of,
)
from .results import given, is_finite
from .signatures import (
    DOUBLE,
    Form,
    Left,
    Written,
    form_of,
    leave,
    write,
)

__all__ = [
    "Left", "Pass", "check_plain", "check_tier", "code_of", "gradient", "not_straight",
]  # fmt: skip

FLOAT64 = np.float64
TIERS = ("auto", "tape", "straight")


class Strict(threading.local):
    """A thread's way to run written code, in which nothing warns.

    What would warn is an error: the tape is asked then, which warns by itself. To enter
    a context with these settings takes an eighth of the time of `numpy.errstate`.

    Attributes:
        run: Calls a function in that context.
        seen: What NumPy had to say; most callers do not mind that a number has become
            too small.
    """

    def __init__(self) -> None:
        context = Context()
        context.run(np.seterr, "call")  # rules may catch what is raised
        context.run(np.seterrcall, self.note)
        self.run = context.run
        self.seen: set[str] = set()

    def note(self, kind: str, _flag: int) -> None:
        """Called by NumPy where it would warn."""
        self.seen.add(kind)

    def ask(self) -> None:
        """Leave to the tape what the caller wants to know of."""
        seen, self.seen = self.seen, set()
        if seen - {"underflow"}:
            leave(f"NumPy would warn of an {', '.join(sorted(seen))}")
        if np.geterr()["under"] != "ignore":
            leave("a number has become too small")


STRICT = Strict()


def gradient(
    f: Any, args: Any, kwargs: Any, active: tuple[int, ...], *, now: bool = False
) -> tuple[Any, tuple[Any, ...]] | None:
    """The value of `f` and the derivatives by some of its arguments.

    None where it is known by now that there will be no code, if none is insisted on.

    Args:
        f: The function.
        args: Its positional arguments.
        kwargs: Its keyword arguments, constants.
        active: The positions of the arguments to differentiate.
        now: Whether code is to be written at the first call.

    Raises:
        Left: The tape has to do it.
    """
    order = active if len(active) == 1 else tuple(sorted(active))
    choice = chosen(f, args, kwargs, order, now=now)
    if choice is None:
        return None
    form, written, inner, caps = choice
    try:
        found: tuple[Any, tuple[Any, ...]] = STRICT.run(
            both_of, written, inner, caps, order
        )
        if STRICT.seen:
            STRICT.ask()
    except Left:
        form.failed()
        STRICT.seen.clear()
        raise
    except Exception as error:  # the program's own, which the tape raises with its line
        form.failed()
        STRICT.seen.clear()
        leave(f"it raised {type(error).__name__}: {error}")
    if form.failures:
        form.worked()
    return found if order == active else (found[0], as_asked(active, order, found[1]))


def as_asked(active: Any, order: Any, found: tuple[Any, ...]) -> tuple[Any, ...]:
    """Cotangents in the order in which the arguments were named.

    Written code gives them in the arguments' own order.
    """
    by_place = dict(zip(order, found, strict=True))
    return tuple([by_place[i] for i in active])


def both_of(
    written: Written, args: Any, caps: Any, active: Any
) -> tuple[Any, tuple[Any, ...]]:
    """Forward and back."""
    value, residual = written.forward(*args, caps)
    if type(value) is not float and type(value) is not FLOAT64:
        leave(f"its result is of class {type(value).__name__}")
    if not isfinite(value):
        leave("its result is not finite")
    cotangents = written.reverse(residual, 1.0)
    del residual  # what it holds is not the user's to write to
    return value, given(args, active, cotangents)


class Pass:
    """One run of written code, to go back through as often as asked.

    Attributes:
        active: The positions of the arguments to differentiate, as they were named.
        order: The same in ascending order, in which the written code gives cotangents.
        output: What the function returned.
    """

    def __init__(self, f: Any, args: Any, kwargs: Any, active: Any, *, now: bool):
        self.active, self.order = active, tuple(sorted(active))
        found = chosen(f, args, kwargs, self.order, now=now)
        if found is None:
            leave("there is no code")
        self.form, self.written, self.args, self.caps = found
        self.output, self.residual = self.run(self.forward)

    def run(self, step: Any, *args: Any) -> Any:
        """A step, by the rules for warnings and errors of all of them."""
        try:
            found = STRICT.run(step, *args)
            if STRICT.seen:
                STRICT.ask()
        except Left:
            self.form.failed()
            STRICT.seen.clear()
            raise
        except Exception as error:  # the program's own, which the tape raises
            self.form.failed()
            STRICT.seen.clear()
            leave(f"it raised {type(error).__name__}: {error}")
        return found

    def forward(self) -> tuple[Any, Any]:
        value, residual = self.written.forward(*self.args, self.caps)
        if type(value) is ndarray:
            if value.dtype is not DOUBLE or not is_finite(value):
                leave("its result is no array of finite floats")
            held = [leaf for x in self.args for leaf in leaves_of(x)]
            own = value.base is None and all(value is not x for x in held)
            return value if own else alias(value), residual
        if type(value) is not float and type(value) is not FLOAT64:
            leave(f"its result is of class {type(value).__name__}")
        if not isfinite(value):
            leave("its result is not finite")
        return value, residual

    def back(self, dy: Any) -> tuple[Any, ...]:
        """The cotangents of the active arguments, for one of the value.

        Raises:
            Left: The tape has to do it.
        """
        if type(self.output) is ndarray:
            fits = type(dy) is ndarray and dy.dtype is DOUBLE
        else:
            fits = type(dy) is float or type(dy) is np.float64
        if not fits:
            leave(f"a cotangent is of class {type(dy).__name__}")
        found: tuple[Any, ...] = self.run(self.backward, dy)
        self.form.worked()
        return found

    def pull_leaf(
        self, _row: int, dy: Any, _below: Any, _leaves: Any
    ) -> tuple[Any, ...]:
        """The same, as a recording is asked: the value is its only leaf."""
        return self.back(dy)

    def backward(self, dy: Any) -> tuple[Any, ...]:
        found = self.written.reverse(self.residual, dy)
        cotangents = given(self.args, self.order, found)
        return as_asked(self.active, self.order, cotangents)


def chosen(
    f: Any, args: Any, kwargs: Any, active: Any, *, now: bool
) -> tuple[Form, Any, Any, Any] | None:
    """The form of a call, its code, its arguments, and the values that it captures.

    None where there will be none. That is answered often, and an error takes longer.
    """
    if type(f) is not FunctionType:
        if not now:
            return None
        leave("it is no function written in Python")
    if is_answered(f):
        leave("a rule or an overlay answers for it")
    code = f.__code__
    if kwargs or len(args) != code.co_argcount:
        args = bound(f, code, args, kwargs)
    try:
        signature = signature_of(code, args, active)
    except Left:
        constants = {i for i, x in enumerate(args) if type(x) is Const}
        if not constants.isdisjoint(active):
            leave("it is differentiated by a constant")
        if not constants:
            raise
        args = tuple(without_const(args))
        signature = signature_of(code, args, active)
    form = form_of(code, signature)
    if form.reason and not form.units and not now:
        return None
    written, caps = form.chosen(f, args, active, now=now)
    if not written.is_trusted():
        if written.is_outdated():
            form.forget(written)
        leave("a rule, an overlay or debug mode has a say in it")
    return form, written, args, caps


def check_tier(tier: Any, name: str) -> None:
    """Refuse a tier that there is not."""
    if tier not in TIERS:
        message = (
            f"{name}: tier must be 'auto', 'tape' or 'straight', but got {tier!r}."
        )
        raise ValueError(message)


def check_plain(below: Any, *, has_aux: bool = False) -> None:
    """Leave to the tape what is not for written code, whatever the program."""
    if has_aux:
        leave("has_aux is given")
    if below is not PLAIN:
        leave("a derivative of a derivative is taken")


def not_straight(
    f: Any, reason: Left, cure: str = "Use tier='auto', which records a tape then."
) -> UnsupportedProgram:
    """The error where nothing but written code will do."""
    code = getattr(f, "__code__", None)
    place = f" ({code.co_filename}, line {code.co_firstlineno})" if code else ""
    return UnsupportedProgram(
        f"{name_of(f)}{place} must be a program for which the straight-line tier can "
        f"write code, but is left to the tape: {reason}. {cure}"
    )


def code_of(f: FunctionType, args: Any) -> str:
    """The code that is written for a call, all floats and arrays of floats active.

    Raises:
        UnsupportedProgram: There is none.
    """
    given, active = without_const(args), differentiated(args)
    try:
        full = bound(f, f.__code__, tuple(given), {})
        return str(write(f, full, active).text)
    except Left as reason:
        cure = "show(f) gives its code for the tape."
        raise not_straight(f, reason, cure) from None
