r"""Derivatives by finite differences, each with an estimate of its own error.

A curve \(c: \mathbb R \to \mathbb R^m\) is sampled at \(\pm h\) on a ladder of steps
\(h_k = h_0 2^{-k}\). The difference quotients are extrapolated to \(h = 0\)
(Richardson; Ridders, *Adv. Eng. Software* 4 (1982) 75). The error of an entry of the
tableau is its distance from its neighbours plus round-off: the noise of the curve,
which is measured (Moré and Wild, *SIAM J. Sci. Comput.* 33 (2011) 1292), divided by the
step. For each component the entry with the least error is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Curve",
    "Estimate",
    "Side",
    "Vector",
    "differentiate",
    "differentiate_along",
]

Vector: TypeAlias = NDArray[np.float64]
Curve: TypeAlias = Callable[[float], Vector]
Side: TypeAlias = Literal["both", "right", "left", "none"]

# Not a round number: round steps coincide with the periods of periodic functions.
START = 0.0617
SINGLE = 2.0**-23  # round-off of single precision
# Lengths of the ladder: 40 halvings lead from START to 6e-14.
SHRINKS, COLUMNS, SIDED_COLUMNS = 40, 7, 12
# Exceptions by which functions say that a point lies outside their domain.
OUTSIDE = (ArithmeticError, ValueError, np.linalg.LinAlgError)
SHARP = 1e-6  # an estimate with a relative error below this is not improved upon
NOISE_POINTS = 7
# Third, fourth and fifth differences of so many points. The k-th difference of white
# noise has the variance (2k)! / (k!)² times its own.
DIFFERENCES = np.concatenate(
    [
        np.diff(np.eye(NOISE_POINTS), k, axis=0) / np.sqrt(variance)
        for k, variance in ((3, 20.0), (4, 70.0), (5, 252.0))
    ]
)
GROWING = 20  # rungs in a row: a vertical tangent, not slow convergence
SAFETY = 4.0  # the tableau's own error estimate is only of the right order


@final
@dataclass(frozen=True, slots=True)
class Estimate:
    """A derivative and its error bound, per component.

    Attributes:
        value: The derivative, shape `(m,)`; NaN without convergence.
        error: Bound of its error, shape `(m,)`; infinite without convergence.
        side: On which sides of the point the curve is defined.
    """

    __module__ = "rules_core.testing"

    value: Vector
    error: Vector
    side: Side

    @property
    def converged(self) -> bool:
        """Whether every component has a value with a finite error."""
        return bool(np.all(np.isfinite(self.error)))


def differentiate(curve: Curve, eps: float = 2.0**-52) -> Estimate:
    r"""\(c'(0)\), with its error, of a curve that varies on the scale of 1.

    Steps at which the curve is not finite or raises are omitted; if it is only defined
    on one side of zero, one-sided quotients are extrapolated.

    Args:
        curve: The function to differentiate; `curve(t)` has shape `(m,)`.
        eps: Unit round-off of the arithmetic inside `curve`.

    >>> import numpy as np
    >>> from rules_core.testing import differentiate
    >>> estimate = differentiate(lambda t: np.array([np.exp(t), np.sqrt(1 + t)]))
    >>> [round(float(d), 9) for d in estimate.value], estimate.side
    ([1.0, 0.5], 'both')
    """
    guarded = _guarded(curve)
    with np.errstate(all="ignore"):
        centre = guarded(0.0)
        if centre is None:
            return _failed(1, "none")
        grain = _grain(guarded, centre, eps)
        rounding = _rounding_of_a_line(guarded, centre, grain)
        side = _side(guarded) if rounding is None else "both"
        if side == "none":
            return _failed(centre.size, side)
        noise = _noise(guarded, centre, side, eps) if rounding is None else rounding
        noise = np.fmax(noise, grain * np.abs(centre))
        rungs = _quotients(guarded, centre, side, noise, eps)
        value, error = _extrapolated(rungs, centre, side)
    return Estimate(value, SAFETY * error, side)


def differentiate_along(curve: Curve, speed: float, eps: float = 2.0**-52) -> Estimate:
    r"""\(c'(0)\) of a curve whose scale may differ from that of its parameter.

    If steps of size 1 are below the value's rounding error (`x + 1` moved by a share of
    `x = 1e-20`), steps that move the argument by 1 are tried too.

    Args:
        curve: The function to differentiate.
        speed: The argument's movement per unit of the parameter.
        eps: Unit round-off of the arithmetic inside `curve`.
    """
    best = differentiate(curve, eps)
    if speed in (0.0, 1.0) or _largest(best.error) <= SHARP * _largest(best.value):
        return best
    other = differentiate(lambda t: curve(t / speed), eps)
    better = best.error <= speed * other.error
    value = np.where(better, best.value, speed * other.value)
    return Estimate(value, np.where(better, best.error, speed * other.error), best.side)


def _largest(vector: Vector) -> float:
    return float(np.max(np.abs(vector), initial=0.0))


def _guarded(curve: Curve) -> Callable[[float], Vector | None]:
    """The curve, or None outside its domain; each point is computed once."""

    @cache
    def guarded(t: float) -> Vector | None:
        try:
            point = np.asarray(curve(t), dtype=np.float64)
        except OUTSIDE:
            return None
        return point if np.isfinite(point).all() else None

    return guarded


def _failed(size: int, side: Side) -> Estimate:
    return Estimate(np.full(size, np.nan), np.full(size, np.inf), side)


def _grain(
    curve: Callable[[float], Vector | None], centre: Vector, eps: float
) -> Vector:
    """Unit round-off of each component.

    One that moves, and at each step is a number of single precision, was rounded to it.
    """
    points = [curve(sign * START / k) for k in (1, 2) for sign in (1, -1)]
    whole = np.array([centre, *[point for point in points if point is not None]])
    moves = np.any(whole != centre, axis=0)
    coarse = moves & np.all(whole == whole.astype(np.float32), axis=0)
    return np.where(coarse, SINGLE, eps)


def _rounding_of_a_line(
    curve: Callable[[float], Vector | None], centre: Vector, grain: Vector
) -> Vector | None:
    """The rounding error of a curve that is a straight line, up to that error; or None.

    Most curves are: their noise need not be measured at shorter steps.
    """
    points = [curve(sign * START / k) for k in (1, 2) for sign in (1, -1)]
    ends = [point for point in points if point is not None]
    if len(ends) < len(points):
        return None
    right, left, near_right, near_left = ends
    rounding = grain * np.max(np.abs([centre, *ends]), axis=0)
    bend = np.maximum(
        np.abs(right + left - 2 * centre),
        np.abs(right - left - 2 * (near_right - near_left)),
    )
    return rounding if np.all(bend <= 4 * rounding) else None


def _side(curve: Callable[[float], Vector | None]) -> Side:
    """The sides on which the curve exists for small steps."""
    right = left = False
    for h in (START * 2.0**-k for k in (4, 12, 20, 28, 36)):
        right, left = curve(h) is not None, curve(-h) is not None
        if right and left:
            return "both"
    if right or left:
        return "right" if right else "left"
    return "none"


def _noise(
    curve: Callable[[float], Vector | None], centre: Vector, side: Side, eps: float
) -> Vector:
    """Round-off in the curve: its measured noise, at least that of its result.

    A component that does not move at all over so short a way is constant, or rounded to
    a coarser grid than `eps`; one that looks noisy may only be steep, and is examined
    over shorter steps.
    """
    floor = eps * np.abs(centre)
    noise = _wobble(curve, side, np.sqrt(eps))
    if np.any(np.isnan(noise)):
        noise = np.where(np.isnan(noise), _grid(curve, centre, side, eps), noise)
    if np.any(noise > 100 * floor):
        noise = np.fmin(noise, _wobble(curve, side, eps**0.75))
    return np.fmax(floor, noise)


def _wobble(curve: Callable[[float], Vector | None], side: Side, step: float) -> Vector:
    """High differences over short steps, which no smooth curve has.

    NaN without movement.
    """
    first = {"both": -(NOISE_POINTS // 2), "right": 0, "left": 1 - NOISE_POINTS}[side]
    points = [curve(START * step * (first + i)) for i in range(NOISE_POINTS)]
    samples = np.array([point for point in points if point is not None])
    if len(samples) < NOISE_POINTS:
        return np.array(np.nan)
    still = np.all(samples == samples[0], axis=0)
    return np.where(still, np.nan, np.max(np.abs(DIFFERENCES @ samples), axis=0))


def _grid(
    curve: Callable[[float], Vector | None], centre: Vector, side: Side, eps: float
) -> Vector:
    """The least amount by which each component moves; zero if it never does."""
    sign = -1.0 if side == "left" else 1.0
    far = [curve(sign * START / k) for k in (1, 2)]
    moves = [True if point is None else point != centre for point in far]
    amount = np.where(np.any(np.broadcast_arrays(centre, *moves)[1:], 0), np.nan, 0.0)
    first = sign * START * np.sqrt(eps)
    for k in range(3, 26):
        point = curve(first * 2.0**k)
        if point is None:
            break
        moved = np.abs(point - centre)
        amount = np.where(np.isnan(amount) & (moved > 0), moved, amount)
        if not np.any(np.isnan(amount)):
            break
    return amount / 2


def _quotients(
    curve: Callable[[float], Vector | None],
    centre: Vector,
    side: Side,
    noise: Vector,
    eps: float,
) -> Iterator[tuple[Vector, Vector]]:
    """Difference quotients with their round-off, for shorter and shorter steps.

    The ladder starts anew below a step at which the curve does not exist.
    """
    for k in range(SHRINKS):
        h = START * 2.0**-k
        forward = curve(h) if side != "left" else centre
        backward = curve(-h) if side != "right" else centre
        if forward is None or backward is None:
            continue
        width = 2 * h if side == "both" else h
        quotient = (forward - backward) / width
        # The point itself is rounded too: a relative error of eps / h in the step.
        yield quotient, (2 * noise + eps * np.abs(quotient)) / width


def _extrapolated(
    rungs: Iterator[tuple[Vector, Vector]], centre: Vector, side: Side
) -> tuple[Vector, Vector]:
    """The entry of least error of the extrapolation tableau, per component."""
    order, columns = (2, COLUMNS) if side == "both" else (1, SIDED_COLUMNS)
    row: list[Vector] = []
    quotients: list[Vector] = []
    best, error = np.array(np.nan), np.array(np.inf)
    for quotient, noise in rungs:
        quotients.append(quotient)
        above, row = row, [quotient]
        for j, old in enumerate(above[:columns]):
            row.append(row[j] + (row[j] - old) / (2.0 ** (order * (j + 1)) - 1))
            doubt = np.maximum(np.abs(row[j + 1] - row[j]), np.abs(row[j + 1] - old))
            doubt = doubt + 2 * noise
            best = np.where(doubt < error, row[j + 1], best)
            error = np.fmin(doubt, error)
        # Shorter steps can then only add round-off.
        if above and np.all(
            error <= np.fmin(4 * noise, 1e-4 * _size(quotient, centre))
        ):
            break
    endless = _endless(quotients)
    if endless is None:
        return best, error
    return np.where(endless, np.sign(quotients[-1]) * np.inf, best), np.where(
        endless, 0.0, error
    )


def _size(quotient: Vector, centre: Vector) -> Vector:
    return np.maximum(np.abs(quotient), np.abs(centre))


def _endless(quotients: list[Vector]) -> Vector | None:
    """Components with diverging quotients: infinite slope."""
    if len(quotients) < GROWING:
        return None
    sizes = np.abs(quotients[-GROWING:])
    growing: Vector = np.all(sizes[1:] > 1.015 * sizes[:-1], axis=0)
    return growing
