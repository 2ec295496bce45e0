"""Derivative rules for SciPy, usable from every host.

`rules_scipy.special` holds primitives of the same names as in `scipy.special`: call
them on NumPy arrays, JAX arrays and tracers, or torch tensors. The rules serve SciPy's
own functions as well.

>>> import numpy as np
>>> import rules_core as rc
>>> import scipy.special
>>> y, pullback = rc.rrule(scipy.special.jv, 0, np.float64(1.0))
>>> _, _, dx = pullback(1.0)
>>> bool(np.isclose(dx, -scipy.special.jv(1, 1.0)))
True
"""

from . import special

__all__ = ["special"]
