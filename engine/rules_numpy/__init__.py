"""Derivative rules for NumPy, `math` and Python's builtins.

Imported automatically at the first look-up of a rule for such a function.

>>> import numpy as np
>>> import rules_core as rc
>>> y, pullback = rc.rrule(np.sum, np.ones(3))
>>> pullback(2.0)[1]
array([2., 2., 2.])
"""

from rules_core.extend import name_extra as _name_extra

try:
    from . import analysis, arrays, elementwise, interfaces, linalg, python
except ModuleNotFoundError as missing:
    _name_extra(missing, "rules_numpy")
    raise

__all__ = ["analysis", "arrays", "elementwise", "interfaces", "linalg", "python"]
