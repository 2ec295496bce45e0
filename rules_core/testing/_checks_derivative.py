"""The rule gives the derivative of the function."""

from __future__ import annotations

import numpy as np

from ._differences import Estimate, Vector
from ._jacobian import compare
from ._modes import Mode
from ._report import Failure, NotRun
from ._space import Space
from ._subject import Subject
from ._tolerance import USELESS, largest, worst

__all__ = [
    "cauchy_riemann_hold",
    "complex_derivative_is_right",
    "derivative_is_right",
    "is_complex",
]

ADVICE = (
    "try another point or another direction (Seeded), or leave the check out with skip="
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
    """Complex functions: every entry is a 2×2 real Jacobian, and all of it is right.

    For a complex argument both real directions are tried, `1` and `i`, and for a
    complex value both cotangents.
    """
    if not is_complex(mode.subject):
        message = "nothing is complex"
        raise NotRun(message)
    return _along_directions(mode)


def _along_directions(mode: Mode) -> str:
    if not np.any(mode.implemented * _moving(mode.subject)):
        message = "no argument has an implemented derivative"
        raise NotRun(message)
    pairs = [(v, _slope(mode, v)) for v in mode.directions()]
    check = _check_push if mode.kind == "frule" else _check_pull
    for v, slope in pairs:
        check(mode, v, slope)
    return f"finite differences ± {max(_claimed(slope) for _, slope in pairs):.0e}"


def _moving(subject: Subject) -> Vector:
    return sum((np.abs(v) for v in subject.directions), np.zeros(subject.space.dim))


def _slope(mode: Mode, v: Vector) -> Estimate:
    slope = mode.subject.slope(v)
    if slope.side == "none":
        message = f"the function has no finite value next to this point; {ADVICE}"
        raise Failure(message)
    return slope


def _claimed(slope: Estimate) -> float:
    """The error of a slope relative to its size."""
    return largest(slope.error) / (largest(slope.value) or 1.0)


def _check_push(mode: Mode, v: Vector, slope: Estimate) -> None:
    image = mode.image(v)
    scale = np.maximum(largest(slope.value), largest(image))
    excess = mode.subject.tolerance.excess(image, slope.value, slope.error, scale)
    _judge(mode, excess, slope, float(scale))


def _check_pull(mode: Mode, v: Vector, slope: Estimate) -> None:
    with np.errstate(invalid="ignore"):
        for w in mode.subject.cotangents:
            image = mode.image(w)
            scale = _dot(np.abs(image), np.abs(v))
            error = _dot(np.abs(w), slope.error)
            actual, expected = _dot(image, v), _dot(w, slope.value)
            excess = mode.subject.tolerance.excess(actual, expected, error, scale)
            _judge(mode, excess, slope, scale)


def _dot(a: Vector, b: Vector) -> float:
    """The dot product, in which zero times infinity is zero."""
    return float(np.sum(np.where((a == 0) | (b == 0), 0.0, a * b)))


def _judge(mode: Mode, excess: Vector, slope: Estimate, scale: float) -> None:
    if worst(excess) is not None:
        raise Failure(str(compare(mode)))
    # An error beyond this decides nothing: agreement would be no evidence.
    if largest(slope.error) > USELESS * max(scale, largest(mode.subject.out.origin)):
        message = (
            f"finite differences do not converge here (± {largest(slope.error):.0e}); "
            f"{ADVICE}"
        )
        raise Failure(message)


def cauchy_riemann_hold(mode: Mode) -> str | None:
    """`J i v = i J v` where `holomorphic=True` is claimed, also off the real axis."""
    subject = mode.subject
    call = mode.resolve(subject.primals)
    if not getattr(call.rule.function, "holomorphic", False):
        message = "the rule does not claim to be holomorphic"
        raise NotRun(message)
    space, out = subject.complexified(mode.missing)
    v = space.random(subject.rng)
    w = _times_i(space, v)
    along, across = (subject.slope_in(space, out, u) for u in (-_times_i(space, w), w))
    scale = max(largest(along.value), largest(across.value))
    turned = _times_i(out, along.value)
    error = along.error + across.error
    excess = subject.tolerance.excess(across.value, turned, error, scale)
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
