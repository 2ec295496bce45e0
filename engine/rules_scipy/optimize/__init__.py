"""`scipy.optimize` for every framework: solvers with the names that they have there.

A solver's derivative is that of the equation which its result satisfies, in the
arguments that functions take and in what they capture. A minimum satisfies the
conditions of Karush, Kuhn and Tucker.

>>> import numpy as np
>>> from rules_autodiff import grad
>>> from rules_scipy import optimize
>>> def square_root(a):
...     return optimize.brentq(lambda x: x * x - a, 0.0, 9.0)
>>> round(square_root(4.0), 6), round(grad(square_root)(4.0), 6)
(2.0, 0.25)
"""

from ._fits import (
    curve_fit as curve_fit,
    least_squares as least_squares,
    leastsq as leastsq,
)
from ._linear_fits import lsq_linear as lsq_linear, nnls as nnls
from ._minimizers import minimize as minimize
from ._roots import (
    bisect as bisect,
    brenth as brenth,
    brentq as brentq,
    fixed_point as fixed_point,
    fsolve as fsolve,
    newton as newton,
    ridder as ridder,
    root as root,
    root_scalar as root_scalar,
    toms748 as toms748,
)
