"""Coverage of `scipy.integrate`; run as a module it prints its page."""

from __future__ import annotations

import sys

import scipy.integrate

from rules_scipy._module_coverage import ModuleCoverage

from ._quadrature import DECLARED

__all__ = ["COVERAGE"]

_HEAD = """# The SciPy pack: integrals

<!-- Made by `python -m rules_scipy.integrate.coverage`; do not edit. -->

Of the {total} public functions of `scipy.integrate`, {covered} have rules, {constant}
have no derivative, and {missing} have no rule, for the reasons below: each raises an
error where its derivative is asked for, also in what a function only captures.
`rules_scipy.integrate` contains them for NumPy, JAX and PyTorch:

```python
>>> import jax, jax.numpy as jnp
>>> from rules_scipy import integrate
>>> def decayed(rate, end):
...     return integrate.quad(lambda t: jnp.exp(-rate * t), 0.0, end)[0]
>>> slopes = jax.jit(jax.grad(decayed, (0, 1)))(2.0, 1.0)
>>> [round(float(x), 4) for x in slopes]
[-0.1485, 0.1353]
>>> round(float(jax.grad(decayed)(2.0, jnp.inf)), 4)
-0.25
```

The derivative of an integral is Leibniz's: the integral of the function's derivative,
in `args` and in what functions capture, by SciPy's adaptive rules to the precision that
is asked for, and the function at the limits; at an infinite limit it is zero. What
moves a jump of the function has none: an error, NaN in traced code; split the integral
at such a jump. The error estimate has derivative zero.

Solutions of initial value problems have derivatives in the start, the parameters, both
ends of the time span and the times that are asked for; so have the times and states of
events. [](../how-to/differential-equations.md) shows it, and how accurate they are.

[](../how-to/solvers-in-jax-and-torch.md) says how functions may be written.

## Functions with rules
"""

_NEST = "nest calls of quad, or call dblquad or tplquad"

COVERAGE = ModuleCoverage(
    scipy.integrate,
    DECLARED,
    {
        "cubature": _NEST,
        "cumulative_simpson": "sum simpson of the first samples",
        "fixed_quad": "is a sum: write it with scipy.special.roots_legendre",
        "nquad": _NEST,
        "nsum": "its terms are chosen by their size: sum them in a loop",
        "qmc_quad": "is random: draw the points before, and take the mean",
        "quad_vec": "call quad for each entry",
        "solve_bvp": "use rules_core.implicit with the collocation equations",
        "tanhsinh": "call quad, or substitute and call trapezoid",
    },
    _HEAD,
    "Nodes and weights.",
)

if __name__ == "__main__":
    sys.stdout.write(COVERAGE.page())
