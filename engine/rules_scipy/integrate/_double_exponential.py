"""`scipy.integrate.tanhsinh`, differentiated by Leibniz's rule.

>>> import jax, jax.numpy as jnp
>>> from rules_scipy import integrate
>>> def area(power):  # singular at 0: 1 / (1 + power)
...     return integrate.tanhsinh(lambda x: x**power, 0.0, 1.0).integral
>>> float(jax.grad(area)(-0.5).round(3))
-4.0
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.integrate as _sp
from scipy.optimize import OptimizeResult

import rules_core as rc
from rules_scipy._functions import Function, Run, if_converged, like, stacked

from ._integrals import integral
from ._jumps import jumps, rows_of
from ._moves import mark
from ._panels import panels_of
from ._quadrature import DECLARED
from ._resolved import remembered
from ._runs import ROOM, SEEN
from ._searches import small_for

__all__ = ["component", "mapped", "tanhsinh"]


def tanhsinh(
    f: Function, a: Any, b: Any, *, args: Any = (), log: bool = False,
    maxlevel: int | None = None, minlevel: int = 2, atol: float | None = None,
    rtol: float | None = None, preserve_shape: bool = False, callback: Any = None,
) -> Any:  # fmt: skip
    """`scipy.integrate.tanhsinh`; `integral` of its result has derivatives.

    Each element of the limits and of `args` is an integral of its own: SciPy is called
    once for each.
    """
    _refuse(f, args, a, b, log=log, preserve_shape=preserve_shape, callback=callback)
    given = {"maxlevel": maxlevel, "minlevel": minlevel, "atol": atol, "rtol": rtol}
    first = like(a, a, b, args, f)
    own = [x if _is_number(x) else like(x, first) for x in (a, b, *_each(args))]
    shape = np.broadcast_shapes(*map(_shape, own))
    run = _run(given, in_numpy=isinstance(first, np.ndarray))
    rows = zip(*[_elements(x, shape) for x in own], strict=True)
    found = [_one(f, low, high, tuple(rest), run) for low, high, *rest in rows]
    fields = {name: _joined([x[name] for x in found], shape, first) for name in _ALL}
    return OptimizeResult(fields)


_ALL = ("success", "status", "integral", "error", "maxlevel", "nfev")


def _one(f: Function, a: Any, b: Any, args: Any, run: Run) -> dict[str, Any]:
    y, success, counts, _ = integral(f, args, a, b, run, None)
    error, status, level, calls = (counts[i] for i in range(4))
    return {
        "success": success == 1, "status": _whole(status),
        "integral": if_converged(y, success, "tanhsinh"), "error": error,
        "maxlevel": _whole(level), "nfev": _whole(calls),
    }  # fmt: skip


def _refuse(f: Any, args: Any, a: Any, b: Any, **options: Any) -> None:
    for name, remedy in _REMEDIES.items():
        if options[name]:
            message = f"tanhsinh({name}=…) has no rule: {remedy}."
            raise rc.UnsupportedError(message)


rc.non_differentiable(_refuse)

_REMEDIES = {
    "log": "integrate exp(f(x) - c) with a constant c, and add c to the logarithm",
    "preserve_shape": "use quad_vec for vectors, or arrays in args",
    "callback": "it sees iterates, which have no derivative: leave it out",
}


# elements


def _each(args: Any) -> tuple[Any, ...]:
    """The arguments: as in SciPy an array is several ones."""
    if _shape(args) or isinstance(args, list | tuple):
        return tuple([args[i] for i in range(len(args))])
    return (args,)


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(getattr(x, "shape", ()))


def _is_number(x: Any) -> bool:
    return not isinstance(x, Iterable) or (rc.is_array(x) and not _shape(x))


def _elements(x: Any, shape: tuple[int, ...]) -> list[Any]:
    """One element for each integral."""
    count = int(np.prod(shape))
    if not _shape(x):
        return [x] * count
    flat = rc.array_namespace(x).broadcast_to(x, shape).reshape((-1,))
    return [flat[i] for i in range(count)]


def _joined(found: list[Any], shape: tuple[int, ...], like: Any) -> Any:
    if shape == () or not found:
        return found[0] if found else rc.array_namespace(like).zeros(shape)
    xp = rc.array_namespace(like)
    return stacked(xp, found).reshape(shape)


def _whole(x: Any) -> Any:
    xp = rc.array_namespace(x)
    return xp.astype(stacked(xp, x), xp.int32)


rc.non_differentiable(_whole)


# in numbers


def _run(given: dict[str, Any], in_numpy: bool) -> Run:
    """Integrates a number, and vectors of derivatives.

    Args:
        given: Options of SciPy.
        in_numpy: Whether a function takes arrays of any shape.
    """
    settings = {
        "given": given, "in_numpy": in_numpy, "name": "tanhsinh",
        "jumps": Run(_along_line, 0, rtol=given["rtol"] or 0.0),
    }  # fmt: skip
    vectors = Run(_by_tanhsinh, 4, None, of_vector=True, **settings)
    return Run(_by_tanhsinh, 4, None, vectors=vectors, of_vector=False, **settings)


_RTOL = float(np.finfo(float).eps ** 0.75)


def _by_tanhsinh(settings: Any, functions: Any, a: Any, b: Any) -> Any:
    (fun,), given = functions, settings["given"]
    a, b = float(a), float(b)
    if SEEN in settings:
        parts = remembered(lambda x: np.asarray(fun(x)))
        # Places are as large as numbers can be, as for SciPy.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return _derivative(settings, parts, a, b)
    found = _sp.tanhsinh(fun if settings["in_numpy"] else mapped(fun), a, b, **given)
    if np.iscomplexobj(found.integral):
        message = (
            "tanhsinh has no rule for complex functions: integrate the real and the "
            "imaginary part."
        )
        raise rc.UnsupportedError(message)
    counts = tuple(map(float, (found.error, found.status, found.maxlevel, found.nfev)))
    return np.float64(found.integral), int(found.success), counts, {}


def mapped(f: Any) -> Any:
    """A function of numbers, of arrays."""

    def of_array(x: Any) -> Any:
        flat = [np.reshape(f(v), ()) for v in np.ravel(x)]
        return np.reshape(np.asarray(flat), np.shape(x))

    return of_array


def _derivative(settings: Any, parts: Any, a: float, b: float) -> Any:
    """The integral of the last numbers of a vector, to the level of the first ones.

    A tolerance is relative to the size of a component, for its integral may be zero.
    """
    given, seen = dict(settings["given"]), settings[SEEN]
    level = given["minlevel"]
    for i in range(seen):
        own = _sp.tanhsinh(mapped(lambda x, i=i: parts(x)[i]), a, b, **given)
        level = max(level, int(own.maxlevel))
    given["minlevel"] = level
    rtol = given["rtol"] or _RTOL
    size = len(parts(np.float64(_inside(a, b)))) - seen
    found = [component(parts, seen + i, a, b, given, rtol) for i in range(size)]
    y = np.array([value for value, _ in found])
    y = y if settings["of_vector"] else y[0]
    success = all(good for _, good in found)
    return y if success else y * np.nan, int(success), (0.0, 0.0, level, 0.0), {}


def _inside(a: float, b: float) -> float:
    if np.isfinite(a) and np.isfinite(b):
        return 0.5 * (a + b)
    return a + 1.0 if np.isfinite(a) else b - 1.0 if np.isfinite(b) else 0.0


def component(parts: Any, i: int, a: float, b: float, given: Any, rtol: float) -> Any:
    """The integral of one component, and whether it is one."""
    value = mapped(lambda x: parts(x)[i])
    once = given | {"maxlevel": given["minlevel"]}
    size = abs(_sp.tanhsinh(lambda x: np.abs(value(x)), a, b, **once).integral)
    if size == 0.0:
        return 0.0, True
    found = _sp.tanhsinh(lambda x: value(x) / size, a, b, **(given | {"atol": rtol}))
    good = found.success or found.error <= ROOM * max(rtol, rtol * abs(found.integral))
    return found.integral * size, bool(good) and bool(np.isfinite(size))


# jumps: looked for in the variable in which the integrand has no singular ends

_PLACES = np.linspace(-3.0, 3.0, 97)


def _along_line(settings: Any, functions: Any, a: Any, b: Any, *leaves: Any) -> Any:
    call, flags = functions[0], np.zeros(1 + len(leaves))
    low, high = sorted((float(a), float(b)))

    def value(t: float, given: Any = leaves) -> Any:
        with np.errstate(all="ignore"):
            x, weight = _transformed(t, low, high)
            return weight * np.ravel(np.asarray(call(x, *given)))

    small = small_for(settings["rtol"], value, (0.0,))
    for jump in jumps(rows_of(value), panels_of(_PLACES), small):
        mark(flags, jump, leaves, value)
    return flags, 1, (), {}


def _transformed(t: float, low: float, high: float) -> tuple[Any, Any]:
    """A place between limits, and its derivative."""
    part = 1.0 / (1.0 + np.exp(-np.pi * np.sinh(t)))
    rest = 1.0 / (1.0 + np.exp(np.pi * np.sinh(t)))
    slope = np.pi * np.cosh(t) * part * rest
    if np.isfinite(low) and np.isfinite(high):
        near_low = low + (high - low) * part
        x = near_low if t < 0 else high - (high - low) * rest
        return x, (high - low) * slope
    if np.isfinite(low):
        return low + rest / part, slope / part**2
    if np.isfinite(high):
        return high - rest / part, slope / part**2
    u, apart = part - rest, 4.0 * part * rest
    return u / apart, 2.0 * slope * (1.0 + u * u) / apart**2


DECLARED.follow(_sp.tanhsinh, tanhsinh)
