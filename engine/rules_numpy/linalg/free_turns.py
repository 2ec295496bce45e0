"""Tangents of vectors that the matrix determines only up to a rotation.

Of equal values, or of no value (the further vectors of a full decomposition), each
tangent of the vectors is as good as another that turns them among themselves. A
function that does not see the turn has a derivative, any other has none, and a forward
rule sees nothing of the function. So an AD system that can run the program twice
compares two such tangents (`CHOSEN.turn`); for any other the tangent is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_core.extend import CHOSEN

from .equal_values import antihermitian
from .general_position import some_matrix

__all__ = ["free_turn", "free_side"]


def _drawn(shape: tuple[int, int], seed: int, dtype: Any) -> Any:
    some = some_matrix(max(shape), seed)[: shape[0], : shape[1]]
    return np.asarray(some if dtype.kind == "c" else some.real, dtype)


def _off_diagonal(pairs: Any) -> Any:
    return pairs & ~np.eye(pairs.shape[-1], dtype=bool)


def _rate(turn: float, da: Any, w: Any) -> Any:
    """The speed of a turn: of the size of those that the tangent makes."""
    size = np.max(np.abs(w), initial=0.0)
    return turn * np.max(np.abs(da), initial=0.0) / (size or 1.0)


def free_turn(pairs: Any, da: Any, w: Any, v: Any, *, unitary: bool = True) -> Any:
    """What can be added to Vᴴ dV, or V⁻¹ dV, or None.

    Args:
        pairs: The pairs of vectors that may turn into each other.
        da: The tangent of the matrix.
        w: The values.
        v: The vectors.
        unitary: Whether the vectors are orthogonal, and only the phase is free of one.
    """
    phases = unitary and v.dtype.kind == "c"
    several = _off_diagonal(pairs)
    if not np.any(da) or not (phases or np.any(several)):
        return None
    if CHOSEN.turn is None:
        CHOSEN.tangents += bool(np.any(several))
        return np.where(several, np.nan, 0.0)
    CHOSEN.tangents += 1
    some = _drawn(pairs.shape[-2:], 31, v.dtype)
    omega = antihermitian(some) if unitary else some
    return _rate(CHOSEN.turn, da, w) * np.where(pairs, omega, 0.0)


def free_side(side: Any, alive: Any, null: Any, da: Any, s: Any, seed: int) -> Any:
    """What can be added to the tangent of one side of a singular value decomposition.

    Args:
        side: The vectors: those of the singular values, and the further ones.
        alive: Pairs of equal singular values other than zero: both sides turn alike.
        null: Which are zero: either side turns by itself, with the further vectors.
        da: The tangent of the matrix.
        s: The singular values.
        seed: A number of this side.
    """
    k, count = null.shape[-1], side.shape[-1]
    rest = np.ones((*null.shape[:-1], count - k), bool)
    zero = np.concatenate([null, rest], axis=-1)
    none = np.expand_dims(zero, -1) & np.expand_dims(zero, -2)
    both = np.zeros_like(none)
    both[..., :k, :k] = alive
    outside = np.expand_dims(zero, -2) & (side.shape[-2] > count)
    several = np.any(_off_diagonal(none | both), axis=-2, keepdims=True) | outside
    phases = side.dtype.kind == "c"
    if not np.any(da) or not (phases or np.any(several)):
        return 0.0
    if CHOSEN.turn is None:
        CHOSEN.tangents += bool(np.any(several))
        return np.where(several, np.nan, 0.0)
    CHOSEN.tangents += 1
    own, shared = (
        antihermitian(_drawn((count, count), number, side.dtype))
        for number in (seed, 31)
    )
    inner = np.matmul(side, np.where(none, own, np.where(both, shared, 0.0)))
    some = _drawn(side.shape[-2:], seed, side.dtype)
    away = some - np.matmul(side, np.matmul(np.conjugate(side).mT, some))
    return _rate(CHOSEN.turn, da, s) * (inner + np.where(outside, away, 0.0))
