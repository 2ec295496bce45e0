"""Derivative rules for SciPy, for every framework.

`rules_scipy.special`, `linalg`, `fft`, `integrate`, `interpolate`, `ndimage`,
`optimize`, `signal`, `sparse`, `spatial` and `stats` contain functions with the names
that they have in SciPy: call them on NumPy arrays, JAX arrays and tracers, or torch
tensors. The rules apply to SciPy's own functions too.

>>> import numpy as np
>>> import rules_core as rc
>>> import scipy.special
>>> y, pullback = rc.rrule(scipy.special.jv, 0, np.float64(1.0))
>>> _, _, dx = pullback(1.0)
>>> bool(np.isclose(dx, -scipy.special.jv(1, 1.0)))
True
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from rules_core.extend import name_extra as _name_extra

if _TYPE_CHECKING:
    from . import (
        fft as fft,
        interpolate as interpolate,
        linalg as linalg,
        ndimage as ndimage,
        optimize as optimize,
        signal as signal,
        sparse as sparse,
        spatial as spatial,
        special as special,
        stats as stats,
    )

try:
    import scipy as _scipy  # noqa: F401
except ModuleNotFoundError as missing:
    _name_extra(missing, "rules_scipy")
    raise

__all__ = [
    "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal",
    "sparse", "spatial", "special", "stats",
]  # fmt: skip


def __getattr__(name: str) -> _Any:
    """A module at its first use: each imports its part of SciPy."""
    if name in __all__:
        return _import_module(f"{__name__}.{name}")
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
