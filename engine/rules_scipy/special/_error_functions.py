"""The error function, its complement and its inverse."""

from __future__ import annotations

import math
from typing import Any

import scipy.special

import rules_core as rc

from ._declare import elementwise, scalar_rule

__all__ = ["erf", "erfc", "erfinv"]

_HEIGHT = 2 / math.sqrt(math.pi)

erf = elementwise(scipy.special.erf)
erfc = elementwise(scipy.special.erfc)
erfinv = elementwise(scipy.special.erfinv)


def erf_partials(_y: Any, x: Any) -> tuple[Any]:
    r"""$\mathrm{erf}'(x) = 2 e^{-x^2} / \sqrt\pi$ (DLMF 7.2.1)."""
    return (_HEIGHT * rc.array_namespace(x).exp(-x * x),)


def erfc_partials(_y: Any, x: Any) -> tuple[Any]:
    r"""$\mathrm{erfc}'(x) = -2 e^{-x^2} / \sqrt\pi$ (DLMF 7.2.2)."""
    return (-_HEIGHT * rc.array_namespace(x).exp(-x * x),)


def erfinv_partials(y: Any, x: Any) -> tuple[Any]:
    r"""$(\mathrm{erf}^{-1})'(x) = \sqrt\pi\, e^{y^2} / 2$; ∞ at ±1, NaN beyond."""
    return (rc.array_namespace(y, x).exp(y * y) / _HEIGHT,)


scalar_rule(erf, erf_partials, holomorphic=True)
scalar_rule(erfc, erfc_partials, holomorphic=True)
scalar_rule(erfinv, erfinv_partials)
