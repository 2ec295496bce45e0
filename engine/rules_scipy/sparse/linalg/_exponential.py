r"""The exponential of a sparse matrix times vectors, `expm_multiply`.

With L the derivative of the exponential, $L(A, E) b$ is a part of the exponential of a
matrix of twice the size,

    exp [A  E] [0]   [L(A, E) b]
        [0  A] [b] = [  e^A b  ],

and the cotangent of `A` is its adjoint: $∫ e^{(1-s)Aᴴ} u (e^{sA} b)ᴴ ds$ at the stored
places. The derivatives of both are again of this form.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import scipy.sparse.linalg as _sp

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy.sparse._array import as_sparse, inexact
from rules_scipy.sparse._pattern import Pattern
from rules_scipy.sparse._products import conjugate, sampled, together

__all__ = ["expm_multiply"]


def _kind(*xs: Any) -> Any:
    return np.result_type(*[np.dtype(x.dtype) for x in xs], np.float32)


def _grown_shape(data: Any, b: Any, pattern: Any) -> Any:
    return rc.ShapeDtype(tuple(b.shape), _kind(data, b))


def _slope_shape(data: Any, b: Any, u: Any, pattern: Any) -> Any:
    return rc.ShapeDtype(tuple(data.shape), _kind(data, b, u))


@rc.primitive(host=True, out=_grown_shape, static_argnames="pattern")
def grown(data: Any, b: Any, pattern: Pattern) -> Any:
    """`e^A b`."""
    kind = _kind(data, b)
    matrix = pattern.csr(np.asarray(data).astype(kind))
    trace = matrix.diagonal().sum()
    y = _sp.expm_multiply(matrix, np.asarray(b).astype(kind), traceA=trace)
    return np.asarray(y, kind)


# Steps of a matrix with a norm of at most two; then 24 terms are exact.
_NORM, _TERMS = 2.0, 24


def _terms(X: Any, b: Any) -> Any:
    """Xʲ b for j = 0, 1, and so on."""
    found = [b]
    for _ in range(_TERMS - 1):
        found.append(X @ found[-1])
    return found


@rc.primitive(host=True, out=_slope_shape, static_argnames="pattern")
def slope(data: Any, b: Any, u: Any, pattern: Pattern) -> Any:
    """The cotangent of the stored numbers for one `u` of `e^A b`.

    The exponential is taken in steps of a Taylor polynomial, and the adjoint of each.
    """
    kind, n = _kind(data, b, u), pattern.shape[0]
    matrix = pattern.csr(np.asarray(data).astype(kind))
    shift = matrix.diagonal().sum() / max(n, 1)
    matrix = matrix - shift * _sp_eye(n, kind)
    count = max(1, ceil(float(_sp.norm(matrix, 1)) / _NORM)) if n else 1
    X, factor = matrix / count, np.exp(shift / count)
    states = [np.asarray(b).astype(kind)]
    weights = 1 / np.cumprod([1.0, *range(1, _TERMS + 1)])  # 1 / j!
    for _ in range(count - 1):
        terms = _terms(X, states[-1])
        states.append(factor * sum(w * t for w, t in zip(weights, terms, strict=False)))
    back, total = np.asarray(u).astype(kind), np.zeros(data.shape, kind)
    H = X.conj().T.tocsr()
    for state in reversed(states):
        terms, w = _terms(X, state), np.conj(factor) * back
        q = weights[_TERMS] * w
        for i in range(_TERMS - 1, -1, -1):
            total += sampled.fun(q, np.conj(terms[i]), pattern)
            q = H @ q + weights[i] * w
        back = q
    return total / count


def _sp_eye(n: int, kind: Any) -> Any:
    import scipy.sparse

    return scipy.sparse.eye_array(n, dtype=kind, format="csr")


# Twice the size


def _doubled(pattern: Pattern) -> Pattern:
    rows, columns, n = pattern.rows, pattern.columns, pattern.shape[0]
    return Pattern(
        np.concatenate([rows, rows, rows + n]),
        np.concatenate([columns, columns + n, columns + n]),
        (2 * n, 2 * n),
    )


rc.non_differentiable(_doubled)


def _blocks(data: Any, ddata: Any) -> tuple[Any, Any]:
    """The numbers of the matrix of twice the size, and the size of the direction.

    What follows is linear in the direction: it is divided by its size, on which the
    number of steps would depend.
    """
    data, ddata = together(data, ddata)
    xp = rc.array_namespace(data, ddata)
    size = xp.max(xp.abs(rc.ignore_derivatives(ddata)))
    size = xp.where(size > 0, size, xp.ones_like(size))
    kind = xp.result_type(data.dtype, ddata.dtype)
    parts = [xp.astype(x, kind) for x in (data, ddata / size, data)]
    return concat(parts), size


def _stacked(top: Any, bottom: Any) -> Any:
    return concat([top, bottom], axis=0)


def _along(data: Any, ddata: Any, b: Any, pattern: Pattern) -> Any:
    """`L(A, dA) b`."""
    numbers, size = _blocks(data, ddata)
    y = grown(numbers, _stacked(0 * b, b), _doubled(pattern))
    return size * y[: pattern.shape[0]]


def _bent(data: Any, ddata: Any, b: Any, u: Any, pattern: Pattern) -> Any:
    """The derivative of `slope` along a change of the numbers."""
    numbers, size = _blocks(data, ddata)
    double = _doubled(pattern)
    y = slope(numbers, _stacked(0 * b, b), _stacked(u, 0 * u), double)
    n = data.shape[0]
    return size * (y[:n] + y[2 * n :])


def _sum(terms: Any) -> Any:
    return sum(terms[1:], terms[0]) if terms else rc.ZeroTangent()


def _moves(dx: Any) -> bool:
    return not isinstance(dx, rc.AbstractZero)


@rc.frule.define(grown)
def grown_frule(tangents: Any, data: Any, b: Any, pattern: Any) -> Any:
    """`e^A db + L(A, dA) b`."""
    _, ddata, db, _ = tangents
    terms = [grown(data, db, pattern)] if _moves(db) else []
    terms += [_along(data, ddata, b, pattern)] if _moves(ddata) else []
    return grown(data, b, pattern), _sum(terms)


@rc.rrule.define(grown)
def grown_rrule(data: Any, b: Any, pattern: Any, *, needs: Any) -> Any:
    """The exponential of the adjoint, and `slope`."""

    def grown_pullback(dy: Any) -> Any:
        none = rc.NoTangent()
        ddata = slope(data, b, dy, pattern) if needs[0] else none
        db = grown(conjugate(data), dy, pattern.transposed) if needs[1] else none
        return none, ddata, db, none

    return grown(data, b, pattern), grown_pullback


@rc.frule.define(slope)
def slope_frule(tangents: Any, data: Any, b: Any, u: Any, pattern: Any) -> Any:
    """Linear in `b` and `u`."""
    _, ddata, db, du, _ = tangents
    terms = [slope(data, db, u, pattern)] if _moves(db) else []
    terms += [slope(data, b, du, pattern)] if _moves(du) else []
    terms += [_bent(data, ddata, b, u, pattern)] if _moves(ddata) else []
    return slope(data, b, u, pattern), _sum(terms)


@rc.rrule.define(slope)
def slope_rrule(data: Any, b: Any, u: Any, pattern: Any, *, needs: Any) -> Any:
    """Of ⟨dg, slope⟩ = ⟨u, L(A, dg) b⟩, by the symmetry of second derivatives."""

    def slope_pullback(dg: Any) -> Any:
        none, turned = rc.NoTangent(), conjugate(data)
        ddata = _bent(data, dg, b, u, pattern) if needs[0] else none
        db = none
        if needs[1]:
            db = _along(turned, conjugate(dg), u, pattern.transposed)
        du = _along(data, dg, b, pattern) if needs[2] else none
        return none, ddata, db, du, none

    return slope(data, b, u, pattern), slope_pullback


def expm_multiply(
    A: Any,
    B: Any,
    start: Any = None,
    stop: Any = None,
    num: int | None = None,
    endpoint: bool | None = None,
    traceA: Any = None,
) -> Any:
    """`e^A B`, or `e^(tA) B` at equidistant times `t`, as SciPy's function.

    Args:
        A: The matrix: whatever `as_sparse` accepts.
        B: The vector or matrix, dense.
        start: The first time; without times it is one.
        stop: The last time.
        num: How many times, 50 by default.
        endpoint: Whether `stop` is one of the times; by default it is.
        traceA: As in SciPy; the result does not depend on it.

    >>> import jax
    >>> import numpy as np
    >>> import scipy.sparse
    >>> from rules_scipy.sparse import as_sparse
    >>> from rules_scipy.sparse.linalg import expm_multiply
    >>> A = as_sparse(scipy.sparse.eye_array(2))
    >>> def total(data):
    ...     return expm_multiply(A.with_data(data), np.ones(2)).sum()
    >>> jax.jit(jax.grad(total))(np.zeros(2)).tolist()
    [1.0, 1.0]
    """
    a = inexact(as_sparse(A))
    if a.shape[0] != a.shape[1]:
        message = f"expm_multiply: A must be square, but has the shape {a.shape}."
        raise ValueError(message)
    times = [x for x in (start, stop) if rc.is_array(x)]
    data, b, *_ = together(a.data, B, *times)
    if start is None and stop is None and num is None and endpoint is None:
        return grown(data, b, a.pattern)
    count = 50 if num is None else int(num)
    step = (stop - start) / (count - 1 if endpoint in (None, True) else count)
    values = [grown(start * data, b, a.pattern)]
    for _ in range(count - 1):
        values.append(grown(step * data, values[-1], a.pattern))
    return rc.array_namespace(*values).stack(values, axis=0)
