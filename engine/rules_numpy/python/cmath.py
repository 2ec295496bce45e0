"""Functions of the standard library's `cmath`, on Python's complex numbers."""

from __future__ import annotations

import cmath
from typing import Any

import rules_core as rc
from rules_numpy._declare.derivative import constant

from .math import (
    atan_partials,
    atanh_partials,
    declare,
    exp_partials,
    log10_partials,
    over,
    sqrt_partials,
    tan_partials,
    tanh_partials,
)

__all__: list[str] = []

rc.non_differentiable(
    constant([cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan])
)


def csin_partials(y: Any, z: Any) -> Any:
    """∂sin = cos."""
    return (cmath.cos(z),)


def ccos_partials(y: Any, z: Any) -> Any:
    """∂cos = -sin."""
    return (-cmath.sin(z),)


def csinh_partials(y: Any, z: Any) -> Any:
    """∂sinh = cosh."""
    return (cmath.cosh(z),)


def ccosh_partials(y: Any, z: Any) -> Any:
    """∂cosh = sinh."""
    return (cmath.sinh(z),)


def casin_partials(y: Any, z: Any) -> Any:
    """∂asin = 1 / (√(1 - z) √(1 + z))."""
    return (over(1.0, roots_beside(z)),)


def cacos_partials(y: Any, z: Any) -> Any:
    """∂acos = -1 / (√(1 - z) √(1 + z))."""
    return (-over(1.0, roots_beside(z)),)


def roots_beside(z: Any) -> Any:
    """`√(1 - z) √(1 + z)`, for real `z` too on the side of the cut with `Im z = +0`."""
    z = complex(z)
    return cmath.sqrt(-(z - 1.0)) * cmath.sqrt(1.0 + z)


def casinh_partials(y: Any, z: Any) -> Any:
    """∂asinh = 1 / √(1 + z²)."""
    return (over(1.0, cmath.sqrt(1.0 + z * z)),)


def cacosh_partials(y: Any, z: Any) -> Any:
    """∂acosh = 1 / (√(z - 1) √(z + 1))."""
    return (over(1.0, cmath.sqrt(z - 1.0) * cmath.sqrt(z + 1.0)),)


def clog_partials(y: Any, z: Any, base: Any = None) -> Any:
    """∂log_b z = (1 / z, -log_b z / b) / ln b."""
    if base is None:
        return (1.0 / z,)
    scale = cmath.log(base)
    return over(1.0, z * scale), over(-y, base * scale)


def phase_partials(y: Any, z: Any) -> Any:
    """d arg z = Im(dz / z) = Re(-i dz / z)."""
    return (over(-1j, z),)


def polar_partials(y: Any, z: Any) -> Any:
    """Modulus and argument."""
    return (z.conjugate() / y[0] if y[0] else 0.0,), (over(-1j, z),)


def rect_partials(y: Any, r: Any, phi: Any) -> Any:
    """r exp(i φ)."""
    return cmath.rect(1.0, phi), 1j * y


for _name, _partials in {
    "sin": csin_partials, "cos": ccos_partials, "tan": tan_partials,
    "sinh": csinh_partials, "cosh": ccosh_partials, "tanh": tanh_partials,
    "asin": casin_partials, "acos": cacos_partials, "atan": atan_partials,
    "asinh": casinh_partials, "acosh": cacosh_partials, "atanh": atanh_partials,
    "exp": exp_partials, "log": clog_partials, "log10": log10_partials,
    "sqrt": sqrt_partials,
}.items():  # fmt: skip
    declare(getattr(cmath, _name), _partials, holomorphic=True)
declare(cmath.phase, phase_partials, real_valued=True)
declare(cmath.polar, polar_partials, real_valued=True)
declare(cmath.rect, rect_partials)
