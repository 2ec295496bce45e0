"""The gamma family: Γ, ln Γ, ψ and its derivatives, B and ln B."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

import rules_core as rc

from . import _parameters
from ._declare import (
    elementwise,
    is_complex,
    no_derivative,
    on_doubles,
    scalar_rule,
)

__all__ = [
    "beta",
    "betaln",
    "digamma",
    "digamma_increment",
    "gamma",
    "gammaln",
    "polygamma",
    "psi",
]

gamma = elementwise(scipy.special.gamma)
gammaln = elementwise(scipy.special.gammaln)
digamma = elementwise(scipy.special.digamma)
psi = digamma  # one ufunc
polygamma = elementwise(scipy.special.polygamma)
beta = elementwise(scipy.special.beta)
betaln = elementwise(scipy.special.betaln)


@elementwise
@on_doubles
def digamma_increment(a: Any, b: Any) -> Any:
    r"""$\psi(a + b) - \psi(a)$, to full relative accuracy for positive arguments."""
    positive = (a > 0) & (b > 0)
    with np.errstate(all="ignore"):
        accurate = _parameters.digamma_increment(a, b)
        plain = scipy.special.digamma(a + b) - scipy.special.digamma(a)
    return np.where(positive, accurate, plain)


def gamma_partials(y: Any, x: Any) -> tuple[Any]:
    r"""$\Gamma'(x) = \Gamma(x)\, \psi(x)$ (DLMF 5.2.2); NaN at -1, -2 and so on."""
    return (y * digamma(x),)


def gammaln_partials(_y: Any, x: Any) -> tuple[Any]:
    r"""$(\ln|\Gamma|)'(x) = \psi(x)$ (DLMF 5.2.2)."""
    return (digamma(x),)


def digamma_partials(_y: Any, x: Any) -> tuple[Any]:
    r"""$\psi'(x) = \psi^{(1)}(x)$ (DLMF 5.15.1), for real arguments."""
    if is_complex(x):
        why = "SciPy has no polygamma function of complex arguments; take real ones"
        return (rc.not_implemented(f"derivative of digamma: {why}"),)
    return (polygamma(1, x),)


def polygamma_partials(_y: Any, n: Any, x: Any) -> tuple[Any, Any]:
    r"""$\partial_x \psi^{(n)}(x) = \psi^{(n+1)}(x)$ (DLMF 5.15.1)."""
    order = no_derivative(
        n, "derivative of polygamma in n, which must be an integer: pass n as an int"
    )
    return order, polygamma(n + 1, x)


def beta_partials(y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    r"""$\partial_a B(a, b) = B(a, b)\, (\psi(a) - \psi(a + b))$ (DLMF 5.12.1)."""
    return -y * digamma_increment(a, b), -y * digamma_increment(b, a)


def betaln_partials(_y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    r"""$\partial_a \ln B(a, b) = \psi(a) - \psi(a + b)$ (DLMF 5.12.1)."""
    return -digamma_increment(a, b), -digamma_increment(b, a)


def digamma_increment_partials(_y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    r"""$\psi'(a + b) - \psi'(a)$ and $\psi'(a + b)$."""
    end = polygamma(1, a + b)
    return end - polygamma(1, a), end


scalar_rule(gamma, gamma_partials, holomorphic=True)
scalar_rule(gammaln, gammaln_partials)
scalar_rule(digamma, digamma_partials, holomorphic=True)
scalar_rule(polygamma, polygamma_partials)
scalar_rule(beta, beta_partials)
scalar_rule(betaln, betaln_partials)
scalar_rule(digamma_increment, digamma_increment_partials)
