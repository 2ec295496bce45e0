"""Coverage of `scipy.optimize`; `python -m rules_scipy.optimize.coverage` prints it."""

from __future__ import annotations

import sys

import scipy.optimize

from rules_scipy._module_coverage import ModuleCoverage

from ._arguments import DECLARED

__all__ = ["COVERAGE"]

_HEAD = """# The SciPy pack: roots and optima

<!-- Made by `python -m rules_scipy.optimize.coverage`; do not edit. -->

Of the {total} public functions of `scipy.optimize`, {covered} have rules, {constant}
have no derivative, and {missing} have no rule, for the reasons below: each raises an
error where its derivative is asked for, also in what a function only captures.
`rules_scipy.optimize` contains them for NumPy, JAX and PyTorch:

```python
>>> import jax, jax.numpy as jnp
>>> from rules_scipy import optimize
>>> def balance(theta):
...     return optimize.brentq(lambda x: x + theta * jnp.sin(x) - 1.0, 0.0, 3.0)
>>> slope = jax.jit(jax.grad(balance))
>>> round(float(slope(0.5)), 3), round(float(jax.grad(slope)(0.5)), 3)
(-0.455, 0.556)
```

The derivative is that of the equation at the solution (the implicit function theorem),
in `args` and in what functions capture, in forward and reverse mode, at every order. A
minimum is differentiated by the conditions of Karush, Kuhn and Tucker, so that limits
have derivatives too; the result of a global minimiser as a local minimum. In the start,
the bracket and options it is zero. Fields of results that have no formula, such as
`fjac`, raise an error in reverse mode and are NaN in forward mode. The blocks of an
`isotonic_regression` and the permutation of a `quadratic_assignment` are constants.
In JAX and PyTorch results have no `message`, and no field of a size that only the
solver knows: reading one is an `AttributeError` that lists those that there are.
`find_root` and `find_minimum` of `scipy.optimize.elementwise` have rules too, which
`rules_scipy.optimize.elementwise` contains; brackets have none.
[](../how-to/solvers-in-jax-and-torch.md) says how to use them.

## Functions with rules
"""

COVERAGE = ModuleCoverage(
    scipy.optimize,
    DECLARED,
    {
        "approx_fprime": "is a finite difference: differentiate the function itself",
        "bracket": "is a choice of three points: its derivative is not wanted",
        "check_grad": "is an error of a gradient: its derivative is not wanted",
        "line_search": "is a step of a minimiser: differentiate the minimum",
        "rosen": "is one line of NumPy: write it with array_namespace",
        "rosen_der": "is the gradient of rosen: differentiate your own line",
        "rosen_hess": "is the Hessian of rosen: differentiate your own line",
        "rosen_hess_prod": "is a product with the Hessian of rosen: as rosen_hess",
    },
    _HEAD,
    "Printing, and the indices of an assignment.",
)  # fmt: skip

if __name__ == "__main__":
    sys.stdout.write(COVERAGE.page())
