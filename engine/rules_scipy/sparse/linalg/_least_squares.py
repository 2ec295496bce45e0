"""Least squares by iterations, `lsqr` and `lsmr`: differentiated by the equation.

With the residual r = b - A x and the damping d the solution for a start 0 satisfies

    [ 1    A ] [r]   [b]
    [ Aᴴ  -d²] [x] = [0],

which is regular for a matrix of full column rank, or with damping. Without damping, a
matrix of full row rank has the solution x = Aᴴ z of least norm, A x = b. With a start
x0 this is x - x0 for the right-hand side b - A x0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse.linalg as _sp

import rules_core as rc
from rules_scipy._arrays import concrete
from rules_scipy._axes import concat
from rules_scipy._functions import if_converged
from rules_scipy._steps import declare
from rules_scipy.sparse._array import as_sparse, inexact
from rules_scipy.sparse._pattern import Pattern
from rules_scipy.sparse._products import conjugate, product, together

from ._direct import solved
from ._options import settled

__all__ = ["lsmr", "lsqr"]


class _Call(NamedTuple):
    """A function of SciPy with its options; a constant of a program."""

    name: str
    pattern: Pattern
    damped: bool
    options: tuple[tuple[str, Any], ...]

    def __tangent_structure__(self) -> None:
        """Options have no derivative."""


def _augmented(pattern: Pattern, *, wide: bool) -> Pattern:
    """Of a wide matrix the adjoint takes the place of the matrix."""
    m, n = pattern.shape
    rows, columns = pattern.rows, pattern.columns
    if wide:  # [-1, Aᴴ; A, 0] (x, z) = (0, b)
        return _joined(n + m, (columns, n + rows), (n + rows, columns))
    return _joined(m + n, (rows, m + columns), (m + columns, rows))


def _joined(n: int, one: Any, two: Any) -> Pattern:
    each = np.arange(n)
    return Pattern(
        np.concatenate([each, one[0], two[0]]),
        np.concatenate([each, one[1], two[1]]),
        (n, n),
    )


rc.non_differentiable(_augmented)


def _exact(data: Any, b: Any, damp: Any, call: _Call) -> Any:
    """The solution by factors of the equation."""
    data, b, damp = together(data, b, damp)
    xp, (m, n) = rc.array_namespace(data, b, damp), call.pattern.shape
    wide = m < n and not call.damped
    kind = xp.result_type(data.dtype, b.dtype)
    place = getattr(data, "device", None)

    def constant(x: float, count: int) -> Any:
        return xp.full((count,), x, dtype=kind, device=place)

    if wide:
        one = concat([constant(-1.0, n), constant(0.0, m)])
    else:
        one = concat([constant(1.0, m), constant(-1.0, n) * damp**2])
    data, b = xp.astype(data, kind), xp.astype(b, kind)
    parts = [conjugate(data), data] if wide else [data, conjugate(data)]
    rest = 0 * concat([b[:1]] * n)
    right = concat([rest, b] if wide else [b, rest])
    numbers = concat([xp.astype(one, kind), *parts])
    x = solved(numbers, right, _augmented(call.pattern, wide=wide), False)
    return x[:n] if wide else x[m:]


# What SciPy returns beside the solution
_COUNTS = {"lsqr": 9, "lsmr": 7}


def _least(data: Any, b: Any, x0: Any, damp: Any, call: Any) -> Any:
    """`(x, success, others)` of a function of SciPy."""
    kind = np.result_type(data, b, x0, np.float64)
    matrix = call.pattern.csr(np.asarray(data).astype(kind))
    start, size = np.asarray(x0).astype(kind), float(damp)
    found = getattr(_sp, call.name)(
        matrix, np.asarray(b).astype(kind), size, x0=start, **dict(call.options)
    )
    x, stop, *others = found
    numbers = [float(e) for e in others[: _COUNTS[call.name] - 1] if np.ndim(e) == 0]
    success = _is_solution(matrix, b, x, size**2 * (x - start))
    return x, np.asarray(success), np.asarray([stop, *numbers])


def _is_solution(matrix: Any, b: Any, x: Any, damping: Any) -> bool:
    """Whether the normal equations hold."""
    left = matrix.conj().T @ (b - matrix @ x) - damping
    size = _sp.norm(matrix) * np.linalg.norm(b)
    return bool(np.linalg.norm(left) <= 1e-3 * size)


def _least_shape(data: Any, b: Any, x0: Any, damp: Any, call: Any) -> Any:
    kinds = [np.dtype(x.dtype) for x in (data, b, x0)]
    count = {"lsqr": 8, "lsmr": 7}[call.name]
    return (
        rc.ShapeDtype((call.pattern.shape[1],), np.result_type(*kinds, np.float64)),
        rc.ShapeDtype((), np.dtype(bool)),
        rc.ShapeDtype((count,), np.dtype(float)),
    )


def _least_step(at: Any, data: Any, b: Any, x0: Any, damp: Any, call: Any) -> Any:
    data, b, x0 = together(data, b, x0)
    rest = b - product(data, x0, call.pattern)
    return x0 + _exact(data, rest, damp, call), None, None


_solution = declare(
    _least, _least_step, of=("data", "b", "x0", "damp"), out=_least_shape, fixed=(2,)
)


def _found(name: str, A: Any, b: Any, damp: Any, x0: Any, options: Any) -> Any:
    a = inexact(as_sparse(A))
    data, b = together(a.data, b)
    if b.ndim == 2:
        b = b[:, 0]
    x0 = np.zeros(a.shape[1]) if x0 is None else x0
    kept = tuple(sorted(settled(name, options).items()))
    call = _Call(name, a.pattern, _is_damped(rc.ignore_derivatives(damp)), kept)
    x, success, numbers = _solution(data, b, x0, damp, call)
    return if_converged(x, success, name), told(numbers, x)


def _is_damped(damp: Any) -> bool:
    """Whether there is a damping; one that is traced is not zero."""
    known = concrete(damp)
    return known is None or bool(known != 0)


rc.non_differentiable(_is_damped)


@rc.primitive
def told(numbers: Any, x: Any) -> Any:
    """Estimates of norms, which depend on what the solution `x` depends on."""
    return numbers


@rc.frule.define(told)
def told_frule(tangents: Any, numbers: Any, x: Any) -> Any:
    """NaN, which does no harm where it is not used."""
    return numbers, np.nan * numbers


@rc.rrule.define(told)
def told_rrule(numbers: Any, x: Any) -> Any:
    def told_pullback(_dy: Any) -> Any:
        message = "derivative of a norm from lsqr or lsmr; compute it from x"
        unknown = rc.not_implemented(message)
        return rc.NoTangent(), unknown, unknown

    return numbers, told_pullback


def _refuse(name: str, options: dict[str, Any], *keys: str) -> None:
    for key in keys:
        if options.pop(key, None) is not None:
            message = f"{name}: {key}= has no rule; leave it out."
            raise rc.UnsupportedError(message)


def lsqr(A: Any, b: Any, damp: Any = 0.0, *, x0: Any = None, **options: Any) -> Any:
    """The point of least squares, as `scipy.sparse.linalg.lsqr`.

    `x` has the derivatives of the exact solution, by factors of a sparse matrix: NaN
    for one without full rank. Those of the norms that follow it are an error, or NaN in
    forward mode.

    Args:
        A: The matrix: whatever `as_sparse` accepts.
        b: The right-hand side.
        damp: The damping of the distance from `x0`.
        x0: The start: where the solution is not unique, the one next to it is found.
        **options: As in SciPy, without `calc_var`; constants.
    """
    _refuse("lsqr", options, "calc_var")
    x, numbers = _found("lsqr", A, b, damp, x0, options)
    stop, steps, *norms = [numbers[i] for i in range(numbers.shape[0])]
    return x, stop, steps, *norms, None


def lsmr(A: Any, b: Any, damp: Any = 0.0, *, x0: Any = None, **options: Any) -> Any:
    """The point of least squares, as `scipy.sparse.linalg.lsmr`; see `lsqr`.

    Args:
        A: The matrix: whatever `as_sparse` accepts.
        b: The right-hand side.
        damp: The damping of the distance from `x0`.
        x0: The start: where the solution is not unique, the one next to it is found.
        **options: As in SciPy; constants.
    """
    x, numbers = _found("lsmr", A, b, damp, x0, options)
    return x, *[numbers[i] for i in range(numbers.shape[0])]
