"""The choice between generated code in Python and the same code compiled by numba.

Compiling takes a second or more. So it is done for loops of numbers and small arrays,
once they have done as much work in Python: the work is counted, not timed, so that each
run of a program takes the same path.
"""

from functools import cache
from importlib.util import find_spec
from typing import Any

from rules_autodiff._lift.compile import PARSING

from .left import COMPILED, STRAIGHT, NotCompiled, raised

__all__ = ["Compiling", "is_installed"]

WORTH = 1_000_000  # records of blocks: about two seconds of Python
PASS = 500  # records for which a pass in forward mode counts, which keeps none
FAILURES = 8  # calls in a row that compiled code does not serve, until it is given up


# What compiled code raises where Python code goes on.
BEYOND: dict[type, str] = {
    OverflowError: "a whole number is too large for it",
    ValueError: "it leaves a value or derivative at these arguments to Python code",
}


def error_of(again: Any) -> str:
    """The error of the program, with its place; "" if there is none."""
    try:
        again()
    except Exception as error:
        return raised(error)
    return ""


@cache
def is_installed() -> bool:
    """Whether numba can be imported."""
    return find_spec("numba") is not None


class Compiling:
    """The compiled code of a unit, if there is any.

    Attributes:
        kernel: The code.
        reason: Why there is none and will be none; empty before that is known.
        wanted: Whether to compile at once: numba has compiled the program itself.
        work: The records that generated Python code has made.
        calls: The number of calls that compiled code has served.
        failures: The number of calls in a row that it has not served.
    """

    __slots__ = ("calls", "failures", "kernel", "reason", "wanted", "work")

    def __init__(self) -> None:
        self.kernel: Any = None
        self.reason = "" if is_installed() else "numba is not installed"
        self.work = self.calls = self.failures = 0
        self.wanted = False

    def chosen(self, unit: Any, args: Any, caps: Any, dots: Any, active: Any,
               now: int) -> Any:  # fmt: skip
        """The compiled code for a call; None if generated Python code serves it.

        Raises:
            NotCompiled: There is none, and the caller requires it.
        """
        if now == STRAIGHT:
            return None
        required = now == COMPILED
        if self.kernel is None and not self.reason and (required or self.pays(unit)):
            with PARSING:
                self.compile(unit, args, caps, dots, active, required=required)
        if self.kernel is None and required:
            raise NotCompiled(self.reason)
        return self.kernel

    def pays(self, unit: Any) -> bool:
        return self.wanted or (unit.loops and self.work >= WORTH)

    def concerns(self, unit: Any, now: int) -> bool:
        """Whether code may be compiled: quickly asked at each call."""
        return unit.loops or self.wanted or now == COMPILED

    def compile(self, unit: Any, args: Any, caps: Any, dots: Any, active: Any,
                *, required: bool) -> None:  # fmt: skip
        """Compile the code, or note why not."""
        from rules_autodiff.straight._compiled.kernels import kernel_of
        from rules_autodiff.straight._compiled.terms import Uncompiled

        try:
            self.kernel = kernel_of(unit, args, caps, dots, active, required=required)
        except Uncompiled as error:
            self.reason = str(error)

    def serve(self, run: Any, again: Any, now: int) -> Any:
        """What compiled code gives; None if it does not serve this call.

        Args:
            run: The call of compiled code.
            again: The call of generated Python code, which tells of errors.
            now: What the caller asks for.

        Raises:
            NotCompiled: It does not, and the caller requires it.
        """
        from rules_autodiff.straight._compiled.kernels import Unused

        try:
            found = run()
        except Unused as error:
            reason = beyond = str(error)
        except Exception as error:  # of the program, or a whole number too large
            reason = f"it raised {type(error).__name__}"
            beyond = BEYOND.get(type(error), reason)
        else:
            self.failures = 0
            self.calls += 1
            return found
        self.failures += 1
        if self.failures >= FAILURES and now != COMPILED:
            self.kernel, self.reason = None, f"compiled code did not serve: {reason}"
        if now == COMPILED:
            reason = error_of(again) or beyond
            message = f"compiled code does not serve this call: {reason}"
            raise NotCompiled(message)
        return None

    def count(self, residual: Any) -> None:
        """Count the work of a pass in Python."""
        if not self.reason and residual and type(residual[0]) is list:
            self.work += len(residual[0])

    def report(self) -> str:
        """The text about what happened so far."""
        if self.kernel is not None:
            return (
                f"compiled by numba in {self.kernel.seconds:.1f} s, "
                f"{self.calls} calls since"
            )
        if self.reason:
            return f"not compiled: {self.reason}"
        return "not compiled yet"
