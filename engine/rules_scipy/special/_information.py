"""Entropies, losses, and transformations of data."""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc
from rules_core.extend import nan_unless

from ._arrays import absolute, exp, log, log1p, sign, sqrt, where
from ._declare import ufunc
from ._hypergeometric import hyp1f1
from ._inverses import inverse
from ._logarithms import expit, strong_times

__all__ = [
    "boxcox",
    "boxcox1p",
    "entr",
    "huber",
    "inv_boxcox",
    "inv_boxcox1p",
    "kl_div",
    "log_expit",
    "pseudo_huber",
    "rel_entr",
    "tklmbda",
]

_sp = scipy.special

log_expit = ufunc(_sp.log_expit, lambda y, x: expit(-x))
entr = ufunc(_sp.entr, lambda y, x: -log(x) - 1)


def _log_ratio(z: Any, x: Any, y: Any) -> Any:
    """`ln(x / y)`, also of nearly equal arguments; NaN where the function is ∞."""
    relative = (x - y) / y
    near = absolute(relative) < 0.5
    ratio = where(near, log1p(where(near, relative, 0.0)), log(x) - log(y))
    return nan_unless(rc.array_namespace(z).isfinite(z), ratio)


def _share(z: Any, x: Any, y: Any) -> Any:
    """`x / y`, zero for `x = 0`; NaN where the function is ∞."""
    inverse_y = nan_unless(rc.array_namespace(z).isfinite(z), 1 / y)
    return strong_times(x, inverse_y)


rel_entr = ufunc(
    _sp.rel_entr,
    lambda z, x, y: _log_ratio(z, x, y) + 1,
    lambda z, x, y: -_share(z, x, y),
)
kl_div = ufunc(
    _sp.kl_div, _log_ratio, lambda z, x, y: (y - x) * _share(z, 0 * x + 1, y)
)


def _inside(y: Any, x: Any) -> Any:
    """`x`, NaN where the loss is ∞: for a negative scale."""
    return nan_unless(rc.array_namespace(y).isfinite(y), x)


def _huber_residual(y: Any, delta: Any, r: Any) -> Any:
    inner = absolute(r) <= delta
    return _inside(y, where(inner, r, sign(r) * delta))


def _huber_delta(y: Any, delta: Any, r: Any) -> Any:
    excess = absolute(r) - delta
    return _inside(y, where(excess > 0, excess, 0 * excess))


def _pseudo_huber_delta(y: Any, delta: Any, r: Any) -> Any:
    r"""$(h - \delta)^2 / h$ with $h = \sqrt{\delta^2 + r^2}$, without cancellation."""
    length = sqrt(delta * delta + r * r)
    return _inside(y, (r * r / (length + delta)) ** 2 / length)


def _pseudo_huber_residual(y: Any, delta: Any, r: Any) -> Any:
    return _inside(y, r * delta / sqrt(delta * delta + r * r))


huber = ufunc(_sp.huber, _huber_delta, _huber_residual)
pseudo_huber = ufunc(_sp.pseudo_huber, _pseudo_huber_delta, _pseudo_huber_residual)


def _power_of_log(power: Any, t: Any) -> Any:
    r"""$\partial_\lambda\, (e^{\lambda t} - 1) / \lambda$."""
    return t * t * hyp1f1(2.0, 3.0, power * t) / 2


_BOXCOX = {
    "x": lambda x, power: x ** (power - 1),
    "power": lambda x, power: _power_of_log(power, log(x)),
}
_BOXCOX1P = {
    "x": lambda x, power: exp((power - 1) * log1p(x)),
    "power": lambda x, power: _power_of_log(power, log1p(x)),
}

boxcox = ufunc(
    _sp.boxcox,
    lambda y, x, power: _BOXCOX["x"](x, power),
    lambda y, x, power: _BOXCOX["power"](x, power),
)
boxcox1p = ufunc(
    _sp.boxcox1p,
    lambda y, x, power: _BOXCOX1P["x"](x, power),
    lambda y, x, power: _BOXCOX1P["power"](x, power),
)
inv_boxcox = inverse(_sp.inv_boxcox, "p power -> x", "x power", _BOXCOX)
inv_boxcox1p = inverse(_sp.inv_boxcox1p, "p power -> x", "x power", _BOXCOX1P)


def _tukey(x: Any, power: Any) -> tuple[Any, Any]:
    r"""The partials of the quantile $(u^\lambda - (1 - u)^\lambda) / \lambda$.

    At $-|x|$, where the probability $u$ is the smaller one and exact.
    """
    u = tklmbda(-absolute(x), power)
    u = where(u == 0, 0.5, u)  # outside of the support
    low, high = log(u), log1p(-u)
    in_u = exp((power - 1) * low) + exp((power - 1) * high)
    return in_u, _power_of_log(power, low) - _power_of_log(power, high)


def _tklmbda_x(y: Any, x: Any, power: Any) -> Any:
    return _in_support(y, 1 / _tukey(x, power)[0])


def _tklmbda_power(y: Any, x: Any, power: Any) -> Any:
    in_u, in_power = _tukey(x, power)
    return _in_support(y, sign(x) * in_power / in_u)


def _in_support(y: Any, slope: Any) -> Any:
    """A slope, zero outside of the support, where the probability is 0 or 1."""
    return where((y == 0) | (y == 1), 0.0, slope)


tklmbda = ufunc(_sp.tklmbda, _tklmbda_x, _tklmbda_power)

if hasattr(_sp, "softplus"):  # since SciPy 1.17
    softplus = ufunc(_sp.softplus, lambda y, x: expit(x))
    __all__ += ["softplus"]
