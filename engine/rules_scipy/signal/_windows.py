"""Windows, in their continuous parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.signal as _signal
import scipy.signal.windows as _sp

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy.special import i0

from ._axis import fixed, flipped, together
from ._declare import At, declared

__all__ = [
    "chebwin",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_gaussian",
    "general_hamming",
    "get_window",
    "kaiser",
    "kaiser_bessel_derived",
    "taylor",
    "tukey",
    "window_of",
]


# Formulas: window(n, M, parameters…) at the places n = 0, …, M - 1


def _gaussian(n: Any, M: int, std: Any) -> Any:
    x = fixed((n - (M - 1) / 2) ** 2, std)
    return rc.array_namespace(std).exp(-x / (2 * std * std))


def _general_gaussian(n: Any, M: int, p: Any, sig: Any) -> Any:
    """At the centre the window is one, for every parameter."""
    distance = np.abs(n - (M - 1) / 2)
    p, sig = together(p, sig)
    xp = rc.array_namespace(p, sig)
    away = fixed(np.where(distance == 0, 1.0, distance), sig)
    powers = xp.exp(2 * p * xp.log(away / xp.abs(sig)))
    w = xp.exp(-0.5 * powers)
    return xp.where(fixed(distance == 0, sig), xp.ones_like(w), w)


def _exponential(n: Any, M: int, center: Any, tau: Any) -> Any:
    if center is None:
        distance = fixed(np.abs(n - (M - 1) / 2), tau)
        return rc.array_namespace(tau).exp(-distance / tau)
    center, tau = together(center, tau)
    xp = rc.array_namespace(center, tau)
    return xp.exp(-xp.abs(fixed(n, tau) - center) / tau)


def _tukey(n: Any, M: int, alpha: Any) -> Any:
    """A flat top between two halves of a Hann window."""
    xp = rc.array_namespace(alpha)
    edge = fixed(2.0 * np.minimum(n, M - 1 - n) / (M - 1), alpha)
    width = xp.where((alpha > 0) & (alpha < 1), alpha, xp.ones_like(alpha))
    sides = 0.5 * (1 - xp.cos(np.pi * edge / width))
    return xp.where((edge < width) & (alpha > 0), sides, xp.ones_like(sides))


def _cosines(n: Any, M: int, a: Any) -> Any:
    angles = np.linspace(-np.pi, np.pi, M)
    table = np.cos(np.arange(a.shape[0])[:, None] * angles)
    return rc.array_namespace(a).sum(a[:, None] * fixed(table, a), axis=0)


def _hamming(n: Any, M: int, alpha: Any) -> Any:
    wave = fixed(np.cos(np.linspace(-np.pi, np.pi, M)), alpha)
    return alpha + (1 - alpha) * wave


def _kaiser(n: Any, M: int, beta: Any) -> Any:
    half = (M - 1) / 2
    root = np.sqrt(1 - ((n - half) / half) ** 2)
    return i0(beta * fixed(root, beta)) / i0(beta)


def _derived(n: Any, M: int, beta: Any) -> Any:
    xp, half = rc.array_namespace(beta), M // 2
    sums = xp.cumulative_sum(_kaiser(np.arange(half + 1), half + 1, beta))
    w = xp.sqrt(sums[:-1] / sums[-1])
    return concat([w, flipped(w, 0)], 0)


def _chebyshev(xp: Any, x: Any, order: int) -> Any:
    """The polynomial of an order, at real numbers."""
    inside, size, one = xp.abs(x) <= 1, xp.abs(x), xp.ones_like(x)
    low = xp.cos(order * xp.acos(xp.where(inside, x, 0 * one)))
    high = xp.cosh(order * xp.acosh(xp.where(inside, 2 * one, size)))
    return xp.where(inside, low, xp.where(x < 0, (-1) ** order * high, high))


def _chebwin(n: Any, M: int, at: Any) -> Any:
    xp = rc.array_namespace(at)
    beta = xp.cosh(xp.acosh(10 ** (xp.abs(at) / 20)) / (M - 1))
    p = _chebyshev(xp, beta * fixed(np.cos(np.pi * n / M), at), M - 1)
    odd, half = M % 2, M // 2 + 1
    if odd:
        w = xp.real(xp.fft.fft(p + 0j))[:half]
        w = concat([flipped(w[1:], 0), w], 0)
    else:
        w = xp.real(xp.fft.fft(p * fixed(np.exp(1j * np.pi / M * n), at)))
        w = concat([flipped(w[1:half], 0), w[1:half]], 0)
    return w / xp.max(w)


def _taylor(n: Any, M: int, sll: Any, nbar: int, norm: bool) -> Any:
    xp = rc.array_namespace(sll)
    a = xp.acosh(10 ** (sll / 20)) / np.pi
    s2 = nbar**2 / (a**2 + (nbar - 0.5) ** 2)
    order = np.arange(1, nbar)
    m2 = order**2.0

    def factor(i: int) -> Any:
        zeros = a**2 + fixed((order - 0.5) ** 2, sll)
        others = np.prod(1 - m2[i] / np.delete(m2, i))
        return (-1) ** i * xp.prod(1 - m2[i] / s2 / zeros) / (2 * others)

    factors = xp.stack([factor(i) for i in range(nbar - 1)])

    def at(places: Any) -> Any:
        angles = 2 * np.pi * order[:, None] * (places - M / 2 + 0.5) / M
        return 1 + 2 * xp.sum(factors[:, None] * fixed(np.cos(angles), sll), axis=0)

    w = at(n)
    return w / at(np.asarray([(M - 1) / 2])) if norm else w


# Declarations


def _window(f: Any, formula: Callable[..., Any], *of: str) -> rc.Primitive:
    def window_step(at: At, *parameters: Any, M: Any, sym: Any) -> Any:
        return _sampled(formula, M, sym, *parameters)

    return declared(f, window_step, *of)


def _sampled(formula: Any, M: int, sym: Any, *parameters: Any) -> Any:
    if M <= 1:
        last = parameters[-1]
        return 0 * rc.array_namespace(last).sum(last) + fixed(np.ones(M), last)
    count = M if sym else M + 1
    return formula(np.arange(count), count, *parameters)[:M]


chebwin = _window(_sp.chebwin, _chebwin, "at")
exponential = _window(_sp.exponential, _exponential, "center", "tau")
gaussian = _window(_sp.gaussian, _gaussian, "std")
general_cosine = _window(_sp.general_cosine, _cosines, "a")
general_gaussian = _window(_sp.general_gaussian, _general_gaussian, "p", "sig")
general_hamming = _window(_sp.general_hamming, _hamming, "alpha")
kaiser = _window(_sp.kaiser, _kaiser, "beta")
kaiser_bessel_derived = _window(_sp.kaiser_bessel_derived, _derived, "beta")
tukey = _window(_sp.tukey, _tukey, "alpha")


def _taylor_step(at: At, sll: Any, M: Any, nbar: Any, norm: Any, sym: Any) -> Any:
    def formula(n: Any, count: int, sll: Any) -> Any:
        return _taylor(n, count, sll, nbar, norm)

    return _sampled(formula, M, sym, sll)


taylor = declared(_sp.taylor, _taylor_step, "sll")

# By the names that get_window knows
_FORMULAS = {
    **dict.fromkeys(("kaiser", "ksr"), _kaiser),
    **dict.fromkeys(("gaussian", "gauss", "gss"), _gaussian),
    **dict.fromkeys(("tukey", "tuk"), _tukey),
    **dict.fromkeys(("chebwin", "cheb"), _chebwin),
    **dict.fromkeys(("exponential", "poisson"), _exponential),
    **dict.fromkeys(
        ("general gaussian", "general_gaussian", "general gauss", "general_gauss",
         "ggs"), _general_gaussian,
    ),
    **dict.fromkeys(("general cosine", "general_cosine"), _cosines),
    **dict.fromkeys(("general hamming", "general_hamming"), _hamming),
    **dict.fromkeys(
        ("kaiser_bessel_derived", "kaiser bessel derived", "kbd"), _derived
    ),
}  # fmt: skip


def _get_window_step(at: At, window: Any, Nx: Any, fftbins: Any) -> Any:
    name, *parameters = window if isinstance(window, tuple) else ("kaiser", window)
    sym = not fftbins
    for ending in ("_symmetric", "_periodic"):
        if name.endswith(ending):
            sym, name = ending == "_symmetric", name.removesuffix(ending)
    if name not in _FORMULAS:
        message = f"derivative of the window {name!r} in its parameters"
        raise rc.UnsupportedError(message)
    return _sampled(_FORMULAS[name], Nx, sym, *map(_array, parameters))


def _array(x: Any) -> Any:
    return np.asarray(x, float) if isinstance(x, int | float | list) else x


get_window = declared(_signal.get_window, _get_window_step, "window")


def window_of(window: Any, n: int, like: Any, *, fftbins: bool = True) -> Any:
    """A window by its name, by its name and parameters, or as an array."""
    if isinstance(window, str | tuple):
        window = get_window(window, n, fftbins)
    return fixed(window, like) if isinstance(window, np.ndarray) else window
