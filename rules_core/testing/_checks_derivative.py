"""The rule gives the derivative of the function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ._differences import Estimate, Vector
from ._jacobian import compare
from ._leaf import StructureMismatch
from ._modes import Mode
from ._outweighed import check_outweighed
from ._report import Failure, NotRun
from ._space import Space
from ._subject import Subject
from ._tolerance import ROUNDING, USELESS, largest, worst

__all__ = [
    "cauchy_riemann_hold",
    "complex_derivative_is_right",
    "derivative_is_right",
    "is_complex",
]

ADVICE = (
    "try another point or another direction (Seeded), or leave the check out with skip="
)

CONSTRAINED = (
    "an argument that may not move freely (a symmetric matrix, a unit vector) needs "
    "the direction to move it in: tangents=(dx, …)"
)


def is_complex(subject: Subject) -> bool:
    """Whether an argument or the value is complex."""
    return subject.space.is_complex or subject.out.is_complex


def derivative_is_right(mode: Mode) -> str:
    """Real functions: along random directions, against finite differences."""
    if is_complex(mode.subject):
        message = f"a value is complex: see {mode.kind}.complex-derivative"
        raise NotRun(message)
    return _along_directions(mode)


def complex_derivative_is_right(mode: Mode) -> str:
    """Complex functions: every entry is a correct 2×2 real Jacobian.

    For a complex argument both real directions are tried, `1` and `i`, and for a
    complex value both cotangents.
    """
    if not is_complex(mode.subject):
        message = "nothing is complex"
        raise NotRun(message)
    return _along_directions(mode)


def _along_directions(mode: Mode) -> str:
    moving = _moving(mode.subject)
    if not np.any(mode.implemented * moving):
        message = "no argument has an implemented derivative"
        if not np.any(moving):
            message = "no argument moves: the tangents that were given are zero"
        raise NotRun(message)
    claims = [_along(mode, v) for v in mode.directions()]
    check_outweighed(mode)
    return f"finite differences ± {max(claims):.0e}"


def _moving(subject: Subject) -> Vector:
    return sum((np.abs(v) for v in subject.directions), np.zeros(subject.space.dim))


def _along(mode: Mode, v: Vector) -> float:
    """Compare along one direction; the relative error of the differences.

    Agreement within an error as large as the derivative is no evidence, unless the
    derivative is negligible compared with the value or its variation.
    """
    check = _check_push if mode.kind == "frule" else _check_pull
    result = check(mode, v, _slope(mode, v))
    size = result.value if result.size <= result.round_off else result.size
    if result.error > USELESS * size and not _is_nil(mode, v, result):
        message = f"finite differences do not converge (± {result.error:.0e}); {ADVICE}"
        raise Failure(message)
    return result.error / (size or 1.0)


def _is_nil(mode: Mode, v: Vector, found: _Verdict) -> bool:
    """Whether the derivative is negligible compared with the value at the end."""
    subject = mode.subject
    try:
        away = largest(subject.out.values(subject.call(subject.moved(v))))
    except (ArithmeticError, TypeError, ValueError, StructureMismatch):
        return False  # this step leaves the domain
    nil = ROUNDING * subject.tolerance.eps * away
    return found.size <= nil and found.error <= subject.tolerance.relative * away


@final
@dataclass(frozen=True, slots=True)
class _Verdict:
    """The strength of an agreement.

    Attributes:
        error: Error bound of the finite differences.
        size: The size of the derivative.
        value: The size of the function's value.
        round_off: Smaller derivatives count as zero.
    """

    error: float
    size: float
    value: float
    round_off: float


def _verdict(mode: Mode, error: float, size: float, value: float) -> _Verdict:
    return _Verdict(error, size, value, ROUNDING * mode.subject.tolerance.eps * value)


def _slope(mode: Mode, v: Vector) -> Estimate:
    try:
        slope = mode.subject.slope(v)
    except Exception as error:
        message = (
            f"the function raises {type(error).__name__} where its arguments move: "
            f"{error}\n{CONSTRAINED}"
        )
        raise Failure(message) from None
    if slope.side == "none":
        nothing = "the function has no finite value next to this point"
        message = f"{nothing}; {ADVICE}\n{CONSTRAINED}"
        raise Failure(message)
    return slope


def _check_push(mode: Mode, v: Vector, slope: Estimate) -> _Verdict:
    image = mode.image(v)
    _compare(mode, mode.subject.tolerance.excess(image, slope.value, slope.error))
    size, value = largest(slope.value, image), largest(mode.subject.out.origin)
    return _verdict(mode, largest(slope.error), size, value)


def _check_pull(mode: Mode, v: Vector, slope: Estimate) -> _Verdict:
    verdicts = []
    for w in mode.subject.cotangents:
        image = mode.image(w)
        size = _dot(np.abs(image), np.abs(v))
        error = _dot(np.abs(w), slope.error)
        actual, expected = _dot(image, v), _dot(w, slope.value)
        _compare(mode, mode.subject.tolerance.excess(actual, expected, error, size))
        value = _dot(np.abs(w), np.abs(mode.subject.out.origin))
        size = max(size, abs(expected)) if np.isfinite(expected) else size
        verdicts.append(_verdict(mode, error, size, value))
    return max(verdicts, key=lambda verdict: verdict.error / (verdict.size or 1.0))


def _dot(a: Vector, b: Vector) -> float:
    """The dot product, in which zero times infinity is zero."""
    return float(np.sum(np.where((a == 0) | (b == 0), 0.0, a * b)))


def _compare(mode: Mode, excess: Vector) -> None:
    if worst(excess) is not None:
        raise Failure(str(compare(mode)))


def cauchy_riemann_hold(mode: Mode) -> str | None:
    """`J i v = i J v` for `holomorphic=True`, off the real axis too."""
    subject = mode.subject
    call = mode.resolve(subject.primals)
    if not getattr(call.rule.function, "holomorphic", False):
        message = "the rule does not claim to be holomorphic"
        raise NotRun(message)
    try:
        space, out = subject.complexified(mode.missing)
    except TypeError as reason:  # of a ufunc, where an order is a real number
        message = f"the function does not take these arguments as complex: {reason}"
        raise NotRun(message) from None
    v = space.random(subject.rng)
    w = _times_i(space, v)
    along, across = (subject.slope_in(space, out, u) for u in (-_times_i(space, w), w))
    if "none" in (along.side, across.side):
        message = "the function has no finite value beside this point"
        raise NotRun(message)
    turned = _times_i(out, along.value)
    error = np.abs(_times_i(out, along.error)) + across.error
    excess = subject.tolerance.excess(across.value, turned, error)
    if worst(excess) is not None:
        message = (
            "the rule claims holomorphic=True, but the function does not satisfy the "
            f"Cauchy–Riemann equations: J(iv) = {across.value}, i J(v) = {turned}"
        )
        raise Failure(message)
    return None


def _times_i(space: Space, v: Vector) -> Vector:
    """Multiplication by i of the complex entries; real ones become zero."""
    ends = np.cumsum([leaf.dim for leaf in space.leaves])
    pieces = zip(space.leaves, np.split(v, ends[:-1]), strict=True)
    turned = [
        _turned(piece) if leaf.is_complex else 0.0 * piece for leaf, piece in pieces
    ]
    return np.concatenate([np.zeros(0), *turned])


def _turned(v: Vector) -> Vector:
    pairs = v.reshape(-1, 2)
    return np.stack([-pairs[:, 1], pairs[:, 0]], axis=1).ravel()
