"""SciPy's solvers of large systems with names of their own, `broyden1` and others.

>>> import jax, jax.numpy as jnp
>>> from rules_scipy import optimize
>>> def root(a):
...     return optimize.broyden1(lambda x: x**3 - a, jnp.asarray([1.5]))[0]
>>> float(jax.grad(root)(8.0).round(3))
0.083
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.optimize as _sp

import rules_core as rc
from rules_scipy._callbacks import unwatched
from rules_scipy._functions import Function, Run, if_converged
from rules_scipy._parameters import is_complex

from ._arguments import DECLARED
from ._equations import equation_root

__all__ = [
    "anderson", "broyden1", "broyden2", "diagbroyden", "excitingmixing",
    "linearmixing", "newton_krylov",
]  # fmt: skip


def _run(settings: Any, functions: Any, xin: Any) -> Any:
    options = {k: v for k, v in settings.items() if k != "name"}
    # SciPy raises an error where it does not converge, but after `iter` steps none.
    x = getattr(_sp, settings["name"])(functions[0], xin, **options)
    success = True
    if options.get("iter") is not None:
        limit = options.get("f_tol") or _TOLERANCE
        success = bool(np.max(np.abs(functions[0](x)), initial=0.0) <= limit)
    return x, int(success), (), {}


# That of SciPy where no `f_tol` is given.
_TOLERANCE = float(np.finfo(float).eps ** (1.0 / 3.0))


def _solver(name: str) -> Any:
    names = list(inspect.signature(getattr(_sp, name)).parameters)[2:]

    def solver(F: Function, xin: Any, *options: Any, **own: Any) -> Any:
        _refuse_complex(xin, name)
        given = {**dict(zip(names, options, strict=False)), **own}
        run = Run(_run, 0, name=name, **given)
        x, success, *_ = equation_root((F,), (), (xin,), run, "shaped")
        return unwatched(if_converged(x, success, name), run.settings, name)

    solver.__name__ = solver.__qualname__ = name
    solver.__doc__ = f"`scipy.optimize.{name}`: the root of `F`, of the shape of `xin`."
    return solver


def _refuse_complex(x: Any, solver: str) -> None:
    if is_complex(x) or (isinstance(x, list | tuple) and any(map(is_complex, x))):
        message = (
            f"{solver} has no rule for complex roots: solve for the real and the "
            "imaginary part."
        )
        raise rc.UnsupportedError(message)


anderson, broyden1, broyden2 = map(_solver, ("anderson", "broyden1", "broyden2"))
diagbroyden, excitingmixing = map(_solver, ("diagbroyden", "excitingmixing"))
linearmixing, newton_krylov = map(_solver, ("linearmixing", "newton_krylov"))

for _own in (anderson, broyden1, broyden2, diagbroyden, excitingmixing, linearmixing,
             newton_krylov):  # fmt: skip
    DECLARED.cover(getattr(_sp, _own.__name__), _own)
