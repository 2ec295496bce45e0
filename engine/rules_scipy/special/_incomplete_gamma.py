r"""Regularised incomplete gamma functions, $P(a, x)$ and $Q(a, x) = 1 - P(a, x)$.

They have derivatives of every order in $x$, and of first order in $a$; that one has
derivatives in $x$ again.
"""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc

from . import _parameters
from ._costly_partials import lazy_rule
from ._declare import elementwise, on_doubles, scalar_rule
from ._gamma import digamma
from ._logarithms import strong_times, xlogy

__all__ = ["gamma_power", "gammainc", "gammainc_da", "gammaincc"]

gammainc = elementwise(scipy.special.gammainc)
gammaincc = elementwise(scipy.special.gammaincc)


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


_TWICE = (
    "derivative of {} in a, beyond the first order: there is no formula for it. "
    "Differentiate in x as often as you like, and in a once"
)


def _density(a: Any, x: Any) -> Any:
    return gamma_power(a - 1, a, x)


def _gammainc_x(a: Any, x: Any) -> Any:
    r"""$\partial_x P(a, x) = x^{a-1} e^{-x} / \Gamma(a)$ (DLMF 8.8.13)."""
    return _density(a, x)


def _gammaincc_x(a: Any, x: Any) -> Any:
    r"""$\partial_x Q(a, x) = -\partial_x P(a, x)$."""
    return -_density(a, x)


def _gammainc_a(a: Any, x: Any) -> Any:
    return gammainc_da(a, x)


def _gammaincc_a(a: Any, x: Any) -> Any:
    return -gammainc_da(a, x)


def _no_second_a(a: Any, x: Any) -> Any:
    return rc.not_implemented(_TWICE.format("gammainc and gammaincc"))


def _gammainc_da_x(a: Any, x: Any) -> Any:
    r"""$\partial_x \partial_a P = p(x)\, (\ln x - \psi(a))$, $p$ the density."""
    density = _density(a, x)
    return xlogy(density, x) - density * digamma(a)


def gamma_power_partials(y: Any, power: Any, a: Any, x: Any) -> tuple[Any, Any, Any]:
    r"""$y \ln x$, $-y\, \psi(a)$ and $p\, x^{p-1} e^{-x} / \Gamma(a) - y$."""
    slope = strong_times(power, gamma_power(power - 1, a, x)) - y
    return xlogy(y, x), -y * digamma(a), slope


lazy_rule(gammainc, _gammainc_a, _gammainc_x)
lazy_rule(gammaincc, _gammaincc_a, _gammaincc_x)
lazy_rule(gammainc_da, _no_second_a, _gammainc_da_x)
scalar_rule(gamma_power, gamma_power_partials)
