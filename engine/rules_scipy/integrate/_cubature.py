"""`scipy.integrate.cubature`, differentiated by Leibniz's rule over boxes.

>>> import jax, jax.numpy as jnp
>>> from rules_scipy import integrate
>>> def volume(ends):
...     def f(x):
...         return x[:, 0] * x[:, 1] ** 2
...
...     return integrate.cubature(f, jnp.zeros(2), ends, rtol=1e-5).estimate
>>> jax.grad(volume)(jnp.asarray([1.0, 2.0])).round(3).tolist()  # of a**2 b**3 / 6
[2.667..., 2.0]
"""

from __future__ import annotations

from typing import Any, final

import scipy.integrate as _sp

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy._functions import Function, if_converged, like
from rules_scipy._solvers import without_formula

from ._integrals import integral
from ._quadrature import DECLARED, JUMPS, at_fixed, tuple_of
from ._runs import Form, box_run
from ._vector_quadrature import form_of

__all__ = ["cubature"]


def cubature(
    f: Function, a: Any, b: Any, *, rule: str = "gk21", rtol: float = 1e-8,
    atol: float = 0.0, max_subdivisions: int = 10000, args: Any = (), workers: Any = 1,
    points: Any = None,
) -> Any:  # fmt: skip
    """`scipy.integrate.cubature`; `estimate` of its result has derivatives.

    The function is called in one process, whatever `workers` says.
    """
    found = _cubature(
        f, a, b, rule=rule, rtol=rtol, atol=atol, max_subdivisions=max_subdivisions,
        args=args, workers=workers, points=points,
    )  # fmt: skip
    if points is not None:
        reason = JUMPS.format("cubature")
        found.estimate = at_fixed(found.estimate, points, reason)
    return found


def _cubature(
    f: Function, a: Any, b: Any, *, rule: str = "gk21", rtol: float = 1e-8,
    atol: float = 0.0, max_subdivisions: int = 10000, args: Any = (), workers: Any = 1,
    points: Any = None,
) -> Any:  # fmt: skip
    """`cubature` at fixed points."""
    args = tuple_of(args)
    low = like(a, a, b, args, f)
    high = like(b, low)
    _check(low, high)
    form = form_of(_of_row(f), args, low, high)
    run = box_run(
        low.shape[0], form, rule=rule, rtol=rtol, atol=atol,
        max_subdivisions=max_subdivisions, points=rc.ignore_derivatives(points),
    )  # fmt: skip
    summed = _weighted(f, form)
    y, success, error, others = integral(summed, args, low, high, run, form.size)
    y = form.array(if_converged(y, success, "cubature"))
    fields = {"error": error[0], "status": success, "subdivisions": None, "regions": []}
    fields |= without_formula(others, y, _FIELD)
    return Estimate(y, atol, rtol, fields)


@final
class Estimate:
    """The result of `cubature`, with the fields of SciPy's."""

    def __init__(self, y: Any, atol: float, rtol: float, fields: Any) -> None:
        self.estimate, self.atol, self.rtol = y, atol, rtol
        self.error, self.status = fields["error"], fields["status"]
        self.subdivisions, self.regions = fields["subdivisions"], fields["regions"]


_FIELD = (
    "derivative of scipy.integrate.cubature in a field of its result other than "
    "estimate; compute it from the integral"
)


def _check(low: Any, high: Any) -> None:
    if len(low.shape) != 1 or low.shape != high.shape or not low.shape[0]:
        message = (
            "cubature: `a` and `b` must be vectors of one length, and not empty, but "
            f"have the shapes {tuple(low.shape)} and {tuple(high.shape)}."
        )
        raise ValueError(message)


rc.non_differentiable(_check)


def _of_row(f: Function) -> Function:
    """The function of a point, of one of rows."""

    def one(x: Any, *args: Any) -> Any:
        return f(x.reshape((1, -1)), *args)[0]

    return one


def _weighted(f: Function, form: Form) -> Function:
    """The weighted sum of a function's rows, as a vector of real numbers."""

    def summed(x: Any, weights: Any, *args: Any) -> Any:
        y = f(x, *args)
        xp = rc.array_namespace(y)
        total = xp.sum(y.reshape((x.shape[0], -1)) * weights[:, None], axis=0)
        return concat([total.real, total.imag]) if form.is_complex else total

    summed.__qualname__ = getattr(f, "__qualname__", repr(f))
    return summed


DECLARED.follow(_sp.cubature, cubature, _cubature)
