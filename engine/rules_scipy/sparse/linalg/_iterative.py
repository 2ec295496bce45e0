"""Solutions by iterations: differentiated by the equation, not by the iterations."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse.linalg as _sp

import rules_core as rc
from rules_core.extend import numpy_function
from rules_scipy.sparse._array import SparseArray, as_sparse, inexact
from rules_scipy.sparse._pattern import Pattern
from rules_scipy.sparse._products import conjugate, product, sampled, together

from ._operators import Held, LinearOperator, operator_of, operator_solution
from ._options import settled

__all__ = [
    "NotConverged",
    "bicg",
    "bicgstab",
    "cg",
    "cgs",
    "gcrotmk",
    "gmres",
    "lgmres",
    "minres",
    "qmr",
    "tfqmr",
]


# A solution with a larger residual, relative to b, has no derivative.
_RESIDUAL = 1e-3
# In place of SciPy's `info`, for such a solution.
_FAR = -(2**31) + 1


class NotConverged(rc.RulesCoreError, ArithmeticError):
    """The derivative of a solution to which an iteration did not converge."""


class _Method(NamedTuple):
    """A method of SciPy with its options; a constant of a program.

    Attributes:
        name: The function of `scipy.sparse.linalg`.
        options: Keywords, sorted.
        preconditioners: `M`, or `M1` and `M2`: their keywords and operators.
    """

    name: str
    options: tuple[tuple[str, Any], ...]
    preconditioners: tuple[tuple[str, Any], ...]

    def __tangent_structure__(self) -> None:
        """Options have no derivative."""

    def again(self, turned: bool) -> _Method:
        """For another right-hand side, and for the adjoint matrix if `turned`."""
        dropped = ("atol", "callback", "callback_type", "show", "check")
        options = tuple([(k, v) for k, v in self.options if k not in dropped])
        own = self.preconditioners
        if turned and self.name not in _SYMMETRIC:
            known = [(k, m.operator) for k, m in own if _has_adjoint(m.operator)]
            own = tuple([(k, Held(m.H)) for k, m in known])
        return _Method(self.name, options, own)


# Their matrix, and its preconditioner, are their own adjoints.
_SYMMETRIC = ("cg", "minres")


def _has_adjoint(operator: Any) -> bool:
    """Whether a preconditioner has an adjoint; the solution does not depend on it."""
    try:
        operator.rmatvec(np.zeros(operator.shape[0]))
    except (NotImplementedError, TypeError):  # made without rmatvec
        return False
    return True


def _iterated_shape(data: Any, b: Any, *_args: Any, **_kw: Any) -> Any:
    kind = np.result_type(np.dtype(data.dtype), np.dtype(b.dtype), np.float32)
    return rc.ShapeDtype(tuple(b.shape), kind), rc.ShapeDtype((), np.dtype(int))


@rc.primitive(host=True, out=_iterated_shape, static_argnames=("pattern", "method"))
def iterated(data: Any, b: Any, x0: Any, pattern: Pattern, method: _Method) -> Any:
    """`(x, info)` of a method of SciPy."""
    kind = np.result_type(data, b, np.float32)
    held = {k: m.operator for k, m in method.preconditioners}
    options = {**dict(method.options), **held}
    start = None if x0 is None else np.array(x0)
    matrix = pattern.csr(np.asarray(data).astype(kind))
    x, info = getattr(_sp, method.name)(matrix, np.array(b), start, **options)
    return np.asarray(x, kind), np.asarray(int(info))


@rc.primitive(
    host=True,
    out=lambda *_a, **_k: rc.ShapeDtype((), np.dtype(int)),
    static_argnames="pattern",
)
def _state(data: Any, b: Any, x: Any, info: Any, pattern: Pattern) -> Any:
    """`info`, or `_FAR` where `x` met a loose tolerance without being a solution."""
    if np.any(np.asarray(info) != 0) or _solves(data, b, x, pattern):
        return np.asarray(info)
    return np.asarray(_FAR)


rc.non_differentiable(_state)


def _solves(data: Any, b: Any, x: Any, pattern: Pattern) -> bool:
    residual = np.asarray(b) - pattern.csr(np.asarray(data)) @ np.asarray(x)
    return bool(np.linalg.norm(residual) <= _RESIDUAL * np.linalg.norm(b))


def _again_shape(data: Any, b: Any, *_args: Any, **_kw: Any) -> Any:
    return _iterated_shape(data, b)[0]


@rc.primitive(
    host=True, out=_again_shape, static_argnames=("pattern", "method", "adjoint")
)
def solved_again(
    data: Any, b: Any, info: Any, pattern: Pattern, method: _Method, adjoint: bool
) -> Any:
    """The solution for another right-hand side; an error where `info` is not zero."""
    if np.any(np.asarray(info) != 0):
        raise _not_converged(method, info, "")
    if not np.any(b):
        return np.zeros(b.shape, np.result_type(data, b, np.float32))
    turned = conjugate(data) if adjoint else data
    where = pattern.transposed if adjoint else pattern
    x, found = iterated.fun(turned, b, None, where, method.again(adjoint))
    found = _state.fun(turned, b, x, found, where)
    if found != 0:
        raise _not_converged(method, found, " of the derivative's equation")
    return x


def _not_converged(method: _Method, info: Any, what: str) -> Exception:
    if info == _FAR:
        message = (
            f"{method.name}: a solution{what} whose residual is more than {_RESIDUAL} "
            "of b has no derivative. Give a smaller rtol and atol, or use spsolve."
        )
        return NotConverged(message)
    message = (
        f"{method.name}: a solution{what} that did not converge (info = {info}) has no "
        "derivative. Raise maxiter, loosen rtol, give a preconditioner M, or use "
        "spsolve."
    )
    return NotConverged(message)


@rc.frule.define(iterated)
def iterated_frule(
    tangents: Any, data: Any, b: Any, x0: Any, pattern: Any, method: Any
) -> Any:
    """`dx = A⁻¹ (db - dA x)`, by the same method."""
    _, ddata, db, *_ = tangents
    x, info = iterated(data, b, x0, pattern, method)
    step = db - product(ddata, x, pattern)
    state = _state(data, b, x, info, pattern)
    dx = solved_again(data, step, state, pattern, method, False)
    return (x, info), rc.Tangent(tuple, dx, rc.NoTangent())


@rc.rrule.define(iterated)
def iterated_rrule(
    data: Any, b: Any, x0: Any, pattern: Any, method: Any, *, needs: Any
) -> Any:
    """`db = A⁻ᴴ dx` by the same method, and `-db xᴴ` at the stored places."""
    x, info = iterated(data, b, x0, pattern, method)

    def iterated_pullback(dy: Any) -> Any:
        none, dx = rc.NoTangent(), dy[0]
        state = _state(data, b, x, info, pattern)
        db = solved_again(data, dx, state, pattern, method, True)
        ddata = -sampled(db, conjugate(x), pattern) if needs[0] else none
        start = none if x0 is None else rc.ZeroTangent()
        return none, ddata, db, start, none, none

    return (x, info), iterated_pullback


@rc.frule.define(solved_again)
def solved_again_frule(
    tangents: Any,
    data: Any,
    b: Any,
    info: Any,
    pattern: Any,
    method: Any,
    adjoint: Any,
) -> Any:
    """As of `iterated`, with A or its adjoint."""
    _, ddata, db, *_ = tangents
    x = solved_again(data, b, info, pattern, method, adjoint)
    moved = (
        product(conjugate(ddata), x, pattern.transposed)
        if adjoint
        else product(ddata, x, pattern)
    )
    return x, solved_again(data, db - moved, info, pattern, method, adjoint)


@rc.rrule.define(solved_again)
def solved_again_rrule(
    data: Any,
    b: Any,
    info: Any,
    pattern: Any,
    method: Any,
    adjoint: Any,
    *,
    needs: Any,
) -> Any:
    """As of `iterated`, with A or its adjoint."""
    x = solved_again(data, b, info, pattern, method, adjoint)

    def solved_again_pullback(dx: Any) -> Any:
        none = rc.NoTangent()
        db = solved_again(data, dx, info, pattern, method, not adjoint)
        u, v = (x, conjugate(db)) if adjoint else (db, conjugate(x))
        ddata = -sampled(u, v, pattern) if needs[0] else none
        return none, ddata, db, none, none, none, none

    return x, solved_again_pullback


def _checked(value: Any) -> Any:
    """A preconditioner, held: constant, so of NumPy's or SciPy's arrays.

    SciPy calls its functions with residuals; what they store has no derivative.
    """
    operator = _sp.aslinearoperator(value)
    held = vars(operator)
    for name in [name for name in held if name.endswith(_CALLED)]:
        if held[name] is not None:
            held = held | {name: numpy_function(held[name])[0](())}
    if held == vars(operator):
        return Held(operator)
    own = copy(operator)
    vars(own).update(held)
    return Held(own)


rc.non_differentiable(_checked)

# Under these SciPy's operators keep the functions that they were made of.
_CALLED = ("__matvec_impl", "__rmatvec_impl", "__matmat_impl", "__rmatmat_impl")


def _check_outputs(name: str, options: dict[str, Any]) -> None:
    for key in ("callback", "outer_v", "CU"):
        if options.get(key) is not None:
            message = (
                f"{name}: {key}= receives vectors of the iterations, which have no "
                f"derivative. Leave {key} out, or solve for them outside of the "
                "function to be differentiated."
            )
            raise rc.UnsupportedError(message)


def _is_none(shift: Any) -> bool:
    return shift is None or (isinstance(shift, int | float) and shift == 0)


def _less(a: SparseArray, shift: Any) -> SparseArray:
    """`A - shift I`."""
    if _is_none(shift):
        return a
    each = np.arange(a.shape[0])
    xp, place = rc.array_namespace(a.data), getattr(a.data, "device", None)
    one = xp.ones(a.shape[:1], dtype=a.data.dtype, device=place)
    if rc.is_array(shift):
        shift, one = together(shift, one)
    return a + SparseArray(-shift * one, Pattern(each, each, a.shape))


def _shifted(a: LinearOperator, shift: Any) -> LinearOperator:
    """`A - shift I` of an operator."""
    if _is_none(shift):
        return a
    forward = a.forward  # JAX finds arrays in functions, and not in objects
    return LinearOperator(a.shape, lambda x: forward(x) - shift * x, a.back)


def _iteration(name: str, preconditioners: tuple[str, ...]) -> Callable[..., Any]:
    def solve(A: Any, b: Any, x0: Any = None, **options: Any) -> Any:
        _check_outputs(name, options)
        shift = options.pop("shift", None) if name == "minres" else None
        held = {k: options.pop(k) for k in preconditioners if k in options}
        own = {k: _checked(m) for k, m in held.items() if m is not None}
        options = settled(name, options)
        if hasattr(A, "matvec"):
            operator = _shifted(operator_of(A), shift)
            return operator_solution(name, operator, b, x0, {**options, **own})
        a = _less(inexact(as_sparse(A)), shift)
        data, b = together(a.data, b)
        if b.ndim == 2:
            b = b[:, 0]
        kept = tuple(sorted(options.items()))
        method = _Method(name, kept, tuple(own.items()))
        return iterated(data, b, x0, a.pattern, method)

    solve.__name__ = solve.__qualname__ = name
    solve.__doc__ = f"""`(x, info)` with `A x = b`, as `scipy.sparse.linalg.{name}`.

    The derivatives are those of the exact solution; each costs a further solve by
    `{name}`, to the same `rtol`, and is an error where one did not converge.

    Args:
        A: The matrix: whatever `as_sparse` accepts, or a `LinearOperator`.
        b: The right-hand side, `(n,)`.
        x0: The start, on which the solution does not depend.
        **options: As in SciPy: `rtol`, `atol`, `maxiter`, `M` and others, on which it
            does not depend either. Their derivative is zero.
    """
    return solve


_M = ("M",)
bicg = _iteration("bicg", _M)
bicgstab = _iteration("bicgstab", _M)
cg = _iteration("cg", _M)
cgs = _iteration("cgs", _M)
gcrotmk = _iteration("gcrotmk", _M)
gmres = _iteration("gmres", _M)
lgmres = _iteration("lgmres", _M)
minres = _iteration("minres", _M)
qmr = _iteration("qmr", ("M1", "M2"))
tfqmr = _iteration("tfqmr", _M)
