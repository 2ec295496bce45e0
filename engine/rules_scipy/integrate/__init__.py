"""`scipy.integrate` for every framework: integrals with the names that they have there.

An integral's derivative is Leibniz's, in the arguments that functions take, in what
they capture, and in the limits. That of a differential equation's solution solves
a further one.

>>> import numpy as np
>>> from rules_autodiff import grad
>>> from rules_scipy import integrate
>>> def area(a, end):
...     return integrate.quad(lambda x: np.exp(-a * x), 0.0, end)[0]
>>> round(grad(area)(2.0, np.inf), 6), round(grad(area, 1)(2.0, 0.0), 6)
(-0.25, 1.0)
>>> def left(rate):
...     return integrate.solve_ivp(lambda t, y: -rate * y, (0, 2), [1.0]).y[0, -1]
>>> round(grad(left)(0.5), 3), round(float(-2 * np.exp(-1.0)), 3)
(-0.736, -0.736)
"""

from ._boundary_values import solve_bvp as solve_bvp
from ._cubature import cubature as cubature
from ._double_exponential import tanhsinh as tanhsinh
from ._fixed_rules import fixed_quad as fixed_quad, qmc_quad as qmc_quad
from ._initial_values import solve_ivp as solve_ivp
from ._odeint import odeint as odeint
from ._quadrature import (
    dblquad as dblquad,
    nquad as nquad,
    quad as quad,
    tplquad as tplquad,
)
from ._samples import (
    cumulative_simpson as cumulative_simpson,
    cumulative_trapezoid as cumulative_trapezoid,
    romb as romb,
    simpson as simpson,
    trapezoid as trapezoid,
)
from ._sums import nsum as nsum
from ._vector_quadrature import quad_vec as quad_vec
