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
have no derivative, and {missing} have no rule.
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
moves a jump of the function has none, nor has a limit at which it jumps: an error, NaN
in traced code; split the integral at the jump, with the function of one side in each
part. So it is for second derivatives where a kink moves, whose slope jumps. A place
that is steeper than SciPy's nodes can tell counts as a jump: tighten the tolerances. A
jump below 1e-7 of the function nearby is not seen, in an integral of integrals
(`dblquad`) one below ten tolerances. A pulse between the nodes at which SciPy samples
is in neither the value nor the derivative: give its place in `points`, or split the
integral. The error estimate has derivative zero. Over a box (`cubature`) the limits'
part is the integral over its faces. `fixed_quad` and `qmc_quad` are sums, which are
differentiated; the points of `qmc_quad` are constants. `tanhsinh` integrates each
element of its limits and `args` by itself; an integral that is zero needs `atol`,
without which SciPy does not call it one. In NumPy programs SciPy takes `args` by its
name alone, which has no rule there: capture parameters, or call
`rules_scipy.integrate.tanhsinh`. So it is for `nsum`, whose limits and step have no
derivative.

Solutions of initial value problems have derivatives in the start, the parameters, both
ends of the time span and the times that are asked for; so have the times and states of
events. Those of boundary value problems have derivatives in the parameters, the
boundary data and the mesh, at the nodes, of the interpolant and of unknown parameters;
compiled code needs `solve_bvp(..., nodes=...)`. Column `i` of what their function
returns must depend on column `i` of the states alone, as SciPy asks: else an error.
[](../how-to/differential-equations.md) shows it, and how accurate they are.

[](../how-to/solvers-in-jax-and-torch.md) says how functions may be written.

## Functions with rules
"""

COVERAGE = ModuleCoverage(
    scipy.integrate,
    DECLARED,
    {},
    _HEAD,
    "Nodes and weights.",
)

if __name__ == "__main__":
    sys.stdout.write(COVERAGE.page())
