"""The zeta function of Riemann and of Hurwitz."""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc

from ._declare import elementwise, no_derivative, scalar_rule

__all__ = ["zeta"]

zeta = elementwise(scipy.special.zeta)


def zeta_partials(_y: Any, x: Any, q: Any, out: None) -> tuple[Any, Any, Any]:
    r"""$\partial_q \zeta(x, q) = -x\, \zeta(x + 1, q)$ (DLMF 25.11.17)."""
    exponent = no_derivative(
        x, "derivative of zeta in its exponent x, which SciPy has no function for"
    )
    start = rc.NoTangent() if q is None else -x * zeta(x + 1, q)
    return exponent, start, rc.NoTangent()


scalar_rule(zeta, zeta_partials)
