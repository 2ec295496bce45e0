"""Derivative rules for SciPy, for every framework.

`rules_scipy.special`, `linalg` and `fft` contain primitives with the names that
functions have in SciPy: call them on NumPy arrays, JAX arrays and tracers, or torch
tensors. The rules apply to SciPy's own functions too.

>>> import numpy as np
>>> import rules_core as rc
>>> import scipy.special
>>> y, pullback = rc.rrule(scipy.special.jv, 0, np.float64(1.0))
>>> _, _, dx = pullback(1.0)
>>> bool(np.isclose(dx, -scipy.special.jv(1, 1.0)))
True
"""

from rules_core.extend import name_extra as _name_extra

try:
    from . import fft, linalg, special
except ModuleNotFoundError as missing:
    _name_extra(missing, "rules_scipy")
    raise

__all__ = ["fft", "linalg", "special"]
