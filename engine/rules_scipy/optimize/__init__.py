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

from . import elementwise as elementwise
from ._constrained import fmin_cobyla as fmin_cobyla, fmin_slsqp as fmin_slsqp
from ._fits import (
    curve_fit as curve_fit,
    least_squares as least_squares,
    leastsq as leastsq,
)
from ._global import (
    basinhopping as basinhopping,
    brute as brute,
    differential_evolution as differential_evolution,
    direct as direct,
    dual_annealing as dual_annealing,
    shgo as shgo,
)
from ._linear_fits import lsq_linear as lsq_linear, nnls as nnls
from ._minimizers import minimize as minimize
from ._named_minimizers import (
    fmin as fmin,
    fmin_bfgs as fmin_bfgs,
    fmin_cg as fmin_cg,
    fmin_l_bfgs_b as fmin_l_bfgs_b,
    fmin_ncg as fmin_ncg,
    fmin_powell as fmin_powell,
    fmin_tnc as fmin_tnc,
)
from ._nonlinear_systems import (
    anderson as anderson,
    broyden1 as broyden1,
    broyden2 as broyden2,
    diagbroyden as diagbroyden,
    excitingmixing as excitingmixing,
    linearmixing as linearmixing,
    newton_krylov as newton_krylov,
)
from ._orders import (
    isotonic_regression as isotonic_regression,
    quadratic_assignment as quadratic_assignment,
)
from ._programs import (
    linear_sum_assignment as linear_sum_assignment,
    linprog as linprog,
    milp as milp,
)
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
from ._scalar_minimizers import (
    brent as brent,
    fminbound as fminbound,
    golden as golden,
    minimize_scalar as minimize_scalar,
)
