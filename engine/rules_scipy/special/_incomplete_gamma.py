r"""Regularised incomplete gamma functions, $P(a, x)$ and $Q(a, x) = 1 - P(a, x)$.

They have derivatives of every order in $x$, and of first order in $a$; that one has
derivatives in $x$ again.
"""

from __future__ import annotations

from typing import Any

import scipy.special

from . import _parameters
from ._arrays import absolute, log, sqrt, where
from ._declare import elementwise, on_doubles, ufunc
from ._differences import Difference
from ._gamma import digamma
from ._inverses import Partials, inverse
from ._logarithms import strong_times, xlogy

__all__ = [
    "gammainc",
    "gammainc_da",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
]

_sp = scipy.special


@elementwise
@on_doubles
def gammainc_da(a: Any, x: Any) -> Any:
    r"""$\partial_a P(a, x)$, to full relative accuracy in both tails.

    Args:
        a: Shape parameter, non-negative; NaN otherwise.
        x: Upper end of the integral, non-negative; NaN otherwise.

    See `_parameters` for the method.

    >>> from rules_scipy.special import gammainc_da
    >>> round(float(gammainc_da(2.0, 3.0)), 12)
    -0.197425419579
    """
    return _parameters.gamma_parameter(a, x)


@elementwise
@on_doubles
def gamma_power(power: Any, a: Any, x: Any) -> Any:
    r"""$x^p e^{-x} / \Gamma(a)$: the density of the gamma distribution at $p = a - 1$.

    Power and normalisation are separate so that the derivative in $x$, $p\, x^{p-1}
    e^{-x} / \Gamma(a) - x^p e^{-x} / \Gamma(a)$, is correct at $x = 0$ too.
    """
    return _parameters.gamma_power(power, a, x)


def _step(a: Any, x: Any) -> Any:
    """For the second order in `a`: the scale on which the first one varies."""
    far = where(x > 0, absolute(log(where(x > 0, x, 1.0)) - digamma(a)), 0.0)
    spread = 1 + 1 / a + far
    return 0.1 * a / (1 + a * spread / (1 + sqrt(a)))


def density(a: Any, x: Any) -> Any:
    r"""$x^{a-1} e^{-x} / \Gamma(a)$ (DLMF 8.8.13)."""
    return gamma_power(a - 1, a, x)


def _gammainc_da_x(_y: Any, a: Any, x: Any) -> Any:
    r"""$\partial_x \partial_a P = p(x)\, (\ln x - \psi(a))$, $p$ the density."""
    height = density(a, x)
    return xlogy(height, x) - height * digamma(a)


def _gamma_power_x(y: Any, power: Any, a: Any, x: Any) -> Any:
    return strong_times(power, gamma_power(power - 1, a, x)) - y


gammainc = ufunc(
    _sp.gammainc, lambda y, a, x: gammainc_da(a, x), lambda y, a, x: density(a, x)
)
gammaincc = ufunc(
    _sp.gammaincc, lambda y, a, x: -gammainc_da(a, x), lambda y, a, x: -density(a, x)
)
ufunc(gammainc_da, Difference(_step), _gammainc_da_x)
ufunc(
    gamma_power,
    lambda y, power, a, x: xlogy(y, x),
    lambda y, power, a, x: -y * digamma(a),
    _gamma_power_x,
)

# The inverses in x and in a: F(a, x) = p.
GAMMAINC: Partials = {"a": gammainc_da, "x": density}
GAMMAINCC: Partials = {
    "a": lambda a, x: -gammainc_da(a, x),
    "x": lambda a, x: -density(a, x),
}
gammaincinv = inverse(_sp.gammaincinv, "a p -> x", "a x", GAMMAINC)
gammainccinv = inverse(_sp.gammainccinv, "a p -> x", "a x", GAMMAINCC)
