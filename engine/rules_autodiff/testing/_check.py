"""`check_program`: one program, both modes, state and aliasing included."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from rules_autodiff._front.jvp import jvp
from rules_autodiff._front.vjp import vjp
from rules_autodiff._python.errors import UnsupportedProgram
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._tape.recording import Recording

from ._vectors import (
    copy_of,
    difference,
    equal,
    inner,
    leaves,
    mapped,
    random_like,
    shadowed,
    unshared,
)

__all__ = ["ProgramError", "Report", "check_program"]

ADJOINT = 1e-2  # the modes agree better than with differences


class ProgramError(AssertionError):
    """A check of a program failed: names the program, the check and the numbers."""


@dataclass
class Report:
    """The passed checks; prints as a table.

    Attributes:
        program: The name of the program.
        checks: The names of the checks that passed, in order.
    """

    program: str
    checks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.program}:", *(f"  ok  {check}" for check in self.checks)]
        return "\n".join(lines)

    def require(self, check: str, holds: bool, found: Callable[[], str]) -> None:
        """Record a check, or raise an error.

        Raises:
            ProgramError: The check fails.
        """
        if not holds:
            message = f"{self.program}: {check} must hold, but {found()}."
            raise ProgramError(message)
        self.checks.append(check)


def check_program(
    f: Callable[..., Any],
    *args: Any,
    rtol: float = 1e-6,
    seed: int = 0,
    forward: bool = True,
    reverse: bool = True,
    replay: bool = True,
    second: bool = False,
) -> Report:
    """Differentiate `f(*args)` in both modes and check the results.

    The outputs are the result of `f` and the final state of its arguments. Checked: the
    values and the state after the forward pass; that shadows alias as their primals;
    derivatives along random directions against finite differences; the classes, shapes
    and dtypes of the cotangents; that they are added to earlier ones, and own their
    memory; the arguments after the reverse pass; a second call of the pullback; `⟨ȳ, J
    ẋ⟩ = ⟨J* ȳ, ẋ⟩`; all this with straight-line code, if there is some.

    Args:
        f: The program.
        *args: Its arguments; all are differentiated. They are copied for each run.
        rtol: Relative tolerance of the comparison with finite differences.
        seed: Of the random directions.
        forward: Whether to check forward mode.
        reverse: Whether to check reverse mode.
        replay: Whether to call the pullback again, with other seeds and with equal
            ones.
        second: Whether to check second derivatives too: forward and reverse mode over
            reverse mode, and reverse over forward.

    Raises:
        ProgramError: A check fails.

    >>> import numpy as np
    >>> from rules_autodiff.testing import check_program
    >>> def scale(x, c):
    ...     x *= c
    ...     return x @ x
    >>> print(check_program(scale, np.array([1.0, 2.0]), 3.0))
    scale:
      ok  forward mode: value
      ok  forward mode: state after the call
      ok  forward mode: derivative
      ok  reverse mode: value
      ok  reverse mode: state after the forward pass
      ok  reverse mode: aliasing
      ok  reverse mode: arguments restored
      ok  reverse mode: interface types
      ok  reverse mode: derivative
      ok  reverse mode: cotangents own their memory
      ok  reverse mode: increments are added
      ok  reverse mode: pullback called again
      ok  reverse mode: arguments restored again
      ok  straight-line code: value
      ok  straight-line code: interface types
      ok  straight-line code: derivative
      ok  straight-line code: derivative
      ok  straight-line code: arguments as they were
      ok  both modes: adjoint
    """
    check = _Check(f, args, rtol, np.random.default_rng(seed))
    if forward:
        check.forward()
    if reverse:
        check.reverse(replay=replay)
        check.straight(f)
    if forward and reverse:
        check.adjoint()
    if second:
        check.second()
    return check.report


class _Check:
    def __init__(self, f: Callable[..., Any], args: Any, rtol: float, rng: Any):
        def program(*given: Any) -> Any:
            return f(*given), given

        self.program, self.args, self.rtol = program, args, rtol
        self.report = Report(getattr(f, "__name__", repr(f)))
        self.direction = random_like(rng, args)
        self.expected = unshared(program(*copy_of(args)))
        self.seed = random_like(rng, self.expected)
        self.slope = difference(program, args, self.direction)
        self.scale = max(
            [1.0, *(float(np.max(np.abs(d), initial=0)) for d in self.slope)]
        )

    def same(self, mode: str, what: str, found: Any, wanted: Any) -> None:
        self.report.require(
            f"{mode}: {what}", equal(found, wanted), lambda: f"{found} is not {wanted}"
        )

    def close(
        self, what: str, found: float, wanted: float, scale: float, part: float = 1.0
    ) -> None:
        self.report.require(
            what,
            abs(found - wanted) <= part * self.rtol * max(scale, abs(wanted)),
            lambda: f"{found} is not {wanted}",
        )

    def forward(self) -> None:
        args = copy_of(self.args)
        y, dy = jvp(self.program, args, self.direction)
        self.pushed = dy
        self.same("forward mode", "value", y[0], self.expected[0])
        self.same("forward mode", "state after the call", args, self.expected[1])
        for value, expected in zip(leaves(dy), self.slope, strict=True):
            gap = float(np.max(np.abs(np.asarray(value) - expected), initial=0))
            if gap > self.rtol * self.scale:
                message = (
                    f"{self.report.program}: forward mode gave {value}, not {expected}."
                )
                raise ProgramError(message)
        self.report.checks.append("forward mode: derivative")

    def reverse(self, *, replay: bool) -> None:
        args = copy_of(self.args)
        recording = Recording(PLAIN, self.program, args, {}, range(len(args)))
        self.same("reverse mode", "value", recording.value()[0], self.expected[0])
        self.same(
            "reverse mode", "state after the forward pass", args, self.expected[1]
        )
        self.aliases(recording)
        self.pulled = self.pull(recording, args, replay=replay)
        self.owned(self.pulled, args)
        if replay:
            self.accumulated(recording, args)

    def pull(self, recording: Recording, args: Any, *, replay: bool) -> Any:
        """The cotangents; at first those of the result alone, if there is a replay."""
        seed = (self.seed[0], None) if replay else self.seed
        pulled = recording.pull(recording.output, seed, PLAIN)
        self.same("reverse mode", "arguments restored", args, self.args)
        self.interface(pulled, args)
        if replay:
            seed = self.seed[0], mapped(self.seed[1], lambda leaf: leaf * 0, {})
        self.along("reverse mode: derivative", pulled, seed)
        return pulled

    def straight(self, f: Callable[..., Any]) -> None:
        """The checks with straight-line code, twice, if there is any."""
        args = copy_of(self.args)
        try:
            y, pullback = vjp(f, *args, tier="straight")
            pulled = [pullback(self.seed[0]) for _ in range(2)]
        except UnsupportedProgram:
            return
        self.same("straight-line code", "value", y, self.expected[0])
        self.interface(pulled[0], args, "straight-line code")
        seed = self.seed[0], mapped(self.seed[1], lambda leaf: leaf * 0, {})
        for cotangents in pulled:
            self.along("straight-line code: derivative", cotangents, seed)
        self.same("straight-line code", "arguments as they were", args, self.args)

    def along(self, what: str, pulled: Any, seed: Any) -> None:
        scale = self.scale * len(leaves(seed))
        value, expected = inner(pulled, self.direction), inner(seed, self.slope)
        self.close(what, value, expected, scale)

    def accumulated(self, recording: Recording, args: Any) -> None:
        """The checks again, with random numbers in the cotangents of the arguments."""
        pulled = recording.pull(recording.output, self.seed, PLAIN)
        self.along("reverse mode: increments are added", pulled, self.seed)
        again = recording.pull(recording.output, self.seed, PLAIN)
        self.same("reverse mode", "pullback called again", again, pulled)
        self.same("reverse mode", "arguments restored again", args, self.args)
        self.pulled = pulled

    def interface(self, pulled: Any, args: Any, mode: str = "reverse mode") -> None:
        kinds = [(type(x), np.shape(x), np.result_type(x)) for x in leaves(args)]
        form = [(type(x), np.shape(x), np.result_type(x)) for x in leaves(pulled)]
        self.report.require(
            f"{mode}: interface types",
            form == kinds,
            lambda: f"the cotangents are {form} for arguments {kinds}",
        )

    def aliases(self, recording: Recording) -> None:
        """Shadows share memory exactly if their primals do."""
        pairs = shadowed(recording.run, recording.output)
        wrong = [
            (a, b)
            for (a, da), (b, db) in combinations(pairs, 2)
            if np.may_share_memory(a, b) != np.may_share_memory(da, db)
        ]
        self.report.require(
            "reverse mode: aliasing",
            not wrong,
            lambda: (
                f"two arrays and their shadows differ in sharing memory: {wrong[0]}"
            ),
        )

    def second(self) -> None:
        """Differentiate `args ↦ J(args)* ȳ` and `args ↦ ⟨ȳ, J(args) ẋ⟩` again."""
        seed, direction, program = self.seed, self.direction, self.program

        def pulled(*args: Any) -> Any:
            return vjp(program, *args)[1](seed)

        def pushed(*args: Any) -> Any:
            return jvp(program, args, direction)[1]

        slope = difference(pulled, self.args, direction)
        scale = max([1.0, *(float(np.max(np.abs(d), initial=0)) for d in slope)])
        value = jvp(pulled, copy_of(self.args), direction)[1]
        for one, expected in zip(leaves(value), slope, strict=True):
            gap = float(np.max(np.abs(np.asarray(one) - expected), initial=0))
            self.close("forward over reverse", gap, 0.0, scale)
        expected = inner(direction, slope)
        _, pullback = vjp(pulled, *copy_of(self.args))
        along = iter(leaves(direction))
        cotangent = mapped(self.pulled, lambda _: next(along), {})
        again = inner(pullback(cotangent), direction)
        self.close("reverse over reverse", again, expected, scale * len(slope))
        _, pullback = vjp(pushed, *copy_of(self.args))
        along = iter(leaves(seed))
        cotangent = mapped(self.pushed, lambda _: next(along), {})
        again = inner(pullback(cotangent), direction)
        self.close("reverse over forward", again, expected, scale * len(slope))

    def owned(self, pulled: Any, args: Any) -> None:
        before, copies = copy_of((args, self.seed)), copy_of(pulled)
        for leaf in leaves(pulled):
            if isinstance(leaf, np.ndarray):
                leaf[...] = 7.0
        self.same(
            "reverse mode", "cotangents own their memory", (args, self.seed), before
        )
        for leaf, value in zip(leaves(pulled), leaves(copies), strict=True):
            if isinstance(leaf, np.ndarray):
                leaf[...] = value

    def adjoint(self) -> None:
        """⟨ȳ, J ẋ⟩ = ⟨J* ȳ, ẋ⟩, more accurately than by finite differences."""
        value = inner(self.pulled, self.direction)
        expected = inner(self.seed, self.pushed)
        double = all(
            np.finfo(np.result_type(x)).bits == 64 for x in leaves(self.pulled)
        )
        scale = self.scale * max(1, len(leaves(self.seed)))
        self.close(
            "both modes: adjoint", value, expected, scale, ADJOINT if double else 1
        )
