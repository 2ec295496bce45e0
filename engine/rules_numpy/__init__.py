"""Derivative rules for NumPy, `math` and Python's builtins.

Imported by itself at the first look-up of a rule for such a function.

>>> import numpy as np
>>> import rules_core as rc
>>> y, pullback = rc.rrule(np.sum, np.ones(3))
>>> pullback(2.0)[1]
array([2., 2., 2.])
"""

from rules_numpy import (
    cumulative,
    einsum,
    indexing,
    linalg_decompositions,
    linalg_norms,
    linalg_products,
    linalg_solves,
    linalg_svd,
    padding,
    rearrange,
    reductions,
    shape,
    shape_combine,
    ufuncs_arithmetic,
    ufuncs_comparison,
    ufuncs_exponential,
    ufuncs_trigonometric,
)

__all__ = [
    "cumulative",
    "einsum",
    "indexing",
    "linalg_decompositions",
    "linalg_norms",
    "linalg_products",
    "linalg_solves",
    "linalg_svd",
    "padding",
    "rearrange",
    "reductions",
    "shape",
    "shape_combine",
    "ufuncs_arithmetic",
    "ufuncs_comparison",
    "ufuncs_exponential",
    "ufuncs_trigonometric",
]
