"""`scipy.integrate.quad_vec`, differentiated by Leibniz's rule.

>>> import jax, jax.numpy as jnp
>>> from rules_scipy import integrate
>>> def moments(rate):
...     def falling(t):
...         return t ** jnp.arange(3.0) * jnp.exp(-rate * t)
...
...     return integrate.quad_vec(falling, 0.0, jnp.inf, epsrel=1e-6)[0]
>>> jax.jacfwd(moments)(1.0).round(3).tolist()  # of n! / rate**(n + 1)
[-1.0, -2.0, -6.0]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate as _sp

import rules_core as rc
from rules_core import HasForwardsMode, HasReverseMode, RuleConfig
from rules_core.extend import find_adapter, numpy_function
from rules_scipy._axes import concat
from rules_scipy._functions import Function, if_converged, like
from rules_scipy._parameters import is_complex
from rules_scipy._solvers import value_backwards, value_forwards, without_formula

from ._integrals import integral
from ._quadrature import DECLARED, JUMPS, at_fixed, tuple_of
from ._runs import Form, quad_vec_run

__all__ = ["between", "flat", "form_of", "quad_vec"]


def quad_vec(
    f: Function, a: Any, b: Any, epsabs: float = 1e-200, epsrel: float = 1e-8,
    norm: Any = "2", cache_size: Any = 100e6, limit: Any = 10000, workers: Any = 1,
    points: Any = None, quadrature: Any = None, full_output: Any = False, *,
    args: Any = (),
) -> Any:  # fmt: skip
    """`scipy.integrate.quad_vec`; its error estimate has derivative zero.

    The function is called in one process, whatever `workers` says.
    """
    y, *rest = _quad_vec(
        f, a, b, epsabs, epsrel, norm, cache_size, limit, workers, points, quadrature,
        full_output, args=args,
    )  # fmt: skip
    return (
        y if points is None else at_fixed(y, points, JUMPS.format("quad_vec"))
    ), *rest


def _quad_vec(
    f: Function, a: Any, b: Any, epsabs: float = 1e-200, epsrel: float = 1e-8,
    norm: Any = "2", cache_size: Any = 100e6, limit: Any = 10000, workers: Any = 1,
    points: Any = None, quadrature: Any = None, full_output: Any = False, *,
    args: Any = (),
) -> Any:  # fmt: skip
    """`quad_vec` at fixed points."""
    args = tuple_of(args)
    form = form_of(f, args, a, b)
    run = quad_vec_run(
        form, epsabs=epsabs, epsrel=epsrel, norm=norm, cache_size=cache_size,
        limit=limit, points=rc.ignore_derivatives(points), quadrature=quadrature,
    )  # fmt: skip
    y, success, error, others = integral(flat(f, form), args, a, b, run, form.size)
    y = form.result(if_converged(y, success, "quad_vec"))
    if not full_output:
        return y, error[0]
    return y, error[0], without_formula(others.get("info"), y, _FIELD)


_FIELD = (
    "derivative of scipy.integrate.quad_vec in a field of what full_output returns; "
    "compute it from the integral"
)


def flat(f: Function, form: Form) -> Function:
    """A function whose results are vectors of real numbers."""

    def called(x: Any, *args: Any) -> Any:
        y = f(x, *args)
        xp = rc.array_namespace(*[v for v in (y, x) if rc.is_array(v)] or [np.zeros(1)])
        y = (y if rc.is_array(y) else xp.asarray(y)).reshape((-1,))
        return concat([y.real, y.imag]) if form.is_complex else y

    called.__qualname__ = getattr(f, "__qualname__", repr(f))
    return called


def form_of(f: Function, args: Any, a: Any, b: Any) -> Form:
    """What a function returns, at a place between the limits."""
    x = _place(f, args, a, b)

    def bound(x: Any) -> Any:
        return f(x, *args)

    if find_adapter((f, args, a, b), {}) is None:
        return _form(numpy_function(bound)[0](())(x))
    return _form(bound(x))._replace(is_number=False)


def _place(f: Function, args: Any, a: Any, b: Any) -> Any:
    """A place between the limits; a number in NumPy."""
    x = between(like(a, a, b, args, f), like(b, a, b, args, f))
    return float(x) if isinstance(x, np.ndarray | np.generic) and not x.shape else x


def _form(y: Any) -> Form:
    is_number = type(y) in (int, float, complex)
    y = y if rc.is_array(y) else np.asarray(y)
    return Form(tuple(y.shape), is_complex(y), is_number)


# It has no derivative, but the function is called as the AD system calls it.


@rc.rrule.define(form_of, config=RuleConfig[HasReverseMode])
def form_of_rrule(config: Any, f: Any, args: Any, a: Any, b: Any) -> Any:
    form = _form(value_backwards(config, f, _place(f, args, a, b), *args))
    return form, lambda d: (rc.NoTangent(), *[rc.ZeroTangent()] * 4)


@rc.frule.define(form_of, config=RuleConfig[HasForwardsMode])
def form_of_frule(config: Any, tangents: Any, f: Any, args: Any, a: Any, b: Any) -> Any:
    y = value_forwards(config, f, _place(f, args, a, b), *args)
    return _form(y), rc.NoTangent()


def between(low: Any, high: Any) -> Any:
    """Places in the middle of intervals; near the finite end of an infinite one."""
    xp = rc.array_namespace(low)
    far = xp.where(xp.isfinite(high), high - 1.0, xp.zeros_like(high))
    low = xp.where(xp.isfinite(low), low, far)
    high = xp.where(xp.isfinite(high), high, low + 1.0)
    return low + 0.5 * (high - low)


DECLARED.follow(_sp.quad_vec, quad_vec, _quad_vec, points=JUMPS.format("quad_vec"))
