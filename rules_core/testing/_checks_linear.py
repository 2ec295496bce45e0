r"""Consequences of linearity, checked without a derivative."""

from __future__ import annotations

import numpy as np

from ._differences import Vector
from ._modes import Mode
from ._report import Failure, NotRun
from ._tolerance import ROUNDING, largest, worst

__all__ = ["adjoints", "is_linear", "repeats", "zeros_are_strong"]

# Distance, along a direction, of the calls that detect reused buffers.
NEAR = 2.0**-20
# With more coordinates, only some of the unit vectors are tried.
MANY = 64
LARGE = 10_000  # coordinates of a result
COARSE = 1e-3  # a tolerance that says nothing about small entries
TINY = 2.0**-26  # of an entry that is small beside others


def seeds(mode: Mode) -> list[Vector]:
    """Coordinates of the tangents or cotangents to apply the rule to."""
    return mode.subject.cotangents if mode.kind == "rrule" else mode.directions()


def is_linear(mode: Mode) -> None:
    """`J(a u + b v) = a J u + b J v`, and `J(s v) = s J v` over many magnitudes."""
    u, v = seeds(mode)[0], seeds(mode)[-1]
    a, b = -1.25, 0.375
    sums = a * mode.image(u) + b * mode.image(v)
    _same(mode, mode.image(a * u + b * v), sums, "of a sum")
    # The range of float16 ends at 65504. Below 1e-8 `np.allclose(dy, 0)` holds.
    steep = 2.0**6 if mode.subject.tolerance.eps > 1e-4 else 2.0**30
    for scale in (steep, 1 / steep):
        image = mode.image(scale * u) / scale
        _same(mode, image, mode.image(u), f"of {scale:.3g} times a tangent")
    if units_are_few(mode):
        _sums_of_units(mode, u)


def units_are_few(mode: Mode) -> bool:
    """Whether the images of all unit vectors are known, and rounding says little."""
    few = mode.domain.dim <= MANY and mode.codomain.dim <= LARGE
    return few and mode.subject.tolerance.relative < COARSE and not _constrained(mode)


def _constrained(mode: Mode) -> bool:
    """Whether the user chose the tangents of this rule."""
    subject = mode.subject
    return subject.cotangent_given if mode.kind == "rrule" else bool(subject.seeded)


def _sums_of_units(mode: Mode, u: Vector) -> None:
    """`J w = Σ wⱼ J eⱼ`, also where some entries of `w` are tiny beside others.

    Of each two entries each is once the tiny one: where one binary digit of their
    numbers differs. A rule may drop what is small beside something else, or clip what
    is large.
    """
    if mode.kind == "frule":
        u = u * mode.implemented
    columns = np.stack([unit_image(mode, j) for j in range(mode.domain.dim)], axis=-1)
    finite = np.all(np.isfinite(columns), axis=1)
    tiny = max(TINY, 2.0**8 * mode.subject.tolerance.relative)
    numbers = np.arange(mode.domain.dim)
    for digit in range(mode.domain.dim.bit_length()):
        ones = numbers >> digit & 1 == 1
        for small in (ones, ~ones) if np.any(ones) else (ones,):
            w = np.where(small, tiny * u, u)
            _is_sum(mode, w, columns, finite)


def _is_sum(mode: Mode, w: Vector, columns: Vector, finite: Vector) -> None:
    actual, expected = mode.image(w)[finite], columns[finite] @ w
    size = np.max(np.abs(columns[finite]) @ np.abs(w), initial=0.0)
    finite_too = np.isfinite(actual) & np.isfinite(expected)
    # Terms of large entries may cancel, as those of a diagonal that does not count.
    tolerance = mode.subject.tolerance
    rounding = ROUNDING * tolerance.eps * largest(columns[finite]) * largest(w)
    excess = tolerance.excess(actual, expected, rounding, size)
    at = worst(np.where(finite_too, excess, -1.0))
    if at is not None:
        label = np.array(mode.codomain.labels)[finite][at]
        message = (
            f"not linear: the image of a tangent is {actual[at]} at {label}, not "
            f"{expected[at]}, the sum of those of its entries: what is small or large "
            "beside other entries is left out or clipped"
        )
        raise Failure(message)


def unit_image(mode: Mode, j: int) -> Vector:
    """The image of a unit vector, computed once for all checks."""
    found = mode.units.get(j)
    if found is None:
        unit = np.zeros(mode.domain.dim)
        unit[j] = 1.0
        if mode.kind == "frule":
            unit *= mode.implemented
        found = mode.image(unit)
        if mode.codomain.dim <= LARGE:
            mode.units[j] = found
    return found


def _same(mode: Mode, actual: Vector, expected: Vector, what: str) -> None:
    finite = np.isfinite(expected) & ~np.isinf(actual)  # overflow proves nothing
    at = mode.subject.tolerance.differs(actual[finite], expected[finite])
    if at is not None:
        label = np.array(mode.codomain.labels)[finite][at]
        wrong, right = actual[finite][at], expected[finite][at]
        message = f"not linear: the image {what} is {wrong} at {label}, not {right}"
        raise Failure(message)


def zeros_are_strong(mode: Mode) -> None:
    """Zero gives exactly zero, and no component is NaN, even at infinite partials."""
    image = mode.image(np.zeros(mode.domain.dim))
    bad = np.flatnonzero(image != 0.0)
    if bad.size:
        label, value = mode.codomain.labels[bad[0]], image[bad[0]]
        message = f"a zero tangent gives {value} at {label}; it must give 0"
        raise Failure(message)
    for j in range(min(mode.domain.dim, MANY)):
        _check_unit(mode, j)


def _check_unit(mode: Mode, j: int) -> None:
    bad = np.flatnonzero(np.isnan(unit_image(mode, j)))
    if bad.size:
        label = mode.codomain.labels[bad[0]]
        message = (
            f"the tangent that is zero except at {mode.domain.labels[j]} gives NaN at "
            f"{label}: zero times an infinite partial must be zero"
        )
        raise Failure(message)


def repeats(mode: Mode) -> None:
    """Repeated calls give equal results and do not modify earlier ones."""
    _results_stay(mode)
    first, other = seeds(mode)[0], 2.0 * seeds(mode)[-1]
    outcome = mode.run(mode.domain.tangent(first))
    before = mode.read(outcome.raw)
    try:
        mode.read(outcome.again(mode.domain.tangent(other)))
        after = mode.read(outcome.again(mode.domain.tangent(first)))
    except Exception as error:
        message = f"the second call raises {type(error).__name__}: {error}"
        raise Failure(message) from error
    at = mode.subject.tolerance.differs(after, before)
    if at is not None:
        label = mode.codomain.labels[at]
        message = f"{label}: the first call gives {before[at]}, a later one {after[at]}"
        raise Failure(message)


def _results_stay(mode: Mode) -> None:
    """A call at another point does not write to the results of the previous call."""
    subject = mode.subject
    u, v = seeds(mode)[0], subject.directions[0]
    outcome = mode.run(mode.domain.tangent(u))
    y, image = subject.out.values(outcome.y), mode.read(outcome.raw)
    outcome.again(mode.domain.tangent(2.0 * u))
    _unchanged(mode, "a later call of the pullback", image, mode.read(outcome.raw))
    try:
        other = mode.run(mode.domain.tangent(2.0 * u), at=subject.moved(NEAR * v))
        mode.read(other.raw)
    except Exception:  # outside the domain
        return
    _unchanged(mode, "a call at another point", image, mode.read(outcome.raw))
    if not np.array_equal(y, subject.out.values(outcome.y), equal_nan=True):
        message = (
            "a call at another point writes into the value that this one returned: "
            "the function reuses its output buffer"
        )
        raise Failure(message)


def _unchanged(mode: Mode, what: str, before: Vector, after: Vector) -> None:
    at = np.flatnonzero(~((before == after) | np.isnan(before)))
    if at.size:
        label = mode.codomain.labels[at[0]]
        message = (
            f"{what} writes into what this one returned: {label} was "
            f"{before[at[0]]:.6g} and becomes {after[at[0]]:.6g}. The rule reuses a "
            "buffer"
        )
        raise Failure(message)


def adjoints(modes: dict[str, Mode]) -> None:
    """`⟨ȳ, J ẋ⟩ = ⟨J* ȳ, ẋ⟩`: the frule and the rrule are adjoint, to all digits."""
    if len(modes) < 2:
        message = "only one of frule and rrule is there"
        raise NotRun(message)
    pull, push = modes["rrule"], modes["frule"]
    subject = pull.subject
    implemented = pull.implemented * push.implemented
    for v in subject.directions:
        forward = push.image(v * implemented)
        for w in subject.cotangents:
            backward = pull.image(w)
            left, right = w @ forward, backward @ (v * implemented)
            scale = np.abs(w) @ np.abs(forward) + np.abs(backward) @ np.abs(v)
            if subject.tolerance.excess(left, right, 0.0, scale)[0] > 0:
                message = (
                    f"⟨ȳ, J ẋ⟩ = {left} by the frule, ⟨J* ȳ, ẋ⟩ = {right} by the rrule"
                )
                raise Failure(message)
