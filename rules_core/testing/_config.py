"""An AD system of rules and finite differences, for rules that call back into AD."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from rules_core import (
    HasForwardsMode,
    HasReverseMode,
    RuleConfig,
    ViaADError,
    frule,
    rrule,
)

from ._differences import Vector
from ._subject import Subject
from ._tolerance import largest

__all__ = ["FiniteDifferenceConfig"]


@final
class FiniteDifferenceConfig(RuleConfig, HasForwardsMode, HasReverseMode):
    """Replaces an AD system: rules first, otherwise finite differences.

    The tester passes this configuration to rules. It uses the rules of the called
    function if there are any; other functions are differentiated numerically, to about
    eleven digits.

    >>> import numpy as np
    >>> from rules_core import rrule_via_ad
    >>> from rules_core.testing import FiniteDifferenceConfig
    >>> y, pullback = rrule_via_ad(FiniteDifferenceConfig(), np.cbrt, 8.0)
    >>> round(float(pullback(1.0)[1]), 9)
    0.083333333
    """

    __module__ = "rules_core.testing"

    def frule_via_ad(self, tangents: Any, f: Any, *args: Any, **kw: Any) -> Any:
        """`(y, dy)` by the rule of `f`, or by one directional difference."""
        call = frule.resolve(f, args, kw, self)
        if call is not None:
            return call.run(tangents)
        subject = Subject(f, args, kw, tries=0)
        direction = subject.space.coordinates(tangents)
        # A step fits one size of arguments: the tangent's own size is a factor.
        size = np.max(np.abs(direction) / subject.space.spans, initial=0.0) or 1.0
        return subject.y, subject.out.tangent(size * _slope(subject, direction / size))

    def rrule_via_ad(self, f: Any, *args: Any, **kw: Any) -> Any:
        """`(y, pullback)` by the rule of `f`, or by its whole Jacobian."""
        call = rrule.resolve(f, args, kw, self)
        if call is not None:
            y, pullback = call.run()
            return y, call.ordered(pullback)
        subject = Subject(f, args, kw, tries=0)
        return subject.y, _numerical_pullback(subject)


def _numerical_pullback(subject: Subject) -> Callable[[Any], tuple[Any, ...]]:
    spans = subject.space.spans
    columns = [_slope(subject, row) for row in np.diag(spans)]

    def numerical_pullback(dy: Any) -> tuple[Any, ...]:
        w = subject.out.coordinates(dy)
        cotangent = np.array([column @ w for column in columns]) / spans
        tangents: tuple[Any, ...] = subject.space.tangent(cotangent)
        return tangents

    return numerical_pullback


# A direction a thousand times as short, by no power of two, whose steps would be among
# those of the other one; and the share of the largest slope by which they may differ,
# for differences of differences are noisy.
_SHORT, _SHARE = 1e-3, 1e-2


def _slope(subject: Subject, direction: Vector) -> Vector:
    """The derivative along a direction, if it is found by steps of two sizes.

    Raises:
        ViaADError: It is not, as at poles, or where the function varies much faster
            than by the size of its arguments: `sin(x)` at 1e7.
    """
    wide, near = subject.slope(direction), subject.slope(_SHORT * direction)
    found = np.all(np.isfinite([wide.value, near.value]))
    if found and wide.converged and near.converged:
        gap = np.abs(wide.value - near.value / _SHORT)
        error = wide.error + near.error / _SHORT
        size = max(largest(wide.value), largest(near.value) / _SHORT)
        if np.all(gap <= 10 * error + _SHARE * size):
            return wide.value
    name = getattr(subject.f, "__qualname__", repr(subject.f))
    message = (
        f"the derivative of {name} must exist where a rule calls back into AD, but "
        "finite differences do not converge there. Give it a rule of its own."
    )
    raise ViaADError(message)
