r"""The regularised incomplete beta function $I_x(a, b)$.

It has derivatives of every order in $x$, and of first order in $a$ and $b$; those have
derivatives in $x$ again.
"""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc

from . import _parameters
from ._costly_partials import lazy_rule
from ._declare import elementwise, on_doubles, scalar_rule
from ._gamma import digamma_increment
from ._logarithms import strong_times, xlog1py, xlogy

__all__ = ["beta_power", "betainc", "betainc_da", "betainc_db"]

betainc = elementwise(scipy.special.betainc)


@elementwise
@on_doubles
def betainc_da(a: Any, b: Any, x: Any) -> Any:
    r"""$\partial_a I_x(a, b)$, to full relative accuracy in both tails.

    Args:
        a: First parameter, non-negative; NaN otherwise.
        b: Second parameter, non-negative; NaN otherwise.
        x: Upper end of the integral, in [0, 1]; NaN otherwise.

    See `_parameters` for the method.

    >>> from rules_scipy.special import betainc_da
    >>> round(float(betainc_da(2.3, 1.7, 0.4)), 12)
    -0.173459271862
    """
    return _parameters.beta_parameter(a, b, x, 1 - x)


@elementwise
@on_doubles
def betainc_db(a: Any, b: Any, x: Any) -> Any:
    r"""$\partial_b I_x(a, b) = -\partial_1 I_{1-x}(b, a)$, likewise (DLMF 8.17.4).

    >>> from rules_scipy.special import betainc_db
    >>> round(float(betainc_db(2.3, 1.7, 0.4)), 12)
    0.171916532142
    """
    return -_parameters.beta_parameter(b, a, 1 - x, x)


@elementwise
@on_doubles
def beta_power(p: Any, q: Any, a: Any, b: Any, x: Any) -> Any:
    r"""$x^p (1 - x)^q / B(a, b)$: the beta density at $p = a - 1$, $q = b - 1$.

    Powers and normalisation are separate so that the derivative in $x$, $(p\, x^{p-1}
    (1 - x)^q - q\, x^p (1 - x)^{q-1}) / B(a, b)$, is correct at 0 and 1.
    """
    return _parameters.beta_power(p, q, a, b, x)


_TWICE = (
    "derivative of betainc in a or b, beyond the first order: there is no formula for "
    "it. Differentiate in x as often as you like, and in a or b once"
)


def _density(a: Any, b: Any, x: Any) -> Any:
    return beta_power(a - 1, b - 1, a, b, x)


def _betainc_a(a: Any, b: Any, x: Any) -> Any:
    return betainc_da(a, b, x)


def _betainc_b(a: Any, b: Any, x: Any) -> Any:
    return betainc_db(a, b, x)


def _betainc_x(a: Any, b: Any, x: Any) -> Any:
    r"""$\partial_x I_x(a, b) = x^{a-1} (1 - x)^{b-1} / B(a, b)$ (DLMF 8.17.1)."""
    return _density(a, b, x)


def _no_second(a: Any, b: Any, x: Any) -> Any:
    return rc.not_implemented(_TWICE)


def _betainc_da_x(a: Any, b: Any, x: Any) -> Any:
    r"""$\partial_x \partial_a I = p(x)\, (\ln x - \psi(a) + \psi(a + b))$."""
    density = _density(a, b, x)
    return xlogy(density, x) + density * digamma_increment(a, b)


def _betainc_db_x(a: Any, b: Any, x: Any) -> Any:
    r"""$\partial_x \partial_b I = p(x)\, (\ln(1 - x) - \psi(b) + \psi(a + b))$."""
    density = _density(a, b, x)
    return xlog1py(density, -x) + density * digamma_increment(b, a)


def beta_power_partials(
    y: Any, p: Any, q: Any, a: Any, b: Any, x: Any
) -> tuple[Any, ...]:
    r"""$y \ln x$, $y \ln(1 - x)$, $y (\psi(a + b) - \psi(a))$, …, and that in $x$."""
    rise = strong_times(p, beta_power(p - 1, q, a, b, x))
    fall = strong_times(q, beta_power(p, q - 1, a, b, x))
    along = y * digamma_increment(a, b), y * digamma_increment(b, a)
    return xlogy(y, x), xlog1py(y, -x), *along, rise - fall


lazy_rule(betainc, _betainc_a, _betainc_b, _betainc_x)
lazy_rule(betainc_da, _no_second, _no_second, _betainc_da_x)
lazy_rule(betainc_db, _no_second, _no_second, _betainc_db_x)
scalar_rule(beta_power, beta_power_partials)
