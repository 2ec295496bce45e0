"""Vectors of equal values in general position, for the rrules.

Of the cotangent G of a block of equal values, dw shows the diagonal in the basis of
the vectors alone. LAPACK likes the axes: the diagonal of a G that is all off the
diagonal is zero there, and a derivative would be lost without a trace. In a basis that
knows nothing of the program, G has equal diagonal entries if it is a multiple of one,
and else not.

If the vectors are unused G is dw in any basis: `eigh_values` and similar functions
decide this.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import rules_core as rc
from rules_core.extend import CHOSEN

from .equal_values import equal_groups, refuse_unknown_block, tied
from .products import adjoint

__all__ = [
    "eig_in_general",
    "eig_values",
    "eigh_in_general",
    "eigh_values",
    "some_matrix",
    "svd_in_general",
    "svd_values",
    "turn_of",
]


@lru_cache(maxsize=64)
def some_matrix(n: int, seed: int) -> Any:
    """One fixed matrix: a forward pass may be repeated."""
    parts = np.random.default_rng(seed).normal(size=(2, n, n))
    matrix = parts[0] + 1j * parts[1]
    matrix.flags.writeable = False
    return matrix


def turn_of(mixed: Any, dtype: Any, seed: int = 22) -> Any:
    """A unitary matrix that mixes the given pairs of vectors and no others."""
    some = some_matrix(mixed.shape[-1], seed)
    some = np.asarray(some if dtype.kind == "c" else some.real, dtype)
    turn, _ = np.linalg.qr(np.where(mixed, some, dtype.type(0)))
    CHOSEN.count += 1
    return np.where(_any(mixed), turn, np.eye(len(some), dtype=dtype))


def _any(mixed: Any) -> Any:
    rows = np.any(mixed, axis=-1)
    return np.expand_dims(rows, -1) | np.expand_dims(rows, -2)


def _several(groups: Any) -> Any:
    """The pairs of groups of more than one."""
    return groups & np.expand_dims(np.sum(groups, axis=-1) > 1, -1)


def eigh_in_general(eigh: Any, *args: Any, **kw: Any) -> Any:
    """`numpy.linalg.eigh`, the vectors of equal values in general position."""
    result = eigh(*args, **kw)
    groups = equal_groups("eigh", result[0])
    if not tied(groups):
        return result
    vectors = result[1] @ turn_of(_several(groups), result[1].dtype)
    return type(result)(result[0], vectors)


def eig_in_general(eig: Any, *args: Any, **kw: Any) -> Any:
    """`numpy.linalg.eig`, the vectors of equal values in general position.

    As LAPACK's: of length one, the largest entry real. They are deliberately not
    orthogonal: for a skew G, orthogonal ones would show a zero diagonal.
    """
    result = eig(*args, **kw)
    groups = equal_groups("eig", result[0])
    if not tied(groups):
        return result
    mixed = _several(groups)
    v = result[1] @ turn_of(mixed, result[1].dtype)
    v = v + v @ (0.5 * np.triu(turn_of(mixed, v.dtype, 23) * mixed, 1))
    v = v / np.linalg.norm(v, axis=-2, keepdims=True)
    if v.dtype.kind == "c":
        lead = np.expand_dims(np.argmax(np.abs(v), axis=-2), -2)
        top = np.take_along_axis(v, lead, -2)
        v = v * (np.conjugate(top) / np.abs(top))
    changed = np.expand_dims(np.sum(groups, axis=-1) > 1, -2)
    return type(result)(result[0], np.where(changed, v, result[1]))


def svd_in_general(svd: Any, *args: Any, **kw: Any) -> Any:
    """`numpy.linalg.svd`, the vectors of equal values in general position.

    Those of zero singular values rotate independently on either side, together with the
    vectors after the last.
    """
    result: Any = svd(*args, **kw)
    if not isinstance(result, tuple) or not result[1].size:
        return result
    u, s, vh = result
    signed = equal_groups("svd", _signed(s))
    k = s.shape[-1]
    groups, null = signed[..., :k, :k], np.diagonal(signed[..., :k, k:], 0, -2, -1)
    if not (tied(groups) or _open(null, u, vh)):
        return result
    columns = u.shape[-1], vh.shape[-2]
    if np.any(null):
        u, _, vh = np.linalg.svd(args[0])
    alive = ~np.expand_dims(null, -2) & _several(groups)
    sides = (
        _turned(side, alive, null, seed)
        for seed, side in enumerate((u, adjoint(vh)), start=1)
    )
    u, v = (x[..., :count] for x, count in zip(sides, columns, strict=True))
    make: Any = type(result)
    return make(u, s, adjoint(v))


def _open(null: Any, u: Any, vh: Any) -> bool:
    """Whether a zero has other vectors than its own two, up to their sign."""
    several = u.shape[-2] != vh.shape[-1] or u.dtype.kind == "c"
    return several and bool(np.any(null))


def _turned(side: Any, alive: Any, null: Any, seed: int) -> Any:
    """Rotate equal values as the other side does, and zeros independently."""
    k = null.shape[-1]
    turned = side[..., :k] @ turn_of(alive, side.dtype)
    side = np.concatenate([turned, side[..., k:]], axis=-1)
    rest = np.any(null, axis=-1, keepdims=True) & np.ones(side.shape[-1] - k, bool)
    zero = np.concatenate([null, rest], axis=-1)
    mixed = np.expand_dims(zero, -1) & np.expand_dims(zero, -2)
    return side @ turn_of(mixed, side.dtype, seed)


def _signed(s: Any) -> Any:
    """Singular values and their negatives: a zero is one that equals its own."""
    return np.concatenate([s, -s], axis=-1)


def _unused(*cotangents: Any) -> bool:
    """Whether a cotangent is `ZeroTangent`; an active f(A) can give arrays of zeros."""
    return all(isinstance(d, rc.AbstractZero) for d in cotangents)


def _values_alone(f: str, w: Any, dw: Any) -> None:
    """Raise an error for equal values with unequal cotangents."""
    if not _unused(dw):
        groups = equal_groups(f, w)
        refuse_unknown_block(f, dw, groups)


def eigh_values(y: Any, dy: Any) -> bool:
    """Whether the vectors are unused; an error if equal values differ."""
    alone = _unused(dy[1])
    if alone:
        _values_alone("eigh", y[0], dy[0])
    return alone


def eig_values(y: Any, dy: Any) -> bool:
    """As `eigh_values`."""
    alone = _unused(dy[1])
    if alone:
        _values_alone("eig", y[0], dy[0])
    return alone


def svd_values(y: Any, dy: Any) -> bool:
    """As `eigh_values`; a zero, which equals its negative, must be constant."""
    du, ds, dvh = dy
    alone = _unused(du, dvh)
    if alone and not _unused(ds):
        _values_alone("svd", _signed(y[1]), _signed(ds))
    return alone
