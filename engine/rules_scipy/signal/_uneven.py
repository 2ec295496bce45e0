"""The spectrum of samples at uneven times."""

from __future__ import annotations

from typing import Any

import scipy.signal as _sp

import rules_core as rc
from rules_core.extend import stand_in

from ._axis import together
from ._declare import At, declared

__all__ = ["lombscargle"]


def _lombscargle_step(
    at: At, x: Any, y: Any, freqs: Any, normalize: Any, weights: Any,
    floating_mean: Any, precenter: Any = None,
) -> Any:  # fmt: skip
    """A fit of A cos + B sin at each frequency, by its two normal equations.

    SciPy turns the phase until they are diagonal; the result does not depend on it.
    """
    x, y, freqs = together(x, y, freqs)
    xp = rc.array_namespace(x, y, freqs)
    w = xp.ones_like(y) if weights is None else together(xp.asarray(weights), y)[0]
    w = (w / xp.sum(w))[:, None]
    if precenter is True:
        y = y - xp.mean(y)
    y = y[:, None]
    angles = x[:, None] * freqs[None, :]
    cos, sin = xp.cos(angles), xp.sin(angles)
    if floating_mean:
        y, cos, sin = [u - xp.sum(w * u, axis=0, keepdims=True) for u in (y, cos, sin)]
    yc, ys = xp.sum(w * y * cos, axis=0), xp.sum(w * y * sin, axis=0)
    cc, ss = xp.sum(w * cos * cos, axis=0), xp.sum(w * sin * sin, axis=0)
    cs = xp.sum(w * cos * sin, axis=0)
    det = cc * ss - cs * cs
    a, b = (ss * yc - cs * ys) / det, (cc * ys - cs * yc) / det
    if normalize == "amplitude":
        return a + 1j * b
    power = a * yc + b * ys
    if normalize in (True, "normalize"):
        return power / xp.sum(w * y * y)
    return power * (y.shape[0] / 2)


def _by_position(
    x: Any, y: Any, freqs: Any, precenter: Any = None, normalize: Any = False,
    weights: Any = None, floating_mean: Any = False,
) -> Any:  # fmt: skip
    """SciPy's function, which takes options by position without saying so."""
    options = {"normalize": normalize, "weights": weights}
    options |= {"floating_mean": floating_mean, "precenter": precenter}
    given = {k: v for k, v in options.items() if v is not None and v is not False}
    return _sp.lombscargle(x, y, freqs, **given)


_by_position.__name__ = "lombscargle"
lombscargle = declared(_by_position, _lombscargle_step, "x", "y", "freqs")
# SciPy's own has rules as it names its arguments; programs call the other one.
declared(_sp.lombscargle, _lombscargle_step, "x", "y", "freqs")
stand_in(_sp.lombscargle)(lombscargle)
