"""Eigenvalues and eigenvectors of Hermitian matrices: of pairs and of bands too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.linalg as _sp

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy._steps import At, declare

from ._bands import full_of_band
from ._gauge import one_phase, phases, share
from ._general import over_gaps
from ._matrices import adjoint, diagonal_of, hermitian, real, solved
from ._shapes import Shape, dtype_of, real_of

__all__ = [
    "eig_banded",
    "eigh",
    "eigh_tridiagonal",
    "eigvals_banded",
    "eigvalsh",
    "eigvalsh_tridiagonal",
]


# Hermitian


def _standard(a: Any, b: Any, kind: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The standard problem of a pair, and the vectors of the pair of its own."""
    if b is None:
        return a, _same
    xp = rc.array_namespace(b)
    low = xp.linalg.cholesky(b)
    if kind == 1:
        half = solved(low, a)
        inner = adjoint(solved(low, adjoint(half)))
    else:
        inner = adjoint(low) @ a @ low
    inner = (inner + adjoint(inner)) / 2
    if kind == 3:
        return inner, lambda u: low @ u
    return inner, lambda u: solved(adjoint(low), u)


def _same(x: Any) -> Any:
    return x


def _window(n: int, subset: Any) -> slice:
    """The columns of a subset by index."""
    return slice(None) if subset is None else slice(int(subset[0]), int(subset[1]) + 1)


_BY_VALUE = (
    "the derivative of scipy.linalg.{name} must be taken with a subset by index, but "
    "got one by value, whose size depends on the matrix. Use {cure}."
)


def _refuse_by_value(f: str, subset: Any) -> None:
    if subset is not None:
        cure = "subset_by_index" if f.startswith("eigh") or f == "eigvalsh" else "'i'"
        raise rc.UnsupportedError(_BY_VALUE.format(name=f, cure=cure))


def _values(f: str, m: Any, part: slice) -> Any:
    xp = rc.array_namespace(m)
    w = xp.linalg.eigvalsh(m)
    return share(f, w, w)[..., part]


def _pairs(f: str, at: At, m: Any, back: Any, part: slice) -> tuple[Any, Any]:
    """Values and vectors of `m` as functions of it, in the basis of the vectors.

    Not the framework's eigh: PyTorch's is NaN in reverse mode over forward mode.
    """
    w, u = at.extra
    inner = adjoint(u) @ m @ u

    def values() -> Any:
        return share(f, w, real(diagonal_of(inner)))[..., part]

    def vectors() -> Any:
        change = over_gaps(f, w, inner - rc.ignore_derivatives(inner))
        own = back(u + u @ change)[..., :, part]
        return own * phases(own, at.y[1])

    return values, vectors


def _basis(at: At, m: Any, eigvals_only: Any, part: slice, *, own: bool) -> Any:
    """Values and all vectors of `m`, if they are wanted; `own`: those of the result."""
    if eigvals_only:
        return None
    return at.y if own and part == slice(None) else eigh(m)


def _eigh_step(
    at: At,
    a: Any,
    b: Any,
    lower: Any,
    eigvals_only: Any,
    type: Any,
    subset_by_index: Any,
    subset_by_value: Any,
) -> Any:
    _refuse_by_value("eigh", subset_by_value)
    m, back = _inner(a, b, lower, type)
    part = _window(a.shape[-1], subset_by_index)
    if eigvals_only:
        return _values("eigh", m, part)
    return _pairs("eigh", at, m, back, part)


def _inner(a: Any, b: Any, lower: Any, kind: Any) -> tuple[Any, Any]:
    """The standard problem of the stored sides."""
    pair = None if b is None else hermitian(b, lower=lower)
    return _standard(hermitian(a, lower=lower), pair, kind)


def _eigh_basis(
    at: At, lower: Any, eigvals_only: Any, type: Any, subset_by_index: Any
) -> Any:
    a, b = (*at.args, None)[:2]
    part = _window(a.shape[-1], subset_by_index)
    m, _ = _inner(a, b, lower, type)
    return _basis(at, m, eigvals_only, part, own=b is None)


def _eigh_check(at: At, dy: Any, wanted: Any) -> Any:
    return one_phase("eigh", at, dy, wanted)


def _eigh_shape(
    a: Any,
    b: Any = None,
    *,
    lower: Any = True,
    eigvals_only: Any = False,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    type: Any = 1,
    check_finite: Any = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    _refuse_by_value("eigh", subset_by_value)
    *loop, n = a.shape[:-1]
    count = len(range(n)[_window(n, subset_by_index)])
    dtype = dtype_of(a, b)
    w = Shape((*loop, count), real_of(dtype))
    return w if eigvals_only else (w, Shape((*loop, n, count), dtype))


eigh = declare(
    _sp.eigh,
    _eigh_step,
    count=2,
    out=_eigh_shape,
    check=_eigh_check,
    prepare=_eigh_basis,
)


def _eigvalsh_step(
    at: At,
    a: Any,
    b: Any,
    lower: Any,
    type: Any,
    subset_by_index: Any,
    subset_by_value: Any,
) -> Any:
    _refuse_by_value("eigvalsh", subset_by_value)
    m, _ = _inner(a, b, lower, type)
    return _values("eigvalsh", m, _window(a.shape[-1], subset_by_index))


def _eigvalsh_shape(a: Any, b: Any = None, **options: Any) -> Any:
    return _eigh_shape(a, b, eigvals_only=True, **options)


eigvalsh = declare(_sp.eigvalsh, _eigvalsh_step, count=2, out=_eigvalsh_shape)


# Bands


def _selected(f: str, n: int, select: Any, select_range: Any) -> slice:
    if select in ("v", 1, "value"):
        _refuse_by_value(f, select_range)
    by_index = select in ("i", 2, "index")
    return _window(n, select_range) if by_index else slice(None)


def _banded(ab: Any, lower: Any) -> Any:
    full = full_of_band(ab, 0 if lower else ab.shape[-2] - 1)
    return hermitian(full, lower=lower)


def _eig_banded_step(
    at: At,
    a_band: Any,
    lower: Any,
    eigvals_only: Any,
    select: Any,
    select_range: Any,
) -> Any:
    m = _banded(a_band, lower)
    part = _selected("eig_banded", m.shape[-1], select, select_range)
    if eigvals_only:
        return _values("eig_banded", m, part)
    return _pairs("eig_banded", at, m, _same, part)


def _eig_banded_basis(
    at: At, lower: Any, eigvals_only: Any, select: Any, select_range: Any
) -> Any:
    m = _banded(at.args[0], lower)
    part = _selected("eig_banded", m.shape[-1], select, select_range)
    return _basis(at, m, eigvals_only, part, own=True)


def _eig_banded_check(at: At, dy: Any, wanted: Any) -> Any:
    return one_phase("eig_banded", at, dy, wanted)


def _pair_shape(n: int, part: slice, dtype: Any, eigvals_only: Any) -> Any:
    count = len(range(n)[part])
    w = Shape((count,), real_of(dtype))
    return w if eigvals_only else (w, Shape((n, count), dtype))


def _eig_banded_shape(
    a_band: Any,
    lower: Any = False,
    eigvals_only: Any = False,
    overwrite_a_band: Any = False,
    select: Any = "a",
    select_range: Any = None,
    max_ev: Any = 0,
    check_finite: Any = True,
) -> Any:
    n = a_band.shape[-1]
    part = _selected("eig_banded", n, select, select_range)
    return _pair_shape(n, part, dtype_of(a_band), eigvals_only)


eig_banded = declare(
    _sp.eig_banded,
    _eig_banded_step,
    out=_eig_banded_shape,
    check=_eig_banded_check,
    prepare=_eig_banded_basis,
)


def _eigvals_banded_step(
    at: At, a_band: Any, lower: Any, select: Any, select_range: Any
) -> Any:
    m = _banded(a_band, lower)
    part = _selected("eigvals_banded", m.shape[-1], select, select_range)
    return _values("eigvals_banded", m, part)


def _eigvals_banded_shape(
    a_band: Any,
    lower: Any = False,
    overwrite_a_band: Any = False,
    select: Any = "a",
    select_range: Any = None,
    check_finite: Any = True,
) -> Any:
    n = a_band.shape[-1]
    part = _selected("eigvals_banded", n, select, select_range)
    return _pair_shape(n, part, dtype_of(a_band), eigvals_only=True)


eigvals_banded = declare(
    _sp.eigvals_banded, _eigvals_banded_step, out=_eigvals_banded_shape
)


def _tridiagonal(d: Any, e: Any) -> Any:
    band = concat([e, 0 * d[..., :1]], -1)
    xp = rc.array_namespace(d, e)
    return _banded(xp.stack([d, band]), lower=True)


def _tridiagonal_step(
    at: At, d: Any, e: Any, eigvals_only: Any, select: Any, select_range: Any
) -> Any:
    m = _tridiagonal(d, e)
    part = _selected("eigh_tridiagonal", m.shape[-1], select, select_range)
    if eigvals_only:
        return _values("eigh_tridiagonal", m, part)
    return _pairs("eigh_tridiagonal", at, m, _same, part)


def _tridiagonal_basis(
    at: At, eigvals_only: Any, select: Any, select_range: Any
) -> Any:
    m = _tridiagonal(*at.args)
    part = _selected("eigh_tridiagonal", m.shape[-1], select, select_range)
    return _basis(at, m, eigvals_only, part, own=True)


def _tridiagonal_shape(
    d: Any,
    e: Any,
    eigvals_only: Any = False,
    select: Any = "a",
    select_range: Any = None,
    *_args: Any,
    **_kw: Any,
) -> Any:
    n = d.shape[-1]
    part = _selected("eigh_tridiagonal", n, select, select_range)
    return _pair_shape(n, part, dtype_of(d, e), eigvals_only)


eigh_tridiagonal = declare(
    _sp.eigh_tridiagonal,
    _tridiagonal_step,
    count=2,
    out=_tridiagonal_shape,
    prepare=_tridiagonal_basis,
)


def _tridiagonal_values_step(
    at: At, d: Any, e: Any, select: Any, select_range: Any
) -> Any:
    m = _tridiagonal(d, e)
    part = _selected("eigvalsh_tridiagonal", m.shape[-1], select, select_range)
    return _values("eigvalsh_tridiagonal", m, part)


def _tridiagonal_values_shape(
    d: Any, e: Any, select: Any = "a", select_range: Any = None, *_a: Any, **_kw: Any
) -> Any:
    return _tridiagonal_shape(d, e, True, select, select_range)


eigvalsh_tridiagonal = declare(
    _sp.eigvalsh_tridiagonal,
    _tridiagonal_values_step,
    count=2,
    out=_tridiagonal_values_shape,
)
