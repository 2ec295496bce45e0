"""Derivative rules for NumPy, `math` and Python's builtins.

Imported by itself at the first look-up of a rule for such a function.

>>> import numpy as np
>>> import rules_core as rc
>>> y, pullback = rc.rrule(np.sum, np.ones(3))
>>> pullback(2.0)[1]
array([2., 2., 2.])
"""

from rules_numpy import (
    builtin_functions,
    calculus,
    cmath_functions,
    compat,
    constants,
    creation,
    cumulative,
    einsum,
    emath,
    fourier,
    indexing,
    linalg_decompositions,
    linalg_matrices,
    linalg_norms,
    linalg_products,
    linalg_solves,
    linalg_svd,
    math_functions,
    methods,
    nan_functions,
    padding,
    rearrange,
    reductions,
    selections,
    shape,
    shape_combine,
    signals,
    sorting,
    statistics,
    ufunc_methods,
    ufuncs_arithmetic,
    ufuncs_comparison,
    ufuncs_exponential,
    ufuncs_trigonometric,
)

__all__ = [
    "builtin_functions",
    "calculus",
    "cmath_functions",
    "compat",
    "constants",
    "creation",
    "cumulative",
    "einsum",
    "emath",
    "fourier",
    "indexing",
    "linalg_decompositions",
    "linalg_matrices",
    "linalg_norms",
    "linalg_products",
    "linalg_solves",
    "linalg_svd",
    "math_functions",
    "methods",
    "nan_functions",
    "padding",
    "rearrange",
    "reductions",
    "selections",
    "shape",
    "shape_combine",
    "signals",
    "sorting",
    "statistics",
    "ufunc_methods",
    "ufuncs_arithmetic",
    "ufuncs_comparison",
    "ufuncs_exponential",
    "ufuncs_trigonometric",
]
