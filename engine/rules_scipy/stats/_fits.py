"""Estimates by `fit`, where they have closed forms in the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats as st

import rules_core as rc
from rules_core.extend import stand_in

__all__ = ["expon_fit", "norm_fit", "uniform_fit"]


@stand_in(vars(type(st.norm))["fit"])
def norm_fit(
    self: Any, data: Any, *, floc: Any = None, fscale: Any = None, **other: Any
) -> Any:
    r"""The mean, and $\sqrt{\overline{(x - \mu)^2}}$."""
    check("norm", other, floc, fscale)
    data = np.asarray(data)
    loc = np.mean(data) if floc is None else floc
    scale = np.sqrt(np.mean((data - loc) ** 2)) if fscale is None else fscale
    return loc, scale


@stand_in(vars(type(st.expon))["fit"])
def expon_fit(
    self: Any, data: Any, *, floc: Any = None, fscale: Any = None, **other: Any
) -> Any:
    """The least of the data, and the mean above it."""
    check("expon", other, floc, fscale)
    data = np.asarray(data)
    least = np.min(data)
    if floc is not None and not least >= floc:
        refuse("expon")
    loc = least if floc is None else floc
    return loc, np.mean(data) - loc if fscale is None else fscale


@stand_in(vars(type(st.uniform))["fit"])
def uniform_fit(self: Any, data: Any, **other: Any) -> Any:
    """The least of the data, and their range."""
    check("uniform", other, None, None)
    data = np.asarray(data)
    return np.min(data), np.max(data) - np.min(data)


def check(name: str, other: Any, floc: Any, fscale: Any) -> None:
    """Refuse other options, and what SciPy refuses too."""
    if other or (floc is not None and fscale is not None):
        refuse(name)


def refuse(name: str) -> Any:
    """Raise the error for estimates without a closed form."""
    message = (
        f"scipy.stats.{name}.fit with data that carry a derivative must have a closed "
        "form here: norm, expon and uniform have one, with floc and fscale of norm and "
        "expon alone. Minimise nnlf, the negative logarithm of the likelihood, by "
        "scipy.optimize.minimize, which has a derivative."
    )
    raise rc.UnsupportedError(message)


def _refused(name: str) -> Any:
    def fit(self: Any, *_args: Any, **_kwds: Any) -> Any:
        refuse(name)

    return fit


_KNOWN = (type(st.norm), type(st.expon), type(st.uniform))
for _name, _dist in list(vars(st).items()):
    _class = type(_dist)
    own_fit = isinstance(_dist, st.rv_continuous) and "fit" in vars(_class)
    if own_fit and _class not in _KNOWN:
        stand_in(vars(_class)["fit"])(_refused(_name))
stand_in(vars(st.rv_continuous)["fit"])(_refused("rv_continuous"))
