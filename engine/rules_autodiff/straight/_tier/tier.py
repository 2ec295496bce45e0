"""The straight-line tier: gradients by generated code, if there is some.

Calls that violate its assumptions fall back to the tape: generated code has no side
effects, so the tape can always start again.
"""

from functools import partial
from math import isfinite
from types import FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from rules_autodiff._boundary.enter import Const, alias, without_const
from rules_autodiff._python.errors import UnsupportedProgram
from rules_autodiff._python.frozen import stale
from rules_autodiff._python.jitted import is_jitted
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._refusals import name_of
from rules_autodiff.straight._guard.trust import is_answered
from rules_autodiff.straight._program.kinds import WITH_AUX, leaf_kinds, rebuilt
from rules_autodiff.straight._runtime.strong_zeros import MADE
from rules_core.extend import strong_zeros_met

from .arguments import (
    STAR,
    bound,
    differentiated,
    leaves_of,
    packed,
    signature_of,
    spread_out,
    unshared,
)
from .left import AUTO, COMPILED, PINNED, NotCompiled, raised
from .results import given, is_finite
from .settings import STRICT
from .signatures import (
    DOUBLE,
    Form,
    Left,
    Lesson,
    Written,
    form_of,
    leave,
    write,
)
from .zeros import check_zeros

__all__ = [
    "Left", "Pass", "PassWithAux", "check_plain", "check_tier", "chosen", "code_of",
    "check_cotangent", "check_number", "gradient", "not_straight", "noted",
    "source_of", "strictly",
]  # fmt: skip

FLOAT64 = np.float64
TIERS = ("auto", "tape", *PINNED)


def gradient(
    f: Any, args: Any, kwargs: Any, active: tuple[int, ...], *, now: int = AUTO
) -> tuple[Any, tuple[Any, ...]] | None:
    """The value of `f` and the derivatives in some of its arguments.

    None if there will be no code, unless the caller requires it.

    Args:
        f: The function.
        args: Its positional arguments.
        kwargs: Its keyword arguments, constants.
        active: The positions of the arguments to differentiate.
        now: What the caller asks for; by all but `AUTO` code is generated at the first
            call.

    Raises:
        Left: The tape has to do it.
    """
    jitted, f = source_of(f)
    order = active if len(active) == 1 else tuple(sorted(active))
    choice = chosen(f, args, kwargs, order, now=now)
    if choice is None:
        return None
    form, written, inner, places, caps = choice
    written.compiling.wanted |= jitted
    if form.strict:
        MADE.begin()
    met = strong_zeros_met()
    try:
        pair: tuple[Any, tuple[Any, ...]] = STRICT.run(
            both_of, written, inner, caps, places, now
        )
        if STRICT.seen:
            STRICT.ask()
        if strong_zeros_met() != met:
            check_zeros(form, met)
    except Left as error:
        form.failed(error)
        STRICT.seen.clear()
        raise
    except Exception as error:  # the program's error: the tape raises it with its line
        form.failed(error)
        STRICT.seen.clear()
        leave(raised(error))
    if form.failures:
        form.worked()
    if places is not order:
        pair = pair[0], spread_out(f.__code__, order, places, pair[1])
    return pair if order == active else (pair[0], as_asked(active, order, pair[1]))


def strictly(form: Form, step: Any, *args: Any) -> Any:
    """A step of generated code, under the settings for warnings and errors."""
    if form.strict:
        MADE.begin()
    met = strong_zeros_met()
    try:
        result = STRICT.run(step, *args)
        if STRICT.seen:
            STRICT.ask()
        if strong_zeros_met() != met:
            check_zeros(form, met)
    except Left as error:
        form.failed(error)
        STRICT.seen.clear()
        raise
    except Exception as error:  # the program's error: the tape raises it
        form.failed(error)
        STRICT.seen.clear()
        leave(raised(error))
    return result


def source_of(f: Any) -> tuple[bool, Any]:
    """Whether numba has compiled a function, and the function in Python.

    Raises:
        Left: They are two functions: the tape tells about it.
    """
    if type(f) is FunctionType or not is_jitted(f):
        return False, f
    reason = stale(f)
    if reason:
        leave(reason)
    return True, f.py_func


def as_asked(active: Any, order: Any, found: tuple[Any, ...]) -> tuple[Any, ...]:
    """Cotangents in the order of the user's argument positions.

    Generated code returns them in the arguments' own order.
    """
    by_place = dict(zip(order, found, strict=True))
    return tuple([by_place[i] for i in active])


def both_of(
    written: Written, args: Any, caps: Any, active: Any, now: int
) -> tuple[Any, tuple[Any, ...]]:
    """Forward and backward."""
    if written.compiling.concerns(written.unit, now):
        found = compiled_back(written, args, caps, active, now, 1.0)
        if found is not None:
            check_number(found[0])
            return found[0], given(args, active, found[1])
    value, residual = written.forward(*args, caps)
    check_number(value)
    written.compiling.count(residual)
    cotangents = written.reverse(residual, 1.0)
    del residual  # its contents are not the user's
    return value, given(args, active, cotangents)


def compiled_back(
    written: Written, args: Any, caps: Any, active: Any, now: int, dy: Any
) -> Any:
    """The value and the cotangents by compiled code; None if it does not serve."""
    compiling = written.compiling
    kernel = compiling.chosen(written.unit, args, caps, None, active, now)
    if kernel is None:
        return None
    again = partial(written.forward, *args, caps)
    return noted(compiling, lambda: kernel.back(args, caps, dy), again, now)


def noted(compiling: Any, run: Any, again: Any, now: int) -> Any:
    """What compiled code gives; a number that became too small is noted."""
    found = compiling.serve(run, again, now)
    if found is not None and compiling.kernel.small:
        STRICT.seen.add("underflow")
    return found


def check_number(value: Any) -> None:
    """Let the tape return values of another form, or that are not finite."""
    if type(value) is not float and type(value) is not FLOAT64:
        leave(f"its result is of class {type(value).__name__}")
    if not isfinite(value):
        leave("its result is not finite")


class Pass:
    """One run of generated code, for any number of backward passes.

    Args:
        f: The function.
        args: Its positional arguments.
        kwargs: Its keyword arguments, constants.
        active: The positions of the arguments to differentiate.
        now: What the caller asks for.
        writing: Whether programs may write into their arguments, of which the code
            has copies.

    Attributes:
        active: The user's positions of the arguments to differentiate.
        order: These positions in ascending order.
        places: The active parameters, as in the generated code.
        output: The function's result.
        aux: What is returned beside it, with `has_aux`.
        mode: That of the code.
        kernel: The compiled code; None if there is none.
    """

    mode = "reverse"
    aux: Any = None
    kernel: Any = None

    def __init__(
        self,
        f: Any,
        args: Any,
        kwargs: Any,
        active: Any,
        *,
        now: int,
        writing: bool = True,
    ):
        self.now = now
        jitted, f = source_of(f)
        self.active, self.order = active, tuple(sorted(active))
        choice = chosen(f, args, kwargs, self.order, now=now, mode=self.mode)
        if choice is None:
            leave("there is no code")
        self.form, self.written, self.args, self.places, self.caps = choice
        self.written.compiling.wanted |= jitted
        self.code = f.__code__
        if self.written.unit.writes and not writing:
            leave("it writes into its arguments, and the caller is to see it")
        self.output, self.residual = self.run(self.forward)

    def run(self, step: Any, *args: Any) -> Any:
        """A step, under the settings for warnings and errors."""
        return strictly(self.form, step, *args)

    def forward(self) -> tuple[Any, Any]:
        value, residual = self.compiled_value() or self.written.forward(
            *self.args, self.caps
        )
        self.written.compiling.count(residual)
        if type(value) is tuple:
            return tuple(map(self.leaf, value)), residual
        return self.leaf(value), residual

    def compiled_value(self) -> Any:
        """The value by compiled code, which keeps no residuals; or None.

        Cotangents come from another run, at copies of all arrays.
        """
        if not self.written.compiling.concerns(self.written.unit, self.now):
            return None
        compiling = self.written.compiling
        self.kernel = compiling.chosen(
            self.written.unit, self.args, self.caps, None, self.places, self.now
        )
        if self.kernel is None:
            return None
        run, args = self.kernel.value_alone, (self.args, self.caps)
        again = partial(self.written.forward, *self.args, self.caps)
        found = noted(compiling, lambda: (run(*args), None), again, self.now)
        if found is not None:
            self.args, self.caps = unshared(self.args), unshared(self.caps)
        return found

    def compiled_cotangents(self, dy: Any) -> Any:
        """Cotangents by compiled code, which runs forward again; or None."""
        if self.kernel is None or self.residual is not None:
            return None
        run, args = self.kernel.back, (self.args, self.caps, dy)
        compiling = self.written.compiling
        again = partial(self.written.forward, *self.args, self.caps)
        return noted(compiling, lambda: run(*args)[1], again, self.now)

    def leaf(self, value: Any) -> Any:
        """A number or array of the result, as the user gets it."""
        if type(value) is ndarray:
            if value.dtype is not DOUBLE or not is_finite(value):
                leave("its result is no array of finite floats")
            leaves = [leaf for x in self.args for leaf in leaves_of(x)]
            own = value.base is None and all(value is not x for x in leaves)
            return value if own else alias(value)
        if type(value) is not float and type(value) is not FLOAT64:
            leave(f"its result is of class {type(value).__name__}")
        if not isfinite(value):
            leave("its result is not finite")
        return value

    def back(self, dy: Any) -> tuple[Any, ...]:
        """The cotangents of the active arguments, for a cotangent of the value.

        Raises:
            Left: The tape has to do it.
        """
        if type(self.output) is tuple:
            if type(dy) is not tuple or len(dy) != len(self.output):
                leave(f"a cotangent is of class {type(dy).__name__}")
            for y, part in zip(self.output, dy, strict=True):
                check_cotangent(y, part)
            dy = dy if len(dy) > 1 else dy[0]
        else:
            check_cotangent(self.output, dy)
        cotangents: tuple[Any, ...] = self.run(self.backward, dy)
        self.form.worked()
        return cotangents

    def pull_leaf(
        self, row: int, dy: Any, _below: Any, _leaves: Any
    ) -> tuple[Any, ...]:
        """The interface of a recording, for one leaf of the value alone."""
        if type(self.output) is not tuple:
            return self.back(dy)
        others = [zeros_of(y) for y in self.output]
        return self.back((*others[:row], dy, *others[row + 1 :]))

    def backward(self, dy: Any) -> tuple[Any, ...]:
        raw = self.compiled_cotangents(dy)
        if raw is None:
            if self.residual is None:  # the value was that of compiled code
                _, self.residual = self.written.forward(*self.args, self.caps)
            raw = self.written.reverse(self.residual, dy)
        cotangents = given(self.args, self.places, raw)
        cotangents = spread_out(self.code, self.order, self.places, cotangents)
        return as_asked(self.active, self.order, cotangents)


class PassWithAux(Pass):
    """A run of a program that returns a pair: what is differentiated, and the rest.

    `output` is the first part, and `aux` the second.
    """

    mode = WITH_AUX

    def forward(self) -> tuple[Any, Any]:
        if self.now == COMPILED:
            message = "has_aux is given"
            raise NotCompiled(message)
        (first, *others), residual = self.written.forward(*self.args, self.caps)
        kinds = leaf_kinds(self.written.unit.result)[1:]
        self.zeros = [
            zeros_of(x) for x, kind in zip(others, kinds, strict=True) if kind.is_real
        ]
        whole = self.written.unit.result.parts[1]
        self.aux = rebuilt(whole, iter([*map(self.own_leaf, others)]))
        return self.leaf(first), residual

    def own_leaf(self, value: Any) -> Any:
        """An array that is no argument's; anything else as it is."""
        if type(value) is not ndarray:
            return value
        leaves = [leaf for x in self.args for leaf in leaves_of(x)]
        own = value.base is None and all(value is not x for x in leaves)
        return value if own else alias(value)

    def backward(self, dy: Any) -> tuple[Any, ...]:
        return super().backward((dy, *self.zeros) if self.zeros else dy)


def check_cotangent(y: Any, dy: Any) -> None:
    """Let the tape read cotangents in other forms."""
    if type(y) is ndarray:
        fits = type(dy) is ndarray and dy.dtype is DOUBLE and dy.shape == y.shape
    else:
        fits = type(dy) is float or type(dy) is np.float64
    if not fits:
        leave(f"a cotangent is of class {type(dy).__name__}")


def zeros_of(y: Any) -> Any:
    return np.zeros(y.shape) if type(y) is ndarray else 0.0


def chosen(
    f: Any, args: Any, kwargs: Any, active: Any, *, now: int, mode: str = "reverse"
) -> tuple[Form, Any, Any, Any, Any] | None:
    """The form of a call, its code, its parameters, the active ones, and the captures.

    None if there will be no code. This is frequent, and an error would take longer.
    """
    if type(f) is not FunctionType:
        if not now:
            return None
        leave("it is no function written in Python")
    if is_answered(f):
        leave("a rule or an overlay answers for it")
    code = f.__code__
    if kwargs or len(args) != code.co_argcount or code.co_flags & STAR:
        args = bound(f, code, args, kwargs)
        if code.co_flags & STAR:
            check_no_constant(args, active)
            args, active = packed(code, tuple(without_const(args)), active)
    key = active if mode == "reverse" else (mode, active)
    try:
        signature = signature_of(args, key)
    except Left:
        check_no_constant(args, active)
        if not any(type(x) is Const for x in args):
            raise
        args = tuple(without_const(args))
        signature = signature_of(args, key)
    form = form_of(code, signature, mode)
    if form.reason and not form.units and not now:
        return None
    written, caps = form.chosen(f, args, active, now=now)
    if not written.is_trusted():
        if written.is_outdated():
            form.forget(written)
        leave("a rule, an overlay or debug mode has a say in it")
    return form, written, args, active, caps


def check_no_constant(args: Any, active: Any) -> None:
    """Let the tape tell of an argument that is not to be differentiated."""
    if any(type(args[i]) is Const for i in active):
        leave("it is differentiated by a constant")


def check_tier(tier: Any, name: str) -> None:
    """Raise an error for an unknown tier."""
    if tier not in TIERS:
        message = (
            f"{name}: tier must be 'auto', 'tape', 'straight' or 'compiled', but got "
            f"{tier!r}."
        )
        raise ValueError(message)


def check_plain(below: Any, *, has_aux: bool = False) -> None:
    """Let calls use the tape that generated code never supports."""
    if has_aux:
        leave("has_aux is given")
    if below is not PLAIN:
        leave("a derivative of a derivative is taken")


TAPED = "Use tier='auto', which records a tape then."
LEARNS = "Call it once with tier='auto', which records a tape, or use that tier."
UNCOMPILED = (
    "Use tier='straight', which runs generated Python code, or tier='auto', or write "
    "it in the compiled language (page 'Straight-line code')."
)


def not_straight(f: Any, reason: Left, cure: str = "") -> UnsupportedProgram:
    """The error if there is no generated code and it is required."""
    code = getattr(f, "__code__", None)
    place = f" ({code.co_filename}, line {code.co_firstlineno})" if code else ""
    if isinstance(reason, NotCompiled):
        return UnsupportedProgram(
            f"{name_of(f)}{place} must be a program that numba can compile, but it is "
            f"not compiled: {reason}. {UNCOMPILED}"
        )
    cure = cure or (LEARNS if isinstance(reason, Lesson) else TAPED)
    return UnsupportedProgram(
        f"{name_of(f)}{place} must be a program for which the straight-line tier can "
        f"write code, but is left to the tape: {reason}. {cure}"
    )


def code_of(f: FunctionType, args: Any) -> str:
    """The generated code for a call, with all floats and float arrays active.

    Raises:
        UnsupportedProgram: There is none.
    """
    values, active = without_const(args), differentiated(args)
    try:
        full = bound(f, f.__code__, tuple(values), {})
        full, active = packed(f.__code__, full, active)
        return str(write(f, full, active).text)
    except Left as reason:
        cure = "show(f) gives its code for the tape."
        raise not_straight(f, reason, cure) from None
