r"""The regularised incomplete beta function $I_x(a, b)$.

It has derivatives of every order in $x$, and of first order in $a$ and $b$; those have
derivatives in $x$ again.
"""

from __future__ import annotations

from typing import Any

import scipy.special

from . import _parameters
from ._arrays import absolute, log, sqrt, where
from ._declare import elementwise, on_doubles, ufunc
from ._differences import Difference
from ._gamma import digamma_increment
from ._inverses import Partials, inverse
from ._logarithms import strong_times, xlog1py, xlogy

__all__ = [
    "betainc",
    "betainc_da",
    "betainc_db",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "btdtria",
    "btdtrib",
]

_sp = scipy.special


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


def _step(a: Any, b: Any, x: Any) -> Any:
    """For the second order in `a`: the scale on which the first one varies."""
    far = where(x > 0, absolute(log(where(x > 0, x, 1.0)) + digamma_increment(a, b)), 0)
    return 0.1 * a / (1 + a * (1 + far) / (1 + sqrt(a)))


def _step_b(a: Any, b: Any, x: Any) -> Any:
    return _step(b, a, 1 - x)


def density(a: Any, b: Any, x: Any) -> Any:
    r"""$x^{a-1} (1 - x)^{b-1} / B(a, b)$ (DLMF 8.17.1)."""
    return beta_power(a - 1, b - 1, a, b, x)


def _betainc_da_x(_y: Any, a: Any, b: Any, x: Any) -> Any:
    r"""$\partial_x \partial_a I = p(x)\, (\ln x - \psi(a) + \psi(a + b))$."""
    height = density(a, b, x)
    return xlogy(height, x) + height * digamma_increment(a, b)


def _betainc_db_x(_y: Any, a: Any, b: Any, x: Any) -> Any:
    r"""$\partial_x \partial_b I = p(x)\, (\ln(1 - x) - \psi(b) + \psi(a + b))$."""
    height = density(a, b, x)
    return xlog1py(height, -x) + height * digamma_increment(b, a)


def _beta_power_x(_y: Any, p: Any, q: Any, a: Any, b: Any, x: Any) -> Any:
    rise = strong_times(p, beta_power(p - 1, q, a, b, x))
    return rise - strong_times(q, beta_power(p, q - 1, a, b, x))


BETAINC: Partials = {"a": betainc_da, "b": betainc_db, "x": density}
BETAINCC: Partials = {
    "a": lambda a, b, x: -betainc_da(a, b, x),
    "b": lambda a, b, x: -betainc_db(a, b, x),
    "x": lambda a, b, x: -density(a, b, x),
}

betainc = ufunc(
    _sp.betainc,
    lambda y, a, b, x: betainc_da(a, b, x),
    lambda y, a, b, x: betainc_db(a, b, x),
    lambda y, a, b, x: density(a, b, x),
)
betaincc = ufunc(
    _sp.betaincc,
    lambda y, a, b, x: -betainc_da(a, b, x),
    lambda y, a, b, x: -betainc_db(a, b, x),
    lambda y, a, b, x: -density(a, b, x),
)
ufunc(betainc_da, Difference(_step), Difference(_step_b), _betainc_da_x)
ufunc(betainc_db, Difference(_step), Difference(_step_b), _betainc_db_x)
ufunc(
    beta_power,
    lambda y, p, q, a, b, x: xlogy(y, x),
    lambda y, p, q, a, b, x: xlog1py(y, -x),
    lambda y, p, q, a, b, x: y * digamma_increment(a, b),
    lambda y, p, q, a, b, x: y * digamma_increment(b, a),
    _beta_power_x,
)

# The inverses in x, a and b.
betaincinv = inverse(_sp.betaincinv, "a b p -> x", "a b x", BETAINC)
betainccinv = inverse(_sp.betainccinv, "a b p -> x", "a b x", BETAINCC)
btdtria = inverse(_sp.btdtria, "p b x -> a", "a b x", BETAINC)
btdtrib = inverse(_sp.btdtrib, "a p x -> b", "a b x", BETAINC)
