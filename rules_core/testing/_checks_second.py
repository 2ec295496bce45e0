"""The rule can be differentiated again: its body is correct, not only its value.

Without a framework. The reference is the derivative of the rule's value, by finite
differences; a `Dual` goes through the body. They differ if the body cuts a derivative:
by a stopped gradient, a mask on a zero cotangent, a value stored by another call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rules_core import (
    NoTangent,
    NotImplementedTangent,
    UnsupportedError,
    ViaADError,
)

from ._checks_linear import seeds
from ._checks_result import tips
from ._differences import Estimate, Vector, differentiate
from ._dual_numbers import Dual, coordinates_of, dual_point, tangent_of
from ._leaf import Leaf, StructureMismatch
from ._modes import Mode
from ._nodes import DerivativeMissing, Tip
from ._report import Failure, NotRun, Refused
from ._space import Space
from ._subject import Subject
from ._tolerance import USELESS, Tolerance, largest, worst

__all__ = [
    "rate_by_value",
    "second_order_is_right",
    "slope_at_zero_is_right",
    "value_keeps_its_slope",
]

# Each operation of the body is differentiated numerically, and so is the reference.
DIGITS = Tolerance(2.0**-52, rtol=1e-6)
# Values that are taken for rounding errors of zero.
NIL = 1e-9


def second_order_is_right(mode: Mode) -> None:
    """The derivative of the rule along a direction, through its body and by value."""
    mode = _traceable(mode)
    u = seeds(mode)[0]
    for v in mode.directions():
        through = _through(
            mode, mode.domain.tangent(u), dual_point(mode.subject.space, v)
        )
        slope = rate_by_value(mode, u, v)
        size = max(largest(slope.value), largest(mode.image(u)))
        if largest(slope.error) > USELESS * size or not slope.converged:
            message = "finite differences of the rule do not converge here"
            raise NotRun(message)
        excess = DIGITS.excess(through, slope.value, slope.error, size)
        at = worst(excess)
        if at is not None:
            message = (
                f"{mode.codomain.labels[at]}: differentiating the rule's body gives "
                f"{through[at]:.8g}, but its value changes at the rate "
                f"{slope.value[at]:.8g}: part of the body is cut off from its arguments"
            )
            raise Failure(message)


def value_keeps_its_slope(mode: Mode) -> None:
    """The value that the rule returns changes as the rule says, through its body.

    Frameworks differentiate programs that go on with this value again.
    """
    given, mode = mode.subject.tolerance, _traceable(mode)
    u = seeds(mode)[0]
    noise = DIGITS.relative * max(largest(mode.subject.out.origin), NIL)
    rtol = max(given.relative, DIGITS.relative)
    tolerance = Tolerance(2.0**-52, rtol, given.atol)
    for v in mode.directions():
        at = dual_point(mode.subject.space, v)
        with _array_code():
            y = mode.run(mode.domain.tangent(u), at=at).y
            through = coordinates_of(mode.subject.out, y)
        slope = mode.subject.slope(v)
        size = max(largest(slope.value), largest(through))
        error = noise + slope.error
        at_worst = worst(tolerance.excess(through, slope.value, error, size))
        if at_worst is not None and slope.converged and not _is_own(mode, v, through):
            message = (
                f"{mode.subject.out.labels[at_worst]}: differentiating the value that "
                f"the rule returns gives {through[at_worst]:.8g}, but it changes at "
                f"the rate {slope.value[at_worst]:.8g}: part of it is cut off from the "
                "arguments, so that programs that go on with it have wrong second "
                "derivatives"
            )
            raise Failure(message)


def _is_own(mode: Mode, v: Vector, through: Vector) -> bool:
    """Whether the derivative along `v` is the rule's, as that of a primitive."""
    if mode.kind == "frule":
        return DIGITS.differs(mode.image(v), through) is None
    u = seeds(mode)[0]  # `⟨u, J v⟩ = ⟨J* u, v⟩`
    size = float(np.abs(u) @ np.abs(through))
    pair = np.array([u @ through]), np.array([mode.image(u) @ v])
    return worst(DIGITS.excess(*pair, 0.0, size)) is None


def slope_at_zero_is_right(mode: Mode) -> None:
    """The derivative of a linear map in its tangent, at zero, is the map itself."""
    mode = _traceable(mode)
    u = seeds(mode)[0]
    zero = Space(mode.domain.tangent(np.zeros(mode.domain.dim)))
    seed = dual_point(zero, u)
    # Arrays throughout: a rule may convert the cotangent of a number to a number.
    through = _through(mode, seed, mode.subject.space.map(_as_array))
    image = mode.image(u)
    finite = np.isfinite(image)
    excess = DIGITS.excess(through[finite], image[finite], 0.0, largest(image))
    at = worst(excess)
    if at is not None:
        _refuse_callbacks(mode, seed)
        label = np.array(mode.codomain.labels)[finite][at]
        message = (
            f"{label}: at a zero tangent the slope of the rule is "
            f"{through[finite][at]:.8g}, not {image[finite][at]:.8g}. A mask on "
            "the tangent being zero cuts it off; mask the partial instead"
        )
        raise Failure(message)


def _refuse_callbacks(mode: Mode, given: Any) -> None:
    """A body that differentiates other functions (`rc.vjp`) may take a `Dual` apart."""
    try:
        mode.run(
            given, at=dual_point(mode.subject.space, np.zeros(mode.subject.space.dim))
        )
    except ViaADError as error:
        message = f"the rule calls back into AD: {error}"
        raise NotRun(message) from None
    except Exception:
        return


def _traceable(mode: Mode) -> Mode:
    """The rule in double precision, if its body can be differentiated."""
    mode = _in_double(mode)
    subject = mode.subject
    if not np.all(np.isfinite(subject.space.origin)):
        message = "an entry is not finite here, and a `Dual` multiplies it by zero"
        raise NotRun(message)
    duals = dual_point(subject.space, np.zeros(subject.space.dim))
    call = mode.resolve(duals)
    if call is None:
        message = "the rule's annotations admit NumPy arrays or Python numbers only"
        raise NotRun(message)
    if call.rule.host:
        message = "declared host=True: first order only"
        raise Refused(message)
    if call.rule.config is not None:
        message = "the rule calls back into AD: its order is that of the AD system"
        raise NotRun(message)
    return mode


def _in_double(mode: Mode) -> Mode:
    """This rule at this point in double precision."""
    old = mode.subject
    if max(old.space.eps, old.out.eps) <= 2.0**-52:
        return mode
    args = old.space.wide()[1:]
    other = type(mode)(Subject(old.f, args, old.kwargs, config=old.config))
    other.missing = dict(mode.missing)
    if max(other.subject.space.eps, other.subject.out.eps) > 2.0**-52:
        message = "the function does not compute in double precision"
        raise NotRun(message)
    return other


def _through(mode: Mode, given: Any, at: Any) -> Vector:
    """Coordinates of the tangents of the rule's results."""
    with _array_code():
        return mode.read(_tangents(mode, mode.run(given, at=at).raw))


@contextmanager
def _array_code() -> Iterator[None]:
    """Where the body runs on duals: its errors say that it cannot be differentiated."""
    try:
        yield
    except UnsupportedError:
        raise
    except DerivativeMissing as missing:
        raise Refused(missing.tangent.info) from None
    except Exception as reason:
        # The body runs on plain arrays: other checks have tested that.
        message = f"the body is no array code: {type(reason).__name__}: {reason}"
        raise NotRun(message) from None


def _as_array(leaf: Leaf) -> Any:
    is_number = isinstance(leaf.primal, (float, complex))
    return np.asarray(leaf.primal) if is_number else leaf.copy()


def _tangents(mode: Mode, raw: Any) -> Any:
    """The raw result as a tangent, each array in it replaced by its own tangent."""
    if mode.kind == "frule":
        return _rates(mode.codomain, raw)
    parts = [mode.codomain.part(i) for i in range(len(raw))]
    own = [NoTangent() if i in mode.missing else c for i, c in enumerate(raw)]
    return tuple(_rates(part, c) for part, c in zip(parts, own, strict=True))


def _rates(space: Space, raw: Any) -> Any:
    rates: list[Vector] = []
    for tip, value in tips(space.root, raw):
        if isinstance(tip, Tip):
            if isinstance(value, NotImplementedTangent):
                raise DerivativeMissing(tip.path, value)
            rate = (
                tangent_of(value)
                if isinstance(value, Dual)
                else np.zeros(tip.leaf.shape)
            )
            rates.append(tip.leaf.encode(rate))
    return space.tangent(np.concatenate([np.zeros(0), *rates]))


def rate_by_value(mode: Mode, u: Vector, v: Vector) -> Estimate:
    """The derivative of the rule's value along `v`, by finite differences."""
    space = mode.subject.space
    origin, seed = space.origin, mode.domain.tangent(u)

    def along(t: float) -> Vector:
        try:
            return mode.read(mode.run(seed, at=space.point(origin + t * v)).raw)
        except StructureMismatch as mismatch:
            raise ValueError(str(mismatch)) from None

    return differentiate(along)
