"""The straight-line tier: gradients by written code, where there is some.

Everything that is not as it was when the code was written, or that it cannot decide, is
left to the tape: written code changes nothing that others see, so the tape can always
begin anew.
"""

import sys
import threading
from contextvars import Context
from math import isfinite
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from rules_autodiff._errors import UnsupportedProgram
from rules_autodiff._explain import name_of
from rules_autodiff._inputs import Const, alias, without_const
from rules_autodiff._plain import PLAIN
from rules_autodiff.straight._signatures import (
    DEEP,
    DOUBLE,
    MANY,
    SIMPLE,
    Form,
    Left,
    Written,
    check_positions,
    form_of,
    is_differentiated,
    leave,
    write,
)  # fmt: skip
from rules_autodiff.straight._trust import is_answered
from rules_core import NoTangent

__all__ = [
    "Left", "Pass", "check_flat", "check_plain", "check_tier", "code_of",
    "differentiated", "gradient", "not_straight",
]  # fmt: skip

FLOAT64, NO_TANGENT = np.float64, NoTangent()
CONTAINERS = frozenset({tuple, list, dict})
TIERS = ("auto", "tape", "straight")


def references(row: tuple[Any, ...]) -> int:
    """How many references a loop over a row sees to an entry that nobody else holds."""
    for entry in row:
        return sys.getrefcount(entry)
    return 0


UNSHARED = references((object(),))  # Python's versions differ in it


class Strict(threading.local):
    """A thread's way to run written code, in which nothing warns.

    What would warn is an error: the tape is asked then, which warns by itself. To enter
    a context with these settings takes an eighth of the time of `numpy.errstate`.

    Attributes:
        run: Calls a function in that context.
        faint: Whether a number has become too small, which most callers do not mind.
    """

    def __init__(self) -> None:
        context = Context()
        context.run(np.seterr, "raise", under="call")
        context.run(np.seterrcall, self.note)
        self.run = context.run
        self.faint = False

    def note(self, _kind: str, _flag: int) -> None:
        """Called by NumPy where a number becomes too small."""
        self.faint = True

    def ask(self) -> None:
        """Leave to the tape what the caller wants to know of."""
        self.faint = False
        if np.geterr()["under"] != "ignore":
            leave("a number has become too small")


STRICT = Strict()


def gradient(
    f: Any, args: Any, kwargs: Any, active: tuple[int, ...], *, now: bool = False
) -> tuple[Any, tuple[Any, ...]]:
    """The value of `f` and the derivatives by some of its arguments.

    Args:
        f: The function.
        args: Its positional arguments.
        kwargs: Its keyword arguments, constants.
        active: The positions of the arguments to differentiate.
        now: Whether code is to be written at the first call.

    Raises:
        Left: The tape has to do it.
    """
    form, written, inner, caps = chosen(f, args, kwargs, active, now=now)
    try:
        found = STRICT.run(both_of, written, inner, caps, active)
        if STRICT.faint:
            STRICT.ask()
    except Left:
        form.failed()
        raise
    except Exception as error:  # the program's own, which the tape raises with its line
        form.failed()
        leave(f"it raised {type(error).__name__}: {error}")
    if form.failures:
        form.worked()
    return found


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


def given(args: Any, active: Any, cotangents: Any) -> tuple[Any, ...]:
    """Cotangents as the user gets them.

    Raises:
        Left: One is not finite: zeros are strong, and only the tape asks for them.
    """
    found = []
    places = iter(active)  # `zip` would hold the cotangents too
    for ct in cotangents:
        x = args[next(places)]
        if type(ct) is tuple or ct is None:
            found.append(in_form_of(x, ct))
            continue
        if not is_finite(ct):
            leave("a derivative is not finite")
        if type(ct) is ndarray:
            if ct.shape != x.shape or ct.dtype is not DOUBLE:
                leave("a derivative is not of its argument's form")
            shared = ct.base is not None or sys.getrefcount(ct) > UNSHARED
            found.append(np.array(ct) if shared else ct)
        elif type(x) is ndarray:
            found.append(np.zeros(x.shape))
        else:
            found.append(ct if type(ct) is type(x) else type(x)(ct))
    return tuple(found)


def in_form_of(x: Any, cotangents: Any) -> Any:
    """The cotangents of a container, in one of its form."""
    if cotangents is None:
        return NO_TANGENT
    if type(x) is dict:
        values = [*x.values()]
        return dict(zip(x, given(values, range(len(x)), cotangents), strict=True))
    found = given(x, range(len(x)), cotangents)
    return list(found) if type(x) is list else found


def leaves_of(x: Any) -> list[Any]:
    """All values in a container."""
    if type(x) not in CONTAINERS:
        return [x]
    parts = x.values() if type(x) is dict else x
    return [leaf for part in parts for leaf in leaves_of(part)]


def differentiated(args: Any) -> tuple[int, ...]:
    """The positions of what can be differentiated; the others are constants."""
    return tuple([i for i, x in enumerate(args) if is_differentiated(x)])


def check_flat(args: Any) -> None:
    """Leave containers to the tape."""
    if any(type(x) in CONTAINERS for x in args):
        leave("it is differentiated by a container")


def is_finite(x: Any) -> bool:
    """Whether a number, or every entry of an array, is finite (and not too large)."""
    if type(x) is not ndarray:
        return isfinite(x)
    flat = x if x.ndim == 1 else x.ravel("K")
    return isfinite(flat.dot(flat))


class Pass:
    """One run of written code, to go back through as often as asked.

    Attributes:
        output: What the function returned.
    """

    def __init__(self, f: Any, args: Any, kwargs: Any, active: Any, *, now: bool):
        found = chosen(f, args, kwargs, active, now=now)
        self.form, self.written, self.args, self.caps = found
        self.active = active
        self.output, self.residual = self.run(self.forward)

    def run(self, step: Any, *args: Any) -> Any:
        """A step, by the rules for warnings and errors of all of them."""
        try:
            found = STRICT.run(step, *args)
            if STRICT.faint:
                STRICT.ask()
        except Left:
            self.form.failed()
            raise
        except Exception as error:  # the program's own, which the tape raises
            self.form.failed()
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
        return given(self.args, self.active, found)


def chosen(
    f: Any, args: Any, kwargs: Any, active: Any, *, now: bool
) -> tuple[Form, Any, Any, Any]:
    """The form of a call, its code, its arguments, and the values that it captures."""
    if type(f) is not FunctionType:
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
    written, caps = form.chosen(f, args, active, now=now)
    if not written.is_trusted():
        leave("a rule, an overlay or debug mode has a say in it")
    return form, written, args, caps


def signature_of(
    code: CodeType, args: Any, active: Any, depth: int = DEEP
) -> tuple[Any, ...]:
    """What a form depends on: the kinds of the arguments, in short."""
    if depth < 0:
        leave("it has an argument with containers in containers without end")
    if len(args) > MANY and type(args) is not tuple:
        leave(f"it has an argument with more than {MANY} entries")
    signature = [active]
    for x in args:
        cls = type(x)
        if cls is ndarray:
            signature.append(x.ndim if x.dtype is DOUBLE else (x.ndim, x.dtype))
        elif cls in SIMPLE:
            signature.append(cls)
        elif cls is tuple or cls is list:
            signature.append((cls, signature_of(code, x, (), depth - 1)))
        elif cls is dict:
            parts = signature_of(code, [*x.values()], (), depth - 1)
            signature.append((cls, *x, parts))
        else:
            leave(f"it has an argument of class {cls.__name__}")
    return tuple(signature)


def bound(f: FunctionType, code: CodeType, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """The arguments by position, with defaults."""
    check_positions(code)
    names = code.co_varnames[len(args) : code.co_argcount]
    if not kwargs.keys() <= set(names[max(code.co_posonlyargcount - len(args), 0) :]):
        leave("it is called with other arguments than it has")
    given = f.__defaults__ or ()
    own = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
    known = {**dict(zip(own, given, strict=True)), **kwargs}
    if len(args) > code.co_argcount or not known.keys() >= set(names):
        leave("it is called with other arguments than it has")
    return (*args, *[known[name] for name in names])


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
