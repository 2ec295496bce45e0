"""`fmin_slsqp` and `fmin_cobyla`, which are `minimize` with constraints.

>>> import jax, jax.numpy as jnp
>>> from rules_scipy import optimize
>>> def nearest(r):  # to (3, 4), on the line x₀ + x₁ = r
...     def far(x):
...         return (x[0] - 3.0) ** 2 + (x[1] - 4.0) ** 2
...
...     on_line = [lambda x: x[0] + x[1] - r]
...     return optimize.fmin_slsqp(far, jnp.ones(2), on_line, iprint=0)[0]
>>> float(jax.grad(nearest)(2.0).round(3))
0.5
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize as _sp

from rules_scipy._functions import Function

from ._arguments import DECLARED, tuple_of
from ._minimizers import minimize

__all__ = ["fmin_cobyla", "fmin_slsqp"]

_EPSILON = float(np.sqrt(np.finfo(float).eps))


def fmin_slsqp(
    func: Function, x0: Any, eqcons: Any = (), f_eqcons: Any = None, ieqcons: Any = (),
    f_ieqcons: Any = None, bounds: Any = (), fprime: Any = None,
    fprime_eqcons: Any = None, fprime_ieqcons: Any = None, args: Any = (),
    iter: int = 100, acc: float = 1e-6, iprint: int = 1, disp: Any = None,
    full_output: Any = 0, epsilon: Any = _EPSILON, callback: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.fmin_slsqp`."""
    iprint, own = iprint if disp is None else disp, tuple_of(args)
    constraints = [{"type": "eq", "fun": f, "args": own} for f in eqcons]
    constraints += [{"type": "ineq", "fun": f, "args": own} for f in ieqcons]
    vectors = ("eq", f_eqcons, fprime_eqcons), ("ineq", f_ieqcons, fprime_ieqcons)
    constraints += [
        {"type": kind, "fun": f, "jac": jac, "args": own}
        for kind, f, jac in vectors
        if f is not None
    ]
    options = {
        "maxiter": iter, "ftol": acc, "iprint": iprint, "disp": iprint != 0,
        "eps": epsilon,
    }  # fmt: skip
    found = minimize(
        func, x0, own, "SLSQP", fprime, bounds=bounds if len(bounds) else None,
        constraints=constraints, callback=callback, options=options,
    )  # fmt: skip
    if not full_output:
        return found["x"]
    text = found.get("message", "")
    return found["x"], found["fun"], found["nit"], found["status"], text


def fmin_cobyla(
    func: Function, x0: Any, cons: Any, args: Any = (), consargs: Any = None,
    rhobeg: float = 1.0, rhoend: float = 1e-4, maxfun: int = 1000, disp: Any = None,
    catol: float = 2e-4, *, callback: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.fmin_cobyla`."""
    own = tuple_of(args) if consargs is None else tuple_of(consargs)
    constraints = [
        {"type": "ineq", "fun": f, "args": own}
        for f in ([cons] if callable(cons) else cons)
    ]
    options = {"rhobeg": rhobeg, "maxiter": maxfun, "disp": disp, "catol": catol}
    return minimize(
        func, x0, tuple_of(args), "COBYLA", constraints=constraints, tol=rhoend,
        callback=callback, options=options,
    )["x"]  # fmt: skip


DECLARED.cover(_sp.fmin_slsqp, fmin_slsqp)
DECLARED.cover(_sp.fmin_cobyla, fmin_cobyla)
