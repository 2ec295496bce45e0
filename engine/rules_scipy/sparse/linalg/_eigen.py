"""A few eigenvalues and singular values, with their vectors.

A pair `A v = w v`, `vᴴ v = 1` moves by one equation,

    [A - w  v] [ dv]   [-dA v]
    [  vᴴ   0] [-dw] = [  0  ],

whose matrix is regular for a simple eigenvalue. Singular values are eigenvalues of
`[[0, A], [Aᴴ, 0]]`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse.linalg as _sp

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy.linalg._gauge import nan_if, refuse_phase
from rules_scipy.sparse._array import as_sparse
from rules_scipy.sparse._pattern import Pattern
from rules_scipy.sparse._products import conjugate, product, sampled

from ._direct import factor, solved
from ._options import settled

__all__ = ["eigs", "eigsh", "svds"]

# Beyond this the equation is singular up to rounding.
_CONDITION = 1e9


class _Task(NamedTuple):
    """A function of SciPy with its options; a constant of a program."""

    name: str
    k: int
    options: tuple[tuple[str, Any], ...]

    def __tangent_structure__(self) -> None:
        """Options have no derivative."""


def _kinds(data: Any, task: _Task) -> tuple[Any, Any]:
    """The dtypes of values and of vectors."""
    kind = np.result_type(np.dtype(data.dtype), np.float32)
    if task.name == "eigs":
        kind = np.result_type(kind, np.complex64)
        return kind, kind
    return np.zeros(0, kind).real.dtype, kind


def _pairs_shape(data: Any, pattern: Pattern, task: _Task) -> Any:
    values, vectors = _kinds(data, task)
    m, n = pattern.shape
    found = rc.ShapeDtype((task.k,), values), rc.ShapeDtype((n, task.k), vectors)
    left = rc.ShapeDtype((m, task.k), vectors)
    return (left, *found) if task.name == "svds" else found


@rc.primitive(host=True, out=_pairs_shape, static_argnames=("pattern", "task"))
def _pairs(data: Any, pattern: Pattern, task: _Task) -> Any:
    """`(w, v)`, or `(u, s, v)` with `v` as columns."""
    values, vectors = _kinds(data, task)
    matrix = pattern.csr(np.asarray(data).astype(np.result_type(data, np.float32)))
    options = dict(task.options)
    # Else a random vector, which makes another sign in each call.
    start = np.random.default_rng(0).normal(size=min(pattern.shape))
    options["v0"] = np.asarray(options.get("v0", start), matrix.dtype)
    found = getattr(_sp, task.name)(matrix, k=task.k, **options)
    if task.name == "svds":
        u, s, vh = found
        return u.astype(vectors), s.astype(values), vh.conj().T.astype(vectors)
    w, v = found
    return w.astype(values), v.astype(vectors)


@rc.primitive(
    host=True,
    out=lambda *_a, **_k: rc.ShapeDtype((), np.dtype(bool)),
    static_argnames="pattern",
)
def _is_singular(data: Any, pattern: Pattern) -> Any:
    data = np.asarray(data)
    # Not the start of ARPACK: its vectors are projections of that.
    probe = np.random.default_rng(1).normal(size=pattern.shape[0])
    lu = factor(data, pattern)
    if lu is None:
        return np.asarray(True)
    x = lu.solve(probe.astype(data.dtype))
    size = np.linalg.norm(x) * np.max(np.abs(data)) / np.linalg.norm(probe)
    return np.asarray(not size < _CONDITION)


rc.non_differentiable(_is_singular)


def _bordered(pattern: Pattern) -> Pattern:
    n = pattern.shape[0]
    each, last = np.arange(n), np.full(n, n)
    return Pattern(
        np.concatenate([pattern.rows, each, each, last]),
        np.concatenate([pattern.columns, each, last, each]),
        (n + 1, n + 1),
    )


rc.non_differentiable(_bordered)


def _equation(f: str, data: Any, pattern: Pattern, w: Any, v: Any) -> Any:
    """The numbers of the equation's matrix; an error or NaN where it is singular."""
    xp = rc.array_namespace(v)
    kind = xp.result_type(data.dtype, v.dtype)
    shift = -w * xp.ones_like(v)
    parts = [data, shift, v, conjugate(v)]
    numbers = concat([xp.astype(part, kind) for part in parts])
    wrong = _is_singular(rc.ignore_derivatives(numbers), _bordered(pattern))
    message = (
        f"the derivative of scipy.sparse.linalg.{f} must be taken at simple values, "
        "but one is equal to another one, computed or not. Make the values differ, or "
        "use a function of the whole matrix."
    )
    return nan_if(wrong, numbers, message)


def _stacked(columns: list[Any]) -> Any:
    return rc.array_namespace(*columns).stack(columns, axis=-1)


def _moved_pairs(
    f: str, data: Any, pattern: Pattern, ddata: Any, w: Any, v: Any
) -> tuple[Any, Any]:
    """The tangents of values and vectors."""
    xp = rc.array_namespace(v)
    dw, dv = [], []
    for i in range(w.shape[0]):
        numbers = _equation(f, data, pattern, w[i], v[:, i])
        right = -product(ddata, v[:, i], pattern)
        right = concat([right, xp.zeros_like(right[:1])])
        x = solved(numbers, right, _bordered(pattern), False)
        dv.append(x[:-1])
        dw.append(-x[-1])
    return _stacked(dw), _stacked(dv)


def _pulled_pairs(
    f: str, data: Any, pattern: Pattern, dw: Any, dv: Any, w: Any, v: Any
) -> Any:
    """The cotangent of the entries."""
    xp = rc.array_namespace(v)
    total = 0.0
    for i in range(w.shape[0]):
        numbers = _equation(f, data, pattern, w[i], v[:, i])
        last = xp.astype(xp.reshape(-dw[i], (1,)), v.dtype)
        right = concat([xp.astype(dv[:, i], v.dtype), last])
        x = solved(numbers, right, _bordered(pattern), True)
        total = total - sampled(x[:-1], conjugate(v[:, i]), pattern)
    return total


def _without_phase(f: str, v: Any, dv: Any) -> Any:
    """The cotangent of vectors, whose phase is not determined."""
    xp = rc.array_namespace(v)
    if not xp.isdtype(v.dtype, "complex floating"):
        return dv
    part = conjugate(v) * dv
    return refuse_phase(f, xp.imag(xp.sum(part, axis=-2)), xp.abs(part), dv)


def _both(data: Any, pattern: Pattern) -> tuple[Any, Pattern]:
    """The matrix `[[0, A], [Aᴴ, 0]]`."""
    return concat([data, conjugate(data)]), _both_pattern(pattern)


def _both_pattern(pattern: Pattern) -> Pattern:
    m, n = pattern.shape
    rows, columns = pattern.rows, pattern.columns + m
    return Pattern(
        np.concatenate([rows, columns]), np.concatenate([columns, rows]), (m + n, m + n)
    )


rc.non_differentiable(_both_pattern)


def _real_like(w: Any, dw: Any) -> Any:
    xp = rc.array_namespace(dw)
    is_real = not xp.isdtype(w.dtype, "complex floating")
    return xp.real(dw) if is_real and xp.isdtype(dw.dtype, "complex floating") else dw


@rc.frule.define(_pairs)
def pairs_frule(tangents: Any, data: Any, pattern: Any, task: Any) -> Any:
    """By the equation of each pair."""
    _, ddata, *_ = tangents
    y = _pairs(data, pattern, task)
    if task.name != "svds":
        w, v = y
        dw, dv = _moved_pairs(task.name, data, pattern, ddata, w, v)
        return y, rc.Tangent(tuple, _real_like(w, dw), dv)
    u, s, v = y
    z = concat([u, v]) / 2**0.5
    (both, places), (dboth, _) = _both(data, pattern), _both(ddata, pattern)
    ds, dz = _moved_pairs("svds", both, places, dboth, s, z)
    m = pattern.shape[0]
    dz = dz * 2**0.5
    return y, rc.Tangent(tuple, dz[:m], _real_like(s, ds), dz[m:])


@rc.rrule.define(_pairs)
def pairs_rrule(data: Any, pattern: Any, task: Any) -> Any:
    """By the adjoint equation of each pair."""
    y = _pairs(data, pattern, task)
    none = rc.NoTangent()

    def pairs_pullback(dy: Any) -> Any:
        if task.name != "svds":
            (w, v), (dw, dv) = y, dy
            dv = _without_phase(task.name, v, dv)
            ddata = _pulled_pairs(task.name, data, pattern, dw, dv, w, v)
            return none, ddata, none, none
        (u, s, v), (du, ds, dv) = y, dy
        z, dz = concat([u, v]) / 2**0.5, concat([du, dv]) * 2**0.5
        dz = _without_phase("svds", z, dz)
        both, places = _both(data, pattern)
        found = _pulled_pairs("svds", both, places, ds, dz, s, z)
        count = pattern.nnz
        return none, found[:count] + conjugate(found[count:]), none, none

    return y, pairs_pullback


_USUAL = ("normal", "arpack")
_REFUSED = ("M", "Minv", "OPinv", "mode", "solver", "rng", "random_state", "options")


def _task(name: str, k: int, options: dict[str, Any]) -> _Task:
    for key in _REFUSED:
        given = options.pop(key, None)
        if given is not None and not (isinstance(given, str) and given in _USUAL):
            message = f"{name}: {key}= has no rule. Use scipy.linalg with toarray()."
            raise rc.UnsupportedError(message)
    kept = settled(name, options)
    if "v0" in kept:
        kept["v0"] = tuple(np.asarray(kept["v0"]).tolist())
    return _Task(name, int(k), tuple(sorted(kept.items())))


def _eigen(name: str, A: Any, k: int, return_eigenvectors: bool, options: Any) -> Any:
    a = as_sparse(A)
    w, v = _pairs(a.data, a.pattern, _task(name, k, options))
    return (w, v) if return_eigenvectors else w


def eigsh(
    A: Any, k: int = 6, *, return_eigenvectors: bool = True, **options: Any
) -> Any:
    """`k` eigenvalues and vectors of a Hermitian matrix, as SciPy's function.

    Values must be simple: else an error, or NaN in compiled code. Vectors have a sign
    or a phase that is not determined; a derivative that depends on a phase is an error.
    Both triangles of the matrix are read.

    Args:
        A: The matrix: whatever `as_sparse` accepts.
        k: How many, fewer than rows.
        return_eigenvectors: Whether to return `(w, v)`, or `w` alone.
        **options: `which`, `sigma`, `v0`, `ncv`, `maxiter` and `tol` as in SciPy; the
            values that are found do not depend on them, and they have derivative zero.
    """
    return _eigen("eigsh", A, k, return_eigenvectors, options)


def eigs(
    A: Any, k: int = 6, *, return_eigenvectors: bool = True, **options: Any
) -> Any:
    """`k` eigenvalues and right vectors of a square matrix; as `eigsh`."""
    return _eigen("eigs", A, k, return_eigenvectors, options)


def svds(
    A: Any, k: int = 6, *, return_singular_vectors: bool | str = True, **options: Any
) -> Any:
    """`k` singular values and vectors, as `scipy.sparse.linalg.svds` by ARPACK.

    Values must be simple and not zero; see `eigsh`.
    """
    a = as_sparse(A)
    u, s, v = _pairs(a.data, a.pattern, _task("svds", k, options))
    if return_singular_vectors is False:
        return s
    vh = conjugate(v).T
    if return_singular_vectors is True:
        return u, s, vh
    return (u, s, None) if return_singular_vectors == "u" else (None, s, vh)
