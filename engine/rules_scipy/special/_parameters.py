r"""Derivatives of the incomplete gamma and beta functions in their parameters.

Both are distribution functions, and the derivative of their density $p$ in a parameter
is the density times a weight of mean zero:

$$\partial_a P(a, x) = \int_0^x p(t)\, (\ln t - \psi(a))\, dt
                     = -\int_x^\infty p(t)\, (\ln t - \psi(a))\, dt.$$

The weight changes sign once, at $t_0 = e^{\psi(a)}$. Left of it the first form, right
of it the second has an integrand of one sign: nothing cancels, and the result has full
relative accuracy far into both tails. In $u = \ln t$ (gamma) or in $u = \ln(t / (1 -
t))$ (beta) the integrand is log-concave, which `half_line` uses.

Everything here is plain NumPy on float64 arrays of one common shape (n,).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from ._quadrature import half_line

__all__ = [
    "beta_parameter",
    "beta_power",
    "digamma_increment",
    "gamma_parameter",
    "gamma_power",
]

_TINY = 1e-300  # replaces a parameter 0: the derivatives have limits there

# B(2k) / (2k (2k - 1)): the series of ln Γ, DLMF 5.11.1.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
# B(2k) / (2k): the series of ψ, DLMF 5.11.2.
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_SHIFT = 10  # both series are accurate to rounding from here on


def _log1p_excess(x: Any, log: Any = None) -> Any:
    r"""$\ln(1 + x) - x$ without cancellation; `log` is a better $\ln(1 + x)$."""
    z = x / (2 + x)
    square = z * z
    tail = np.zeros_like(z)
    for k in range(12, 0, -1):
        tail = 1 / (2 * k + 1) + square * tail
    near = 2 * square * (z * tail - 1 / (1 - z))
    return np.where(np.abs(x) < 0.4, near, (np.log1p(x) if log is None else log) - x)


def _expm1_excess(x: Any) -> Any:
    r"""$e^x - 1 - x$ without cancellation."""
    series = np.zeros_like(x)
    for k in range(15, 1, -1):
        series = (1 + series) * x / k
    return np.where(np.abs(x) < 0.5, series * x, np.expm1(x) - x)


def _stirling_error(a: Any) -> Any:
    r"""$\ln\Gamma(a) - (a - \frac12) \ln a + a - \frac12 \ln 2\pi$."""
    series = np.zeros_like(a)
    for coefficient in reversed(_STIRLING):
        series = coefficient + series / (a * a)
    direct = scipy.special.gammaln(a) - (a - 0.5) * np.log(a) + a
    return np.where(a > _SHIFT, series / a, direct - 0.5 * np.log(2 * np.pi))


def _digamma_error(a: Any) -> Any:
    r"""$\ln a - \psi(a)$."""
    series = np.zeros_like(a)
    for coefficient in reversed(_DIGAMMA):
        series = (coefficient + series) / (a * a)
    direct = np.log(a) - scipy.special.digamma(a)
    return np.where(a > _SHIFT, 1 / (2 * a) + series, direct)


def _digamma_increment_error(a: Any, b: Any) -> Any:
    r"""$\psi(a + b) - \psi(a) - \ln(1 + b / a)$."""
    n = a + b
    ratio = np.log1p(b / a)
    total = b / n / (2 * a)
    for k, coefficient in enumerate(_DIGAMMA, start=1):
        total = total - coefficient * a ** (-2.0 * k) * np.expm1(-2 * k * ratio)
    return total


def digamma_increment(a: Any, b: Any) -> Any:
    r"""$\psi(a + b) - \psi(a)$ for $a, b > 0$, also where $b \ll a$ (DLMF 5.5.2)."""
    steps = sum(b / (a + n) / (a + b + n) for n in range(_SHIFT))
    a = a + _SHIFT
    return steps + np.log1p(b / a) + _digamma_increment_error(a, b)


@np.errstate(all="ignore")
def gamma_parameter(a: Any, x: Any) -> Any:
    r"""$\partial_a P(a, x)$ of the regularised incomplete gamma function.

    Zero at $x = 0$ and $x = \infty$, NaN outside $a \ge 0$, $x \ge 0$.
    """
    valid = (a >= 0) & (x >= 0) & ~((a == 0) & (x == 0))
    inside = valid & (x > 0) & np.isfinite(a) & np.isfinite(x)
    result = np.where(valid, 0.0, np.nan)
    if inside.any():
        result[inside] = _gamma_inside(np.maximum(a[inside], _TINY), x[inside])
    return result


def _gamma_inside(a: Any, x: Any) -> Any:
    relative = (x - a) / a
    near = np.abs(relative) < 0.5
    log_ratio = np.where(near, np.log1p(relative), np.log(x / a))
    distance = log_ratio + _digamma_error(a)  # ln x - ψ(a)
    side = np.where(distance < 0, -1.0, 1.0)

    def drop(s: Any) -> Any:
        return x * _expm1_excess(side * s) + side * (x - a) * s

    def weight(s: Any) -> Any:
        return np.abs(distance) + s

    corner = np.where(side < 0, 0, -np.log(x))
    density = _gamma_density(a, x, a * _log1p_excess(relative, log_ratio))
    return -density * half_line(drop, weight, corner, (1 + a + x) ** -0.5)


def _gamma_density(a: Any, x: Any, deviance: Any) -> Any:
    """The density of ln t at t = x."""
    saddle = np.sqrt(a / (2 * np.pi)) * np.exp(deviance - _stirling_error(a))
    direct = np.exp(a * np.log(x) - x - scipy.special.gammaln(a))
    return np.where(a > _SHIFT, saddle, direct)


@np.errstate(all="ignore")
def beta_parameter(a: Any, b: Any, x: Any, y: Any) -> Any:
    r"""$\partial_a I_x(a, b)$ of the regularised incomplete beta function.

    Args:
        a: The parameter.
        b: The other one. $\partial_b I_x(a, b) = -\partial_1 I_{1-x}(b, a)$.
        x: The argument.
        y: $1 - x$, a separate argument because it may be the smaller and exact one.

    Returns:
        The derivative: zero at $x = 0$ and $x = 1$, NaN outside the domain.
    """
    valid = (a >= 0) & (b >= 0) & (x >= 0) & (y >= 0) & (a + b > 0)
    inside = valid & (x > 0) & (y > 0) & np.isfinite(a) & np.isfinite(b)
    result = np.where(valid, 0.0, np.nan)
    if inside.any():
        a, b = (np.maximum(v[inside], _TINY) for v in (a, b))
        result[inside] = _beta_inside(a, b, x[inside], y[inside])
    return result


def _beta_inside(a: Any, b: Any, x: Any, y: Any) -> Any:
    n, shift = a + b, x * b - y * a  # the density has its mode where shift = 0
    distance = _beta_distance(a, b, x, shift / a)
    left = distance < 0
    slope, near, far = (np.where(left, *pair) for pair in ((a, b), (x, y), (y, x)))
    excess = np.where(left, -shift, shift)

    def drop(s: Any) -> Any:
        return _beta_drop(s, n, slope, near, far, excess)

    def weight(s: Any) -> Any:
        return np.abs(distance) + _log_growth(s, left, x, y)

    bend = np.log(x) - np.log(y) - np.log(np.maximum(a, 1) / np.maximum(b, 1))
    corner = np.where(left, bend, -bend)
    density = _beta_density(a, b, x, y, shift)
    return -density * half_line(drop, weight, corner, (1 + n) ** -0.5)


def _beta_distance(a: Any, b: Any, x: Any, relative: Any) -> Any:
    r"""$\ln x - \psi(a) + \psi(a + b)$; `relative` is $x (a + b) / a - 1$."""
    central = np.log1p(relative) + _digamma_increment_error(a, b)
    direct = np.log(x) + digamma_increment(a, b)
    return np.where((a > _SHIFT) & (np.abs(relative) < 0.5), central, direct)


def _beta_drop(s: Any, n: Any, slope: Any, near: Any, far: Any, excess: Any) -> Any:
    r"""Fall of $a \ln t + b \ln(1 - t)$ at a distance `s` in $\ln(t / (1 - t))$."""
    step = np.where(near < 0.5, -s, np.minimum(s, 700))
    part = np.minimum(near, far)
    change = part * np.expm1(step)
    close = n * (_log1p_excess(change) + part * _expm1_excess(step)) + excess * s
    away = slope * s + n * np.log(far + near * np.exp(-s))
    return np.where(np.abs(change) < 0.5, close, away)


def _log_growth(s: Any, left: Any, x: Any, y: Any) -> Any:
    r"""$|\ln t - \ln x|$ at a distance `s` from $x$ in $\ln(t / (1 - t))$."""
    step = np.where(left, np.minimum(s, 700), -s)
    change = y * np.expm1(step)
    outer, inner = np.where(left, y, x), np.where(left, x, y)
    steep = np.where(left, s, 0) + np.log(outer + inner * np.exp(-s))
    return np.abs(np.where(np.abs(change) < 0.5, np.log1p(change), steep))


def _beta_density(a: Any, b: Any, x: Any, y: Any, shift: Any) -> Any:
    """The density of ln(t / (1 - t)) at t = x, by its distance from the mode."""
    n = a + b
    deviance = a * _log1p_excess(shift / a, np.log(x * (n / a)))
    deviance = deviance + b * _log1p_excess(-shift / b, np.log(y * (n / b)))
    errors = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    return np.sqrt(a * (b / n) / (2 * np.pi)) * np.exp(deviance + errors)


@np.errstate(all="ignore")
def gamma_power(power: Any, a: Any, x: Any) -> Any:
    r"""$x^p e^{-x} / \Gamma(a)$, for large $a$ by its distance from the mode."""
    plain = np.exp(scipy.special.xlogy(power, x) - x) * scipy.special.rgamma(a)
    relative = (x - a) / a
    log_ratio = np.where(np.abs(relative) < 0.5, np.log1p(relative), np.log(x / a))
    density = _gamma_density(a, x, a * _log1p_excess(relative, log_ratio))
    shifted = density * x ** (power - a)
    result = np.where((a > _SHIFT) & (x > 0), shifted, plain)
    result = np.where(np.isinf(x) | np.isinf(a), 0.0, result)
    return np.where((x >= 0) & (a >= 0), result, np.nan)


@np.errstate(all="ignore")
def beta_power(p: Any, q: Any, a: Any, b: Any, x: Any) -> Any:
    r"""$x^p (1 - x)^q / B(a, b)$, inside by its distance from the mode."""
    special, y = scipy.special, 1 - x
    edge = np.exp(special.xlogy(p, x) + special.xlog1py(q, -x) - special.betaln(a, b))
    positive = np.maximum(a, _TINY), np.maximum(b, _TINY)
    density = _beta_density(*positive, x, y, x * b - y * a)
    inside = density * x ** (p - a) * y ** (q - b)
    result = np.where((x > 0) & (y > 0), inside, edge)
    result = np.where(np.isinf(a) | np.isinf(b), 0.0, result)
    return np.where((x >= 0) & (y >= 0) & (a >= 0) & (b >= 0), result, np.nan)
