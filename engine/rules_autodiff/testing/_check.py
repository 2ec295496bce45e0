"""`check_program`: one program, both modes, state and aliasing included."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from rules_autodiff._front.jvp import jvp
from rules_autodiff._front.vjp import vjp
from rules_autodiff._python.errors import UnsupportedProgram
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._tape.recording import Recording

from ._vectors import (
    Slope,
    copy_of,
    equal,
    in_proportion,
    inner,
    largest,
    leaves,
    magnitudes,
    mapped,
    near_slopes,
    parts_of,
    random_like,
    shadowed,
    slopes,
    unshared,
)

__all__ = ["ProgramError", "Report", "check_program"]

ADJOINT = 1e-2  # the modes agree better than with differences
# An error of differences above this share of an output and its slope proves nothing,
# if the output is not a small remainder of larger numbers.
USELESS, NEGLIGIBLE = 1e-3, 1e-6
NEAR = 1e-3, 1e-6  # steps for other opinions
ROUNDING = 2**8  # units of round-off of the largest number that may be in all others


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
    derivatives along random directions, in which each argument moves in proportion to
    its size, against finite differences with their error; the classes, shapes
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


@dataclass
class _Line:
    """A direction, and the derivative of the outputs along it by differences."""

    direction: Any
    slopes: list[Slope]

    def values(self) -> list[Any]:
        return [slope.value for slope in self.slopes]

    def errors(self) -> list[Any]:
        return [slope.error for slope in self.slopes]

    def nearer(self, check: "_Check", program: Callable[..., Any]) -> "list[_Line]":
        """The derivative by shorter steps, for other opinions.

        Where the program rounds to some digits, or varies much faster than its
        arguments.
        """
        lines = []
        for step in NEAR:
            try:
                found = near_slopes(program, check.args, self.direction, step)
            except (ArithmeticError, ValueError):  # outside of its domain
                continue
            lines.append(_Line(self.direction, found))
        return lines


class _Check:
    def __init__(self, f: Callable[..., Any], args: Any, rtol: float, rng: Any):
        def program(*given: Any) -> Any:
            return f(*given), given

        self.program, self.args, self.rtol = program, args, rtol
        self.report = Report(getattr(f, "__name__", repr(f)))
        self.expected = unshared(program(*copy_of(args)))
        self.direction = in_proportion(random_like(rng, args), args)
        self.seed = random_like(rng, self.expected)

    @cached_property
    def lines(self) -> list[_Line]:
        """One for all arguments, and where they differ in size some for a few."""
        return [
            self.line(self.program, part, self.expected)
            for part in parts_of(self.direction, self.args)
        ]

    def line(self, program: Callable[..., Any], direction: Any, outputs: Any) -> _Line:
        """The derivatives along a direction.

        Raises:
            ProgramError: Finite differences find none.
        """
        for found in self.estimates(program, direction):
            if are_useful(found, outputs):
                return _Line(direction, found)
        message = (
            f"{self.report.program}: finite differences find no derivative at "
            "these arguments, so that none can be checked: the program jumps, has "
            "an infinite slope or is not finite there. Check it at other arguments."
        )
        raise ProgramError(message)

    def estimates(self, program: Any, direction: Any) -> Iterator[list[Slope]]:
        """Over many steps, and over two short ones where branches are near."""
        yield slopes(program, self.args, direction)
        try:
            near, far = (
                near_slopes(program, self.args, direction, step)
                for step in (5e-4, 1e-3)
            )
        except (ArithmeticError, ValueError):  # outside of its domain
            return
        yield [
            Slope(a.value, np.abs(a.value - b.value))
            for a, b in zip(near, far, strict=True)
        ]

    def rounding(self) -> float:
        """The part of a number that round-off may change."""
        kinds = map(np.result_type, leaves([self.args, self.expected]))
        eps = max((float(np.finfo(kind).eps) for kind in kinds), default=0.0)
        return ROUNDING * eps

    def far(self, found: Any, line: _Line, outputs: Any, program: Any) -> Any:
        """A derivative that differs from its differences, and they; or None."""
        far = self.far_from(found, line, outputs)
        if far is None:
            return None
        others = line.nearer(self, program)
        return far if all(self.far_from(found, x, outputs) for x in others) else None

    def far_from(self, found: Any, line: _Line, outputs: Any) -> Any:
        ends = leaves(outputs)
        for value, slope, end in zip(leaves(found), line.slopes, ends, strict=True):
            size = max(largest(value), largest(slope.value))
            allowed = self.rtol * size + self.rounding() * max(size, largest(end))
            gap = np.abs(np.asarray(value) - slope.value)
            if not np.all(gap <= allowed + slope.error):
                return value, slope.value
        return None

    def same(self, mode: str, what: str, found: Any, wanted: Any) -> None:
        self.report.require(
            f"{mode}: {what}", equal(found, wanted), lambda: f"{found} is not {wanted}"
        )

    def close(self, what: str, found: float, wanted: float, allowed: float) -> None:
        self.report.require(
            what,
            found == wanted or abs(found - wanted) <= allowed,
            lambda: f"{found} is not {wanted}",
        )

    def forward(self) -> None:
        args = copy_of(self.args)
        y, self.pushed = jvp(self.program, args, self.direction)
        self.same("forward mode", "value", y[0], self.expected[0])
        self.same("forward mode", "state after the call", args, self.expected[1])
        self.agree(self.pushed, self.lines[0])
        for line in self.lines[1:]:
            self.agree(jvp(self.program, copy_of(self.args), line.direction)[1], line)
        self.report.checks.append("forward mode: derivative")

    def agree(self, pushed: Any, line: _Line) -> None:
        """Compare tangents of the outputs with differences.

        Raises:
            ProgramError: They differ.
        """
        far = self.far(pushed, line, self.expected, self.program)
        if far:
            message = (
                f"{self.report.program}: forward mode gave {far[0]}, not {far[1]}."
            )
            raise ProgramError(message)

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
        """Compare `⟨pulled, ẋ⟩` with `⟨seed, ẏ⟩`, along each line."""
        pairs = [self.pair(pulled, seed, line, self.expected) for line in self.lines]
        worst = max(pairs, key=excess)
        if excess(worst) > 0:
            worst = self.again(worst, self.lines[pairs.index(worst)], pulled, seed)
        self.close(what, *worst)

    def again(self, pair: Any, line: _Line, pulled: Any, seed: Any) -> Any:
        """A comparison, or that with the derivative by shorter steps."""
        others = [
            self.pair(pulled, seed, other, self.expected)
            for other in line.nearer(self, self.program)
        ]
        return min([pair, *others], key=excess)

    def pair(
        self, pulled: Any, seed: Any, line: _Line, outputs: Any
    ) -> tuple[float, float, float]:
        """`⟨pulled, ẋ⟩`, `⟨seed, ẏ⟩` by differences, and how far they may differ."""
        found, wanted = inner(pulled, line.direction), inner(seed, line.values())
        terms = max(magnitudes(seed, line.values()), abs(found))
        rounding = self.rounding_of_inner(seed, outputs, pulled, line.direction)
        error = magnitudes(seed, line.errors())
        return found, wanted, self.rtol * terms + error + rounding

    def rounding_of_inner(
        self, seed: Any, outputs: Any, pulled: Any, direction: Any
    ) -> float:
        """What round-off may leave in `⟨seed, ẏ⟩` and `⟨pulled, ẋ⟩`."""
        terms = magnitudes(seed, outputs) + magnitudes(pulled, direction)
        return self.rounding() * terms

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
        # The state has a cotangent of the size of the seed, beside which small second
        # derivatives would be rounding.
        state = mapped(self.seed[1], lambda leaf: leaf * 0, {})
        seed, direction, program = (self.seed[0], state), self.direction, self.program

        def pulled(*args: Any) -> Any:
            return vjp(program, *args)[1](seed)

        def pushed(*args: Any) -> Any:
            return jvp(program, args, direction)[1]

        outputs = pulled(*copy_of(self.args))
        line = self.line(pulled, direction, outputs)
        value = jvp(pulled, copy_of(self.args), direction)[1]
        far = self.far(value, line, outputs, pulled)
        self.report.require(
            "forward over reverse", not far, lambda: f"{far[0]} is not {far[1]}"
        )
        _, pullback = vjp(pulled, *copy_of(self.args))
        along = iter(leaves(direction))
        cotangent = mapped(outputs, lambda _: next(along), {})
        again = pullback(cotangent)
        self.close(
            "reverse over reverse",
            *self.pair(again, direction, line, outputs),
        )
        _, pullback = vjp(pushed, *copy_of(self.args))
        along = iter(leaves(seed))
        cotangent = mapped(self.pushed, lambda _: next(along), {})
        again = pullback(cotangent)
        self.close(
            "reverse over forward",
            *self.pair(again, direction, line, outputs),
        )

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
        part = self.rtol * (ADJOINT if double else 1)
        terms = max(
            magnitudes(self.seed, self.pushed), magnitudes(self.pulled, self.direction)
        )
        rounding = self.rounding_of_inner(
            self.seed, self.pushed, self.pulled, self.direction
        )
        self.close("both modes: adjoint", value, expected, part * terms + rounding)


def excess(pair: tuple[float, float, float]) -> float:
    """By how much two numbers differ more than they may."""
    found, wanted, allowed = pair
    return abs(found - wanted) - allowed


def are_useful(found: list[Slope], outputs: Any) -> bool:
    """Whether differences say enough about each output."""
    sizes = [
        max(largest(slope.value), largest(end))
        for slope, end in zip(found, leaves(outputs), strict=True)
    ]
    least = NEGLIGIBLE * max(sizes, default=0.0)
    return all(
        largest(slope.error) <= USELESS * max(size, least)
        and bool(np.all(np.isfinite(slope.value)))
        and bool(np.all(np.isfinite(slope.error)))
        for slope, size in zip(found, sizes, strict=True)
    )
