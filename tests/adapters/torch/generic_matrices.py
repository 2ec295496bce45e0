"""Generic rules of products, reductions and linear algebra; see `generic_rules`."""

from __future__ import annotations

from typing import Any

import rules_core as rc

from .generic_fourier import generic
from .generic_rules import NONE, conj, place, space, spread

__all__ = ["generic"]


def adjoint(x: Any) -> Any:
    return conj(space(x).matrix_transpose(x))


# -- products --------------------------------------------------------------------------


def matmul_body(a, b):
    return space(a, b).matmul(a, b)


matmul = place("matmul", matmul_body)


def matmul_pullback(a, b, dy):
    """Vectors are matrices with one row or column."""
    xp = space(a, b)
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    if b.ndim == 1:
        dy = xp.expand_dims(dy, axis=-1)
    if a.ndim == 1:
        dy = xp.expand_dims(dy, axis=-2)
    da, db = matmul(dy, adjoint(right)), matmul(adjoint(left), dy)
    if a.ndim == 1:
        da = xp.sum(da, axis=tuple(range(da.ndim - 1)))
    if b.ndim == 1:
        db = xp.sum(xp.moveaxis(db, -1, 0), axis=tuple(range(db.ndim - 1)))
    return NONE, da, db


@rc.rrule.define(matmul)
def matmul_rrule(a, b):
    return matmul(a, b), rc.Pullback(matmul_pullback, a, b)


@rc.frule.define(matmul)
def matmul_frule(tangents, a, b):
    return matmul(a, b), matmul(tangents[1], b) + matmul(a, tangents[2])


def outer_body(a, b):
    return space(a, b).linalg.outer(a, b)


outer = place("outer", outer_body)


@rc.rrule.define(outer)
def outer_rrule(a, b):
    def outer_pullback(dy):
        return (
            NONE,
            matmul(dy, conj(b)),
            matmul(space(dy).matrix_transpose(dy), conj(a)),
        )

    return outer(a, b), outer_pullback


def vecdot_body(a, b, *, axis=-1):
    return space(a, b).linalg.vecdot(a, b, axis=axis)


vecdot = place("linalg.vecdot", vecdot_body)


@rc.rrule.define(vecdot)
def vecdot_rrule(a, b, *, axis=-1):
    def vecdot_pullback(dy):
        wide = space(dy).expand_dims(dy, axis=axis)
        return NONE, b * conj(wide), a * wide

    return vecdot(a, b, axis=axis), vecdot_pullback


def tensordot_body(a, b, *, axes=2):
    return space(a, b).tensordot(a, b, axes=int(axes))  # no lists of axes


tensordot = place("tensordot", tensordot_body)


@rc.rrule.define(tensordot)
def tensordot_rrule(a, b, *, axes=2):
    free_a, free_b = a.ndim - axes, b.ndim - axes

    def tensordot_pullback(dy):
        xp = space(dy)
        own = (tuple(range(free_a, free_a + free_b)), tuple(range(axes, b.ndim)))
        da = xp.tensordot(dy, conj(b), axes=own)
        db = xp.tensordot(
            conj(a), dy, axes=(tuple(range(free_a)), tuple(range(free_a)))
        )
        return NONE, da, db

    return tensordot(a, b, axes=axes), tensordot_pullback


# -- reductions ------------------------------------------------------------------------


def extreme(name: str) -> None:
    def body(x, *, axis=None, keepdims=False):
        return getattr(space(x), name)(x, axis=axis, keepdims=keepdims)

    handle = place(name, body)

    @rc.rrule.define(handle)
    def extreme_rrule(x, *, axis=None, keepdims=False):
        xp = space(x)
        y = handle(x, axis=axis, keepdims=keepdims)
        hit = xp.astype(x == spread(y, x, axis, keepdims), x.dtype)
        hit = hit / xp.sum(hit, axis=axis, keepdims=True)

        def extreme_pullback(dy):
            return NONE, hit * spread(dy, x, axis, keepdims)

        return y, extreme_pullback


extreme("max")
extreme("min")


def var_body(x, *, axis=None, correction=0.0, keepdims=False):
    xp = space(x)
    far = x - xp.mean(x, axis=axis, keepdims=True)
    total = xp.sum(xp.abs(far) ** 2, axis=axis, keepdims=keepdims)
    return total / (x.numel() / max(total.numel(), 1) - correction)


var = place("var", var_body)


@rc.rrule.define(var)
def var_rrule(x, *, axis=None, correction=0.0, keepdims=False):
    xp = space(x)
    y = var(x, axis=axis, correction=correction, keepdims=keepdims)
    count = x.numel() / max(y.numel(), 1) - correction

    def var_pullback(dy):
        far = x - xp.mean(x, axis=axis, keepdims=True)
        return NONE, 2 * far / count * spread(dy, x, axis, keepdims)

    return y, var_pullback


def std_body(x, *, axis=None, correction=0.0, keepdims=False):
    return space(x).sqrt(
        var_body(x, axis=axis, correction=correction, keepdims=keepdims)
    )


std = place("std", std_body)


@rc.rrule.define(std)
def std_rrule(x, *, axis=None, correction=0.0, keepdims=False):
    given = {"axis": axis, "correction": correction, "keepdims": keepdims}
    y = std(x, **given)
    _, pullback = var_rrule(x, **given)

    def std_pullback(dy):
        return pullback(dy / (2 * y))

    return y, std_pullback


def clip_body(x, low, high):
    return space(x).clip(x, low, high)


clip = place("clip", clip_body)


@rc.rrule.define(clip)
def clip_rrule(x, low, high):
    xp = space(x)
    below = False if low is None else x < low
    above = False if high is None else x > high
    if low is not None and high is not None:
        above = above | (low > high)  # then the upper bound holds
        below = below & ~above

    def clip_pullback(dy):
        zero = xp.zeros_like(dy)
        inside = xp.where(below | above, zero, dy)
        lower = NONE if low is None else xp.where(below, dy, zero)
        upper = NONE if high is None else xp.where(above, dy, zero)
        return NONE, inside, lower, upper

    return clip(x, low, high), clip_pullback


# -- linear algebra --------------------------------------------------------------------


def named(name: str) -> Any:
    def body(x):
        return getattr(space(x).linalg, name)(x)

    return place(f"linalg.{name}", body)


inv, det = named("inv"), named("det")


@rc.rrule.define(inv)
def inv_rrule(x):
    y = inv(x)

    def inv_pullback(dy):
        h = adjoint(y)
        return NONE, -matmul(matmul(h, dy), h)

    return y, inv_pullback


@rc.rrule.define(det)
def det_rrule(x):
    y = det(x)

    def det_pullback(dy):
        scale = dy * conj(y)
        return NONE, scale[..., None, None] * adjoint(inv(x))

    return y, det_pullback


def solve_body(a, b):
    return space(a, b).linalg.solve(a, b)


solve = place("linalg.solve", solve_body)


@rc.rrule.define(solve)
def solve_rrule(a, b):
    y = solve(a, b)

    def solve_pullback(dy):
        db = solve(adjoint(a), dy)
        if b.ndim == 1:
            return NONE, -db[..., :, None] * conj(y)[..., None, :], db
        return NONE, -matmul(db, adjoint(y)), db

    return y, solve_pullback


def cholesky_body(x, *, upper=False):
    return space(x).linalg.cholesky(x, upper=upper)


cholesky = place("linalg.cholesky", cholesky_body)


@rc.rrule.define(cholesky)
def cholesky_rrule(x, *, upper=False):
    """Murray, Differentiation of the Cholesky decomposition, 2016."""
    xp = space(x)
    y = cholesky(x, upper=upper)

    def cholesky_pullback(dy):
        factor = adjoint(y) if upper else y
        seed = adjoint(dy) if upper else dy
        inner = xp.tril(matmul(adjoint(factor), seed))
        inner = inner - 0.5 * inner * xp.eye(x.shape[-1], dtype=inner.dtype)
        back = inv(factor)
        full = matmul(matmul(adjoint(back), inner), back)
        return NONE, 0.5 * (full + adjoint(full))

    return y, cholesky_pullback


def eigvalsh_body(x, *, UPLO="L"):
    return space(x).linalg.eigvalsh(x)


eigvalsh = place("linalg.eigvalsh", eigvalsh_body)


@rc.rrule.define(eigvalsh)
def eigvalsh_rrule(x, *, UPLO="L"):
    w, v = space(x).linalg.eigh(x)

    def eigvalsh_pullback(dw):
        return NONE, matmul(v * dw[..., None, :], adjoint(v))

    return w, eigvalsh_pullback
