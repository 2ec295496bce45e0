"""The calls of a function: one form per signature of arguments.

A form counts calls until generating code pays, stores the code, and remembers
unsupported programs.
"""

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from rules_autodiff._lift.compile import PARSING
from rules_autodiff._python.frozen import stale
from rules_autodiff._python.jitted import is_jitted
from rules_autodiff._python.lifted_code import ByIdentity, is_lifted_code
from rules_autodiff._python.opaque import is_opaque
from rules_autodiff.straight._guard.trust import CHANGES, are_ours
from rules_autodiff.straight._program.kinds import (
    DEEP,
    MANY,
    TANGENT,
    WITH_AUX,
    Kind,
    kind_of,
)
from rules_autodiff.straight._runtime.learned import LEARNED

from .compiling import Compiling
from .left import COMPILED, Left, NotCompiled, leave

__all__ = [
    "DEEP", "DOUBLE", "FUNCTIONS", "MANY", "SIMPLE", "Form", "Left", "Lesson",
    "NotFinite", "Written", "check_positions", "form_of", "is_differentiated", "leave",
    "unit_of", "write",
]  # fmt: skip

AFTER = 1  # calls by the tape before code is generated, which takes milliseconds
UNITS = 4  # of one form: the kinds of captured values may change
PATIENCE = 2  # of them that wait for a result in a branch
LESSONS = 8  # calls by the tape that observe a rule's result
STRONG = 2  # fallbacks in a row after which code asks for strong zeros
BACKWARD = frozenset({"reverse", WITH_AUX})
FAILURES = 8  # fallbacks in a row before a form is given up
SIGNATURES = 64  # of one function
FUNCTIONS = 1000  # with stored forms: code may refer to its own function

CHANGING = "what it reads from outside changes too often"
VARIADIC = 0x08  # the bit of co_flags for **kwargs
DOUBLE = np.dtype(float)
SIMPLE = frozenset({
    float, np.float64, int, np.int64, bool, np.bool_, type(None), str
})  # fmt: skip


class NotFinite(Left):
    """A call uses the tape, for a derivative is infinite or not a number."""


class Lesson(Left):
    """A call uses the tape, which observes what code generation needs."""


class Written:
    """Generated code, and whether the tape would use equal derivatives.

    Attributes:
        unit: The code.
        guard: Its function for what it captures.
        forward: Its forward function.
        reverse: Its backward function.
        tangent: In forward mode, the tangent of its value as a program.
        compiling: Its compiled code, if there is some.
    """

    __slots__ = (
        "_stamp", "_trusted", "compiling", "forward", "guard", "reverse", "tangent",
        "unit",
    )  # fmt: skip

    def __init__(self, unit: Any):
        self.unit = unit
        self.guard, self.forward, self.reverse = unit.guard, unit.forward, unit.reverse
        self._stamp, self._trusted = -1, False
        self.tangent: FunctionType | None = None
        self.compiling = Compiling()

    def is_outdated(self) -> bool:
        """Whether other rules apply now than when the code was generated."""
        return not all(ruled.holds() for ruled in self.unit.ruled)

    def is_trusted(self) -> bool:
        """Whether the derivatives in the code still apply."""
        if self._stamp != CHANGES.count:
            stamp = CHANGES.count  # rules may change during the check
            programs = [program() for program in self.unit.programs]
            ours = are_ours((*self.unit.functions, *filter(None, programs)))
            self._trusted = ours and all(ruled.holds() for ruled in self.unit.ruled)
            self._stamp = stamp
        return self._trusted


class Form:
    """The calls of one function with arguments of one signature.

    Attributes:
        calls: Their number, until code is generated.
        units: The generated code, for different kinds of captured values.
        reason: Why no more code is generated; empty before.
        failures: The number of fallbacks in a row.
        lessons: The number of calls by the tape that observed a rule's result.
        mode: `"reverse"`, `"forward"`, or `"lanes"`.
        strict: Whether its code asks for strong zeros.
        moving: Whether its code computes a tangent, of which a zero is not strong.
    """

    __slots__ = (
        "calls", "failures", "lessons", "mode", "moving", "reason", "strict", "units",
    )  # fmt: skip
    after = 1  # times as many calls by the tape as `AFTER`

    def __init__(self, mode: str = "reverse") -> None:
        self.mode, self.strict, self.moving = mode, False, False
        self.calls = self.failures = self.lessons = 0
        self.units: tuple[Written, ...] = ()
        self.reason = ""

    def chosen(
        self, f: FunctionType, args: Any, active: Any, *, now: int
    ) -> tuple[Written, Any]:
        """The code for a call, and the captured values.

        Raises:
            Left: There is none, or not yet.
        """
        for written in self.units:
            try:
                caps = written.guard(f)
            except Exception:
                continue
            if caps is not None:
                return written, caps
        if self.reason:
            leave(self.reason)
        self.calls += 1
        if self.calls <= AFTER * self.after and not now:
            leave("it is the first call with such arguments")
        with PARSING:
            try:
                return self.extended(f, args, active)
            except Lesson as error:  # calls of rules are not compiled
                raise NotCompiled(str(error)) if now == COMPILED else error from None

    def extended(self, f: FunctionType, args: Any, active: Any) -> tuple[Written, Any]:
        """New code for a call."""
        try:
            patient = self.lessons < PATIENCE
            unit = self.written(f, args, active, patient=patient)
        except Lesson as error:
            self.lessons += 1
            self.reason = str(error) if self.lessons == LESSONS else ""
            raise
        except Left as error:
            self.reason = str(error)
            raise
        caps = unit.guard(f)
        if caps is None:
            jitted = filter(is_jitted, unit.namespace.values())
            reasons = filter(None, map(stale, jitted))
            leave(next(reasons, "what it reads from outside has just changed"))
        written = Written(unit)
        self.units = (*self.units, written)
        if len(self.units) >= UNITS:
            self.reason = CHANGING
        return written, caps

    def written(self, f: FunctionType, args: Any, active: Any, *, patient: bool) -> Any:
        """The unit for a call."""
        mode, strict = self.mode, self.strict
        return write(f, args, active, patient=patient, mode=mode, strict=strict)

    def forget(self, written: Written) -> None:
        """Drop code whose rules have changed; it is generated again."""
        self.units = tuple([unit for unit in self.units if unit is not written])
        self.lessons = 0
        if self.reason == CHANGING:
            self.reason = ""

    def failed(self, error: Exception) -> None:
        """Count a fallback; after several in a row the form is given up.

        If derivatives were not finite, code with strong zeros is written first.
        """
        self.failures += not isinstance(error, NotCompiled)
        again = self.failures == STRONG and type(error) is NotFinite
        if again and not (self.strict or self.moving) and self.mode in BACKWARD:
            self.strict, self.units, self.failures = True, (), 0
        if self.failures == FAILURES:
            self.units, self.reason = (), "written code came to nothing before"

    def worked(self) -> None:
        """Count a successful call."""
        self.failures = 0


def write(
    f: FunctionType,
    args: Any,
    active: Any,
    *,
    patient: bool = True,
    mode: str = "reverse",
    strict: bool = False,
) -> Any:
    """The unit of a function for such arguments.

    Raises:
        Left: The program is not supported.
    """
    code = f.__code__
    if is_opaque(f):
        leave("it is no program of the user's")
    if is_lifted_code(code):
        leave("it was made by a program that a tape recorded; make it outside")
    check_positions(code)
    kinds: list[Kind] = []
    for x, name in zip(args, code.co_varnames, strict=False):
        kind = kind_of(x)
        if kind is None:
            leave(
                f"its argument {name} is of a kind that the tier does not know, "
                f"{shown(x)}"
            )
        kinds.append(kind)
    if not all(is_differentiated(args[i]) for i in active):
        leave("it is differentiated by what holds no float or array of floats")
    how = {"patient": patient, "mode": mode, "strict": strict}
    return unit_of(f, lambda: tuple(kinds), active, how)


def shown(x: Any) -> str:
    if type(x) is np.ndarray:
        return f"an array of {x.dtype} with {x.ndim} axes"
    return f"a {type(x).__name__}"


def unit_of(
    f: FunctionType, kinds: Callable[[], tuple[Kind, ...]], active: Any, how: Any
) -> Any:
    """The unit of a function for arguments of some kinds.

    Raises:
        Left: The program is not supported.
    """
    # Only code generation needs the reader of programs.
    from rules_autodiff.straight._program.refused import Refused, Unlearned
    from rules_autodiff.straight._unit.unit import write as written

    try:
        return written(f, kinds(), active, **how)
    except Unlearned as error:
        LEARNED.start()
        raise Lesson(error.placed) from None
    except Refused as error:
        leave(error.placed)
    except Exception as error:  # the tape may support it
        leave(f"it cannot be read ({type(error).__name__}: {error})")


def check_positions(code: CodeType) -> None:
    """Let a function with other than positional arguments use the tape."""
    if code.co_flags & VARIADIC or code.co_kwonlyargcount:
        leave("it has arguments that are no positions")


def is_differentiated(x: Any) -> bool:
    if type(x) is np.ndarray:
        return x.dtype is DOUBLE
    if type(x) is tuple or type(x) is list:
        return any(map(is_differentiated, x))
    if type(x) is dict:
        return any(map(is_differentiated, x.values()))
    return type(x) is float or type(x) is np.float64


FORMS = ByIdentity()  # by code object: signature → form


def form_of(code: CodeType, signature: tuple[Any, ...], mode: str = "reverse") -> Form:
    """The form of calls of a signature; made for the first call."""
    forms: dict[Any, Form] | None = FORMS.get(code)
    if forms is None:
        forms = {}
        FORMS.put(code, forms)
        while len(FORMS) > FUNCTIONS:
            FORMS.entries.pop(next(iter(FORMS.entries)), None)
    form = forms.get(signature)
    if form is None:
        if len(forms) >= SIGNATURES:
            leave("it is called with arguments of too many kinds")
        form = forms[signature] = Form(mode)
        form.moving = code.co_filename.startswith(TANGENT)
    return form
