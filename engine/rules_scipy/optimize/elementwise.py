"""`scipy.optimize.elementwise`: a root or a minimum for each element of arrays.

The functions must be elementwise, as SciPy asks: else their derivative is an error.

>>> import jax, jax.numpy as jnp
>>> from rules_scipy.optimize import elementwise
>>> def roots(c):
...     return elementwise.find_root(lambda x, c: x * x - c, (0.0, 9.0), args=(c,)).x
>>> jax.vmap(jax.grad(roots))(jnp.asarray([1.0, 4.0])).round(4).tolist()
[0.5, 0.25]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import elementwise as _elementwise

import rules_core as rc
from rules_scipy._functions import Function, Run, if_converged, known, like, solve
from rules_scipy._solvers import result_of, without_formula

from ._arguments import DECLARED
from ._equations import if_simple
from ._optima import slope

__all__ = ["find_minimum", "find_root"]


def find_root(
    f: Function, init: Any, /, *, args: Any = (), tolerances: Any = None,
    maxiter: int | None = None, callback: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.elementwise.find_root`; `x` and `f_x` have derivatives."""
    given = {"tolerances": tolerances, "maxiter": maxiter}
    return _found("find_root", f, f, init, args, given, callback)


def find_minimum(
    f: Function, init: Any, /, *, args: Any = (), tolerances: Any = None,
    maxiter: int = 100, callback: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.elementwise.find_minimum`; `x` and `f_x` have derivatives."""

    def steepness(x: Any, *args: Any) -> Any:
        return slope(lambda x: _total(f(x, *args)), x)

    given = {"tolerances": tolerances, "maxiter": maxiter}
    return _found("find_minimum", f, steepness, init, args, given, callback)


def _found(
    name: str, f: Any, equation: Any, init: Any, args: Any, given: Any, callback: Any
) -> Any:
    _refuse(name, callback, f, args)
    args = tuple(args) if isinstance(args, list | tuple) else (args,)
    first = like(init[0], *init, *args, f)
    own = [like(x, first) for x in (*init, *args)]
    shape = np.broadcast_shapes(*[x.shape for x in own])
    xp = rc.array_namespace(first)
    flat = [xp.broadcast_to(x, shape).reshape((-1,)) for x in own]
    start, args, n = tuple(flat[: len(init)]), tuple(flat[len(init) :]), len(flat[0])
    in_numpy = isinstance(first, np.ndarray)
    run = Run(_run, 4 * n, name=name, ends=len(init), mapped=not in_numpy, given=given)
    x, success, counts, others = _solution((f, equation), args, start, run)
    label = f"elementwise.{name}"
    if n:
        x = if_simple(x, (equation,), args, label, _near(given["tolerances"]))
    x = if_converged(x, success, label)
    names = ("success", "status", "nfev", "nit")
    fields = {k: counts[i * n : (i + 1) * n] for i, k in enumerate(names)}
    fields |= {"x": x, "f_x": f(x, *args)}
    fields = {k: value.reshape(shape) for k, value in fields.items()}
    fields["success"] = fields["success"] == 1
    brackets = {k: tuple([end.reshape(shape) for end in v]) for k, v in others.items()}
    return result_of({**fields, **without_formula(brackets, x, _FIELD)})


_FIELD = (
    "derivative of a function of scipy.optimize.elementwise in its bracket; take those "
    "of x and f_x"
)


def _refuse(name: str, callback: Any, f: Any, args: Any) -> None:
    if callback is not None:
        message = (
            f"elementwise.{name}(callback=…) has no rule: it sees iterates, which have "
            "no derivative. Leave it out."
        )
        raise rc.UnsupportedError(message)


rc.non_differentiable(_refuse)


def _total(y: Any) -> Any:
    return y.sum() if getattr(y, "shape", ()) else y


def _near(tolerances: Any) -> float:
    """How far from a root a solver may stop, with some room."""
    return max(10.0 * float((tolerances or {}).get("xatol", 0.0)), 1e-7)


# in numbers


def _run(settings: Any, functions: Any, *flat: Any) -> Any:
    (f, _), ends = functions, settings["ends"]
    f = np.vectorize(f, otypes=[float]) if settings["mapped"] else f
    solver = getattr(_elementwise, settings["name"])
    found = solver(f, flat[:ends], args=flat[ends:], **settings["given"])
    names = ("success", "status", "nfev", "nit")
    counts = np.concatenate([np.asarray(found[k], np.int32) for k in names])
    others = {k: found[k] for k in ("bracket", "f_bracket")}
    return found.x, int(np.all(found.success)), tuple(counts.tolist()), others


def _solved(functions: Any, args: Any, start: Any, run: Run) -> Any:
    one = rc.array_namespace(start[0]).zeros((), dtype=start[0].dtype)
    examples = [(one,) * (1 + len(args))] * 2
    y, success, counts, others = solve(
        run, functions, (), (*start, *args), examples, start[0]
    )
    return y, success, _vector(counts), others


def _vector(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, tuple) else x


def _residual(x: Any, functions: Any, args: Any, start: Any, run: Any) -> Any:
    return functions[1](x, *args)


_MIXED = (
    "has no derivative of a function that is not elementwise: its value at one element "
    "depends on another element"
)
_TOLERANCE, _TOLERANCE_SINGLE = 1e-8, 1e-3


def _diagonal(operator: Any, b: Any) -> Any:
    """The solution for a matrix that is diagonal, if it is."""
    xp = rc.array_namespace(b)
    if not b.shape[0]:
        return b
    slopes = operator(xp.ones_like(b))
    w = b / xp.where(slopes == 0, xp.ones_like(slopes), slopes)
    still, at, diagonal = map(rc.ignore_derivatives, (b, w, slopes))
    misfit = rc.ignore_derivatives(operator(w)) - still
    size = xp.max(xp.abs(still)) + xp.max(xp.abs(diagonal)) * xp.max(xp.abs(at))
    is_single = xp.finfo(b.dtype).bits < 64
    far = (_TOLERANCE_SINGLE if is_single else _TOLERANCE) * size
    # Without a solution, and at a double root, others say what is wrong.
    known_elsewhere = (diagonal == 0) | ~xp.isfinite(diagonal)
    good = (xp.max(xp.abs(misfit)) <= far) | xp.any(known_elsewhere)
    return known(w, good, _MIXED, "elementwise")


_solution: rc.Primitive = rc.implicit(
    _solved, _residual, solve=_diagonal, auxiliary=True
)

DECLARED.follow(_elementwise.find_root, find_root)
DECLARED.follow(_elementwise.find_minimum, find_minimum)
