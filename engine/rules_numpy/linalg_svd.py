"""The singular value decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare import derivative
from rules_numpy.linalg_decompositions import (
    diagonal_matrix,
    diagonal_of,
    equal_groups,
    refuse_mixture,
    refuse_phase,
    share,
)
from rules_numpy.linalg_products import adjoint

__all__: list[str] = []


class _Factors:
    """a = U S Vᴴ with k = min(m, n) singular values.

    Attributes:
        u, v: The first k vectors on either side.
        more_u, more_v: The others, of a full decomposition.
        over: 1 / (sⱼ² - sᵢ²), zero within groups of equal values.
        under: 1 / s, zero where s is zero.
    """

    def __init__(self, u: Any, s: Any, vh: Any) -> None:
        k = s.shape[-1]
        v = adjoint(vh)
        self.u, self.more_u = u[..., :k], u[..., k:]
        self.s, self.v, self.more_v = s, v[..., :k], v[..., k:]
        self.groups = equal_groups(s)
        squares = s * s
        gap = np.expand_dims(squares, -2) - np.expand_dims(squares, -1)
        self.over = np.where(self.groups, 0.0, 1.0 / np.where(self.groups, 1.0, gap))
        size = np.max(s, axis=-1, keepdims=True, initial=0.0)
        null = s <= 8 * k * np.finfo(s.dtype).eps * size
        self.under = np.where(null, 0.0, 1.0 / np.where(null, 1.0, s))
        self.is_complex = u.dtype.kind == "c"

    def off(self, basis: Any, m: Any) -> Any:
        """(I - basis basisᴴ) m."""
        return m - np.matmul(basis, np.matmul(adjoint(basis), m))


def _checked(a: Any, hermitian: Any) -> None:
    if hermitian is True:
        message = (
            "the derivative of numpy.linalg.svd must be taken with hermitian=False, "
            "but got True. Use numpy.linalg.eigh."
        )
        raise rc.UnsupportedError(message)


@derivative(np.linalg.svd)
def svd_derivative(
    y: Any,
    a: Any,
    full_matrices: Any = True,
    compute_uv: Any = True,
    hermitian: Any = False,
) -> Any:
    """With P = Uᴴ da V: ds = Re diag(P), U turns by F ∘ (P S + S Pᴴ), V likewise.

    Townsend, Differentiating the singular value decomposition, 2016.
    """
    _checked(a, hermitian)
    if not compute_uv:
        return _values_only(a, y)
    f = _Factors(*y)

    def svd_pushforward(da: Any) -> Any:
        return _pushed(f, da)

    def svd_pullback(dy: Any) -> Any:
        return _pulled(f, *dy)

    return svd_pushforward, svd_pullback


def _values_only(a: Any, s: Any) -> Any:
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    groups = equal_groups(s)

    def values_pushforward(da: Any) -> Any:
        terms = np.conjugate(u) * np.matmul(da, adjoint(vh))
        return share(np.real(np.sum(terms, axis=-2)), groups)

    def values_pullback(ds: Any) -> Any:
        return np.matmul(u * np.expand_dims(share(ds, groups), -2), vh)

    return values_pushforward, values_pullback


if hasattr(np.linalg, "svdvals"):

    @derivative(np.linalg.svdvals)
    def svdvals_derivative(y: Any, x: Any, /) -> Any:
        """As `svd` with `compute_uv=False`."""
        return _values_only(x, y)


def _pushed(f: _Factors, da: Any) -> Any:
    row = np.expand_dims(f.s, -2)
    p = np.matmul(adjoint(f.u), np.matmul(da, f.v))
    ps, sp = p * row, p * np.expand_dims(f.s, -1)
    turn_u = f.over * (ps + adjoint(ps))
    turn_v = f.over * (sp + adjoint(sp))
    if f.is_complex:
        twist = 0.5j * diagonal_matrix(np.imag(diagonal_of(p)) * f.under)
        turn_u, turn_v = turn_u + twist, turn_v - twist
    under = np.expand_dims(f.under, -2)
    out_u = f.off(f.u, np.matmul(da, f.v)) * under
    out_v = f.off(f.v, np.matmul(adjoint(da), f.u)) * under
    du, dv = np.matmul(f.u, turn_u) + out_u, np.matmul(f.v, turn_v) + out_v
    if f.more_u.shape[-1]:
        more = -np.matmul(f.u, np.matmul(adjoint(out_u), f.more_u))
        du = np.concatenate([du, more], axis=-1)
    if f.more_v.shape[-1]:
        more = -np.matmul(f.v, np.matmul(adjoint(out_v), f.more_v))
        dv = np.concatenate([dv, more], axis=-1)
    return du, share(np.real(diagonal_of(p)), f.groups), adjoint(dv)


def _pulled(f: _Factors, du: Any, ds: Any, dvh: Any) -> Any:
    shared = share(ds, f.groups)
    refuse_mixture("svd", ds, shared, np.sum(np.abs(du)) + np.sum(np.abs(dvh)))
    k, dv = f.s.shape[-1], adjoint(dvh)
    du1, dv1 = du[..., :k], dv[..., :k]
    x, y = np.matmul(adjoint(f.u), du1), np.matmul(adjoint(f.v), dv1)
    row, column = np.expand_dims(f.s, -2), np.expand_dims(f.s, -1)
    inner = diagonal_matrix(shared) + f.over * (x - adjoint(x)) * row
    inner = inner + column * (f.over * (y - adjoint(y)))
    if f.is_complex:
        turn = np.imag(diagonal_of(x) + diagonal_of(y))
        refuse_phase("svd", turn, [np.max(np.abs(x)), np.max(np.abs(y))])
        twist = 0.5j * np.imag(diagonal_of(x) - diagonal_of(y)) * f.under
        inner = inner + diagonal_matrix(twist)
    under = np.expand_dims(f.under, -2)
    out_u = f.off(f.u, du1) - _crossed(f.u, f.more_u, du[..., k:])
    out_v = f.off(f.v, dv1) - _crossed(f.v, f.more_v, dv[..., k:])
    total = np.matmul(np.matmul(f.u, inner) + out_u * under, adjoint(f.v))
    return total + np.matmul(f.u, adjoint(out_v * under))


def _crossed(basis: Any, more: Any, dmore: Any) -> Any:
    """How the vectors beyond the k-th answer to a turn of the first k."""
    if not more.shape[-1]:
        return 0.0
    return np.matmul(more, np.matmul(adjoint(dmore), basis))
