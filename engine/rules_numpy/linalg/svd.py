"""The singular value decomposition."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

import rules_core as rc
from rules_numpy._declare.derivative import derivative

from .decompositions import fold, unfold
from .equal_values import (
    antihermitian,
    block_of,
    diagonal_matrix,
    diagonal_of,
    equal_groups,
    over_gaps,
    refuse_choice,
    refuse_phase,
    refuse_split,
    sees_turn,
    share,
    tied,
)
from .free_turns import free_side
from .general_position import svd_in_general, svd_values
from .products import adjoint

__all__: list[str] = []


class _Factors:
    """a = U S Vᴴ with k = min(m, n) singular values.

    Attributes:
        whole_u, whole_v: The vectors on either side.
        u, v: The first k of them.
        more_u, more_v: The others, of a full decomposition.
        null: Where s is zero.
        groups: Pairs of equal values.
        over: 1 / (sⱼ - sᵢ), zero within groups.
        across: 1 / (sⱼ + sᵢ), zero where both are.
        under: 1 / s, zero where s is zero.
    """

    def __init__(self, a: Any, u: Any, s: Any, vh: Any) -> None:
        k = s.shape[-1]
        v = adjoint(vh)
        self.whole_u, self.whole_v = u, v
        self.u, self.more_u = u[..., :k], u[..., k:]
        self.s, self.v, self.more_v = s, v[..., :k], v[..., k:]
        self.groups, self.null, both = _ties(s)
        self.over = over_gaps(s, self.groups)
        total = np.expand_dims(s, -2) + np.expand_dims(s, -1)
        self.across = np.where(both, 0.0, 1.0 / np.where(both, 1.0, total))
        self.under = np.where(self.null, 0.0, 1.0 / np.where(self.null, 1.0, s))
        self.is_complex = u.dtype.kind == "c"
        # A real square matrix with one zero: sign(s) s is smooth there.
        alone = np.sum(self.null, axis=-1, keepdims=True) == 1
        smooth = a.shape[-2] == a.shape[-1] and not self.is_complex
        self.open = self.null & ~(alone & smooth)

    def off(self, basis: Any, m: Any) -> Any:
        """(I - basis basisᴴ) m."""
        return m - np.matmul(basis, np.matmul(adjoint(basis), m))


def _ties(s: Any) -> tuple[Any, Any, Any]:
    """Pairs of equal singular values, the zeros among them, and pairs of zeros.

    A zero is one that equals its negative.
    """
    k = s.shape[-1]
    signed = equal_groups("svd", np.concatenate([s, -s], axis=-1))
    both = signed[..., :k, k:]
    return signed[..., :k, :k], diagonal_of(both), both


def _of_hermitian(y: Any, a: Any, compute_uv: Any) -> Any:
    """NumPy reads the lower triangle, and has no right vector of a zero."""
    if compute_uv and np.any(_ties(y[1])[1]):
        message = (
            "the derivative of numpy.linalg.svd with hermitian=True must be taken "
            "where no singular value is zero, but got one. Use hermitian=False."
        )
        raise rc.UnsupportedError(message)
    push, pull = svd_derivative(y, unfold(a, "L"), True, compute_uv)

    def svd_pushforward(da: Any) -> Any:
        return push(unfold(da, "L"))

    def svd_pullback(dy: Any) -> Any:
        return fold(pull(dy), "L")

    return svd_pushforward, svd_pullback


@derivative(np.linalg.svd, symbolic=True, reverse=(svd_in_general, svd_values))
def svd_derivative(
    y: Any,
    a: Any,
    full_matrices: Any = True,
    compute_uv: Any = True,
    hermitian: Any = False,
) -> Any:
    """With Uᴴ da V = H + K, Hermitian and not: ds = diag(H), dU = U (F ∘ H + E ∘ K).

    dV = V (F ∘ H - E ∘ K), with F = 1 / (sⱼ - sᵢ) and E = 1 / (sⱼ + sᵢ), and what
    leaves the span of either. After Townsend, Differentiating the singular value
    decomposition, 2016.
    """
    if hermitian:
        return _of_hermitian(y, a, compute_uv)
    if not compute_uv:
        return _values_only(a, y)
    f = _Factors(a, *y)

    def svd_pushforward(da: Any) -> Any:
        return _pushed(f, da)

    def svd_pullback(dy: Any) -> Any:
        du, ds, dvh = (None if isinstance(d, rc.AbstractZero) else d for d in dy)
        ds = np.zeros_like(f.s) if ds is None else ds
        if du is None and dvh is None:
            return _values_back(f.u, adjoint(f.v), f.groups, f.null, ds)
        du = np.zeros_like(y[0]) if du is None else du
        dvh = np.zeros_like(y[2]) if dvh is None else dvh
        return _pulled(f, du, ds, dvh)

    return svd_pushforward, svd_pullback


def _values_back(u: Any, vh: Any, groups: Any, null: Any, ds: Any) -> Any:
    moved = np.where(null, 0.0, share(ds, groups))
    return np.matmul(u * np.expand_dims(moved, -2), vh)


def _values_only(a: Any, s: Any) -> Any:
    """Equal values share; a zero is a symmetric kink."""
    groups, null, _ = _ties(s)
    u, _, vh = np.linalg.svd(a, full_matrices=False)

    def values_pushforward(da: Any) -> Any:
        terms = np.conjugate(u) * np.matmul(da, adjoint(vh))
        return np.where(null, 0.0, share(np.real(np.sum(terms, axis=-2)), groups))

    def values_pullback(ds: Any) -> Any:
        return _values_back(u, vh, groups, null, ds)

    return values_pushforward, values_pullback


if hasattr(np.linalg, "svdvals"):

    @derivative(np.linalg.svdvals)
    def svdvals_derivative(y: Any, x: Any, /) -> Any:
        """As `svd` with `compute_uv=False`."""
        return _values_only(x, y)


def _pushed(f: _Factors, da: Any) -> Any:
    dav, dau = np.matmul(da, f.v), np.matmul(adjoint(da), f.u)
    p = np.matmul(adjoint(f.u), dav)
    k = antihermitian(p)
    h = p - k
    out_u, out_v = f.off(f.u, dav), f.off(f.v, dau)
    _check_pushed(f, h, p, out_u, out_v)
    turn, twist = f.over * h, f.across * k
    under = np.expand_dims(f.under, -2)
    out_u, out_v = out_u * under, out_v * under
    du = np.matmul(f.u, turn + twist) + out_u
    dv = np.matmul(f.v, turn - twist) + out_v
    if f.more_u.shape[-1]:
        more = -np.matmul(f.u, np.matmul(adjoint(out_u), f.more_u))
        du = np.concatenate([du, more], axis=-1)
    if f.more_v.shape[-1]:
        more = -np.matmul(f.v, np.matmul(adjoint(out_v), f.more_v))
        dv = np.concatenate([dv, more], axis=-1)
    alive = f.groups & ~np.expand_dims(f.null, -1)
    free_u, free_v = (
        free_side(side, alive, f.null, da, f.s, seed)
        for seed, side in enumerate((f.whole_u, f.whole_v), start=32)
    )
    return du + free_u, np.real(diagonal_of(p)), adjoint(dv + free_v)


def _check_pushed(f: _Factors, h: Any, p: Any, out_u: Any, out_v: Any) -> None:
    """A zero singular value must stay zero, except a single one of a real matrix."""
    refuse_split("svd", h, f.groups, p)
    if not np.any(f.open):
        return
    column = np.expand_dims(f.open, -2)
    inner = np.where(column & np.expand_dims(f.open, -1), p, 0.0)
    parts = [inner, np.where(column, out_u, 0.0), np.where(column, out_v, 0.0)]
    largest = max(np.max(np.abs(part), initial=0.0) for part in parts)
    tiny = np.sqrt(np.finfo(p.dtype).eps)
    if largest > tiny * np.max(np.abs(p), initial=0.0):
        _refuse_kink("svd")


def _pulled(f: _Factors, du: Any, ds: Any, dvh: Any) -> Any:
    k, dv = f.s.shape[-1], adjoint(dvh)
    du1, dv1 = du[..., :k], dv[..., :k]
    x, y = np.matmul(adjoint(f.u), du1), np.matmul(adjoint(f.v), dv1)
    out_u = f.off(f.u, du1) - _crossed(f.u, f.more_u, du[..., k:])
    out_v = f.off(f.v, dv1) - _crossed(f.v, f.more_v, dv[..., k:])
    _refuse_further(f.more_u, du[..., k:])
    _refuse_further(f.more_v, dv[..., k:])
    tied_part = _tied_part(f, ds, x, y, (out_u, out_v))
    inner = f.over * antihermitian(x + y) + f.across * antihermitian(x - y)
    inner = inner + diagonal_matrix(ds) + tied_part
    under = np.expand_dims(f.under, -2)
    total = np.matmul(np.matmul(f.u, inner) + out_u * under, adjoint(f.v))
    return total + np.matmul(f.u, adjoint(out_v * under))


def _tied_part(f: _Factors, ds: Any, x: Any, y: Any, out: Any) -> Any:
    """The cotangent of the blocks of equal values off their diagonal, or an error."""
    both, size = x + y, [np.max(np.abs(m), initial=0.0) for m in (x, y)]
    if f.is_complex:
        refuse_phase("svd", np.imag(diagonal_of(both)), size)
    if not (tied(f.groups) or np.any(f.null)):
        return 0.0
    refuse_choice("svd", (np.where(f.groups, antihermitian(both), 0.0), size))
    block = block_of("svd", f.s, ds, both, f.groups)
    if np.any(f.open):
        column = np.expand_dims(f.open, -2)
        for part in (antihermitian(x), antihermitian(y)):
            zeros = column & np.expand_dims(f.open, -1)
            refuse_choice("svd", (np.where(zeros, part, 0.0), size))
        for part in out:
            refuse_choice("svd", (np.where(column, part, 0.0), size))
        if np.any(ds[f.open] != 0):
            _refuse_kink("svd")
    return block


def _refuse_further(more: Any, dmore: Any) -> None:
    """The further vectors are determined up to a rotation, even if no values are equal.

    Raises:
        UnsupportedError: The function sees which ones they are.
    """
    inner = np.matmul(adjoint(more), dmore)
    if sees_turn(antihermitian(inner), inner):
        message = (
            "the derivative of numpy.linalg.svd must be wanted of vectors that the "
            "matrix determines, but got a function that depends on the choice of the "
            "further ones of a full decomposition, which are determined up to a "
            "rotation. Use full_matrices=False, or their projector."
        )
        raise rc.UnsupportedError(message)


def _refuse_kink(f: str) -> NoReturn:
    message = (
        f"the derivative of numpy.linalg.{f} must be taken where no singular value is "
        "zero, or of what does not move with it, but got a zero one that moves: its "
        "vectors do not determine how. Use svdvals, or numpy.linalg.pinv and norm."
    )
    raise rc.UnsupportedError(message)


def _crossed(basis: Any, more: Any, dmore: Any) -> Any:
    """The effect of a rotation of the first k vectors on those after the k-th."""
    if not more.shape[-1]:
        return 0.0
    return np.matmul(more, np.matmul(adjoint(dmore), basis))
