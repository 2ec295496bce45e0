"""The engine's derivatives of a function beside finite differences."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, final

import numpy as np

from rules_autodiff import UnsupportedProgram, jvp, vjp
from rules_autodiff.straight._tier.signatures import FORMS
from rules_core import NoTangent, RulesCoreError, ZeroTangent
from rules_core.testing import Estimate, differentiate
from tests.wild.discovery import (
    Found,
    Program,
    TooLongError,
    Vector,
    limited,
    order,
    programs,
    trials,
    value,
)

LEAST = 1e-6  # slopes of less are no dependence
JUDGED = 1e-4  # a difference quotient less certain than this judges nothing
ROUNDOFF = 1e-9  # what sums of the engine may lose, beside their largest term
NOISE = 1e3  # how many times a function's own round-off its slope may be off
PATIENCE = 20.0

Verdict = Literal["right", "refused", "not a number", "undecided", "wrong"]


@final
@dataclass(frozen=True)
class Judgement:
    """What became of one function.

    Attributes:
        name: The function, with its module.
        verdict: How it ended.
        why: The error, or what differs.
        written: Whether its derivative was written out as straight-line code.
    """

    name: str
    verdict: Verdict
    why: str = ""
    written: bool = False


@final
@dataclass(frozen=True)
class Trial:
    """A function, arguments, and its slopes along a direction for each argument.

    Attributes:
        weights: What the numbers of the result are multiplied by before they are added.
        directions: One for each argument, shaped as it.
        slopes: The derivative of the weighted sum along each direction.
    """

    found: Found
    weights: Vector
    directions: list[Any]
    slopes: list[Estimate]


def smooth(found: Found) -> Trial | None:
    """Slopes by finite differences; None where they cannot be told with certainty."""
    args = found.make()
    first = value(found.function, args)
    again = value(found.function, found.make())
    if first is None or not first.any() or not same(first, again):
        return None
    random = np.random.default_rng(order(found.name))
    weights = random.uniform(0.5, 1.5, first.size) / np.max(
        np.abs(first), initial=1e-300
    )
    directions = [x * random.uniform(0.5, 1.5, np.shape(x)) for x in args]
    directions = [d if np.ndim(d) else float(d) for d in directions]

    candidate = Trial(found, weights, directions, [])
    for place in range(len(args)):
        candidate.slopes.append(slope(candidate, place, found.function))
        if not certain(candidate.slopes[-1]):
            return None
    if all(abs(s.value[0]) < LEAST for s in candidate.slopes):
        return None
    return candidate


def slope(trial: Trial, place: int, function: Callable[..., Any]) -> Estimate:
    """The slope for one argument, with an error that counts the function's round-off.

    Two ladders of steps of different lengths must agree: the larger of their distance
    and their own errors is the error, and round-off measured over short steps is added.
    """

    def curve(t: float) -> Vector:
        moved = list(trial.found.make())
        moved[place] = moved[place] + float(t) * trial.directions[place]
        point = value(function, tuple(moved))
        if point is None or point.shape != trial.weights.shape:
            raise ValueError
        return np.array([trial.weights @ point])

    first = differentiate(curve)
    other = differentiate(lambda t: curve(t / 30.0))
    apart = np.abs(first.value - 30.0 * other.value)
    error = np.fmax(np.fmax(first.error, 30.0 * other.error), apart) + NOISE * noise(
        curve
    )
    return Estimate(first.value, error, first.side)


def noise(curve: Callable[[float], Vector]) -> float:
    """How far a curve is from a parabola over short steps.

    Over the shorter ones a value of few digits does not move: longer ones show that.
    """
    steps = np.arange(-6.0, 7.0)
    most = 0.0
    for width in (1e-7, 1e-5):
        try:
            points = [curve(step * width)[0] for step in steps]
        except ValueError:
            return np.inf
        rest = points - np.polyval(np.polyfit(steps, points, 2), steps)
        most = max(most, float(np.max(np.abs(rest))))
    return most


def certain(slope: Estimate) -> bool:
    """Whether a slope is known well enough to judge another."""
    return slope.side == "both" and bool(
        slope.error[0] <= JUDGED * max(abs(slope.value[0]), 1e-2)
    )


def same(a: Vector, b: Vector | None) -> bool:
    return b is not None and np.array_equal(a, b)


def judged(root: str, most: int) -> list[Judgement]:
    """The first `most` functions of a package that finite differences can judge."""
    met = (first_trial(program) for program in programs(root))
    return [judge(trial) for trial in islice(filter(None, met), most)]


def first_trial(program: Program) -> Trial | None:
    """The first arguments at which a program is smooth and depends on them."""
    if not program.count:
        return None
    for make in trials(program.name, program.count):
        if value(program.function, make()) is not None:
            trial = smooth(Found(program.name, program.function, make))
            if trial is not None:
                return trial
    return None


def judge(trial: Trial) -> Judgement:
    """Reverse mode on the tape, by itself twice, written out; and forward mode."""
    name = trial.found.name
    FORMS.entries.clear()  # all methods are called by programs of one code
    try:
        with limited(PATIENCE):
            answers = [
                ("tape", backward(trial, "tape")),
                ("reverse mode", backward(trial)),
                ("reverse mode, second call", backward(trial)),
                ("forward mode", forward(trial)),
            ]
            written = written_out(trial)
    except TooLongError:
        return Judgement(name, "refused", "took too long")
    except RulesCoreError as error:
        return Judgement(name, "refused", words(error))
    except Exception as error:
        return Judgement(name, "wrong", f"crashed: {words(error)}")
    verdict, why = compared(trial, answers + written)
    return Judgement(name, verdict, why, bool(written))


def written_out(trial: Trial) -> list[tuple[str, list[float]]]:
    """What the written code gives; nothing where the program cannot be written out."""
    try:
        return [("written code", backward(trial, "straight"))]
    except UnsupportedProgram:
        return []


def compared(
    trial: Trial, answers: list[tuple[str, list[float]]]
) -> tuple[Verdict, str]:
    """The verdict on slopes that the engine gave."""
    if not all(np.isfinite(slope) for _, slopes in answers for slope in slopes):
        return "not a number", "inf - inf or 0 * inf inside"
    why = differing(trial, answers)
    if not why:
        return "right", ""
    piece = on_one_path(trial)
    if not all(map(certain, piece.slopes)):
        return "undecided", f"{why}, and one path is too short"
    why = differing(piece, answers)
    return ("wrong" if why else "right"), why


def differing(trial: Trial, answers: list[tuple[str, list[float]]]) -> str:
    """Where the engine's slopes are outside of the bounds; nothing if they are not."""
    for mode, slopes in answers:
        for place, (got, want) in enumerate(zip(slopes, trial.slopes, strict=True)):
            bound = want.error[0] + ROUNDOFF * max(1.0, abs(want.value[0]))
            if not abs(got - want.value[0]) <= bound:
                text = f"{mode}, argument {place}: {got!r}, but differences give "
                return f"{text}{float(want.value[0])!r} ± {bound:.1e}"
    return ""


def on_one_path(trial: Trial) -> Trial:
    """The trial with slopes from those steps that run the very lines that it runs.

    A loop that ends when it is precise enough makes small jumps where it runs once
    more. Its derivative is that of the lines that ran, which long steps do not see.
    """
    home = path_of(trial.found.function, trial.found.make())

    def function(*args: Any) -> Any:
        if path_of(trial.found.function, args) != home:
            raise ValueError
        return trial.found.function(*args)

    slopes = [slope(trial, place, function) for place in range(len(trial.slopes))]
    return dataclasses.replace(trial, slopes=slopes)


def path_of(function: Callable[..., Any], args: tuple[Any, ...]) -> int:
    """A number for the lines that a call runs, in their order."""
    path = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal path
        path = hash((path, id(frame.f_code), frame.f_lineno, event))
        return trace

    apart = [x.copy() if isinstance(x, np.ndarray) else float(x) for x in args]
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*apart)
    finally:
        sys.settrace(before)
    return path


def words(error: Exception) -> str:
    """The class of an error and the head of its text."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def backward(trial: Trial, tier: str = "auto") -> list[float]:
    """The slopes by one pullback."""
    args = trial.found.make()
    result, pullback = vjp(trial.found.function, *args, tier=tier)
    gradients = pullback(shaped(result, iter(trial.weights)))
    return [along(g, d) for g, d in zip(gradients, trial.directions, strict=True)]


def along(gradient: Any, direction: Any) -> float:
    """The sum of the products of entries; zero for what is no tangent."""
    if gradient is None or isinstance(gradient, NoTangent | ZeroTangent):
        return 0.0
    return float(np.sum(np.asarray(gradient) * direction))


def forward(trial: Trial) -> list[float]:
    """The slopes by a forward pass for each argument."""
    slopes = []
    for place, direction in enumerate(trial.directions):
        args = trial.found.make()
        tangents = [x * 0.0 for x in args]
        tangents[place] = direction
        result, tangent = jvp(trial.found.function, args, tuple(tangents))
        slopes.append(paired(result, tangent, iter(trial.weights)))
    return slopes


def shaped(result: Any, weights: Iterator[np.floating[Any]]) -> Any:
    """The weights, laid out as the result is."""
    if isinstance(result, (tuple, list)):
        return type(result)(shaped(part, weights) for part in result)
    if isinstance(result, np.ndarray):
        flat = [next(weights) for _ in range(result.size)]
        return np.array(flat, float).reshape(result.shape)
    return float(next(weights))


def paired(result: Any, tangent: Any, weights: Iterator[np.floating[Any]]) -> float:
    """The weighted sum of a result's tangent."""
    if isinstance(result, (tuple, list)):
        known = isinstance(tangent, (tuple, list))
        parts = tangent if known else [tangent] * len(result)
        return sum(paired(r, t, weights) for r, t in zip(result, parts, strict=True))
    return along(tangent, shaped(result, weights))
