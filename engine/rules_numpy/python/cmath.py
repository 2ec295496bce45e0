"""Functions of the standard library's `cmath`, on Python's complex numbers."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from functools import wraps
from typing import Any

import rules_core as rc
from rules_numpy._declare.derivative import constant
from rules_numpy._declare.namespaces import over_number as over
from rules_numpy.formulas import CMATH

from .math import declare, formula_of_numbers, log_of

__all__: list[str] = []

rc.non_differentiable(
    constant([cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan])
)


def phase_partials(y: Any, z: Any) -> Any:
    """d arg z = Im(dz / z) = Re(-i dz / z)."""
    return (over(-1j, z),)


def polar_partials(y: Any, z: Any) -> Any:
    """Modulus and argument."""
    return (z.conjugate() / y[0] if y[0] else 0.0,), (over(-1j, z),)


def rect_partials(y: Any, r: Any, phi: Any) -> Any:
    """r exp(i φ)."""
    return cmath.rect(1.0, phi), 1j * y


def of_complex(partials: Callable[..., Any]) -> Callable[..., Any]:
    """The partials of real numbers too: on a cut, the side with imaginary part +0."""

    @wraps(partials)
    def partials_of_complex(y: Any, z: Any) -> Any:
        return partials(y, complex(z))

    return partials_of_complex


for _name in (
    "sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh exp log10 sqrt"
).split():
    _partials = of_complex(formula_of_numbers(_name, CMATH))
    declare(getattr(cmath, _name), _partials, holomorphic=True)
declare(cmath.log, log_of(CMATH), holomorphic=True)
declare(cmath.phase, phase_partials, real_valued=True)
declare(cmath.polar, polar_partials, real_valued=True)
declare(cmath.rect, rect_partials)
