"""Sums over windows, the product that all linear filters are made of.

`window_sums(a, b)[k] = Σᵢ a[k + i] b[i]`, where the window `b` lies inside of `a`. It
is bilinear, and its adjoints are such sums again: of `a` with the cotangent as the
window, and of the cotangent, with zeros around it, with `b` turned round.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage as _sp

import rules_core as rc

from ._arrays import cast, conjugate, extended

__all__ = ["window_sums"]


def _shape(a: Any, b: Any) -> Any:
    sizes = zip(a.shape, b.shape, strict=True)
    dtype = np.result_type(a.dtype, b.dtype)
    return rc.ShapeDtype(tuple(n - m + 1 for n, m in sizes), dtype)


@rc.primitive(host=True, out=_shape)
def window_sums(a: Any, b: Any) -> Any:
    """Sums over all places of a window.

    Args:
        a: An array.
        b: The weights of a window, of as many axes and not longer.
    """
    out = _shape(a, b)
    if b.size > np.prod(out.shape):
        return _few_places(a, b, out)
    weights = np.conj(b) if np.iscomplexobj(b) else b
    whole = _sp.correlate(np.asarray(a, out.dtype), weights, mode="constant")
    starts = [m // 2 for m in b.shape]
    inside = zip(starts, out.shape, strict=True)
    return whole[tuple(slice(start, start + n) for start, n in inside)]


def _few_places(a: Any, b: Any, out: Any) -> Any:
    """A large window at few places, in double precision."""
    double = np.result_type(out.dtype, float)
    a, b = np.asarray(a, double), np.asarray(b, double)
    views = np.lib.stride_tricks.sliding_window_view(a, b.shape)
    d = b.ndim
    sums = np.einsum(views, [*range(2 * d)], b, [*range(d, 2 * d)], [*range(d)])
    return np.asarray(sums, out.dtype)


@rc.frule.define(window_sums)
def window_sums_frule(tangents: Any, a: Any, b: Any) -> Any:
    _, da, db = tangents
    dy: Any = rc.ZeroTangent()
    if not isinstance(da, rc.AbstractZero):
        dy = dy + window_sums(da, b)
    if not isinstance(db, rc.AbstractZero):
        dy = dy + window_sums(a, db)
    return window_sums(a, b), dy


@rc.rrule.define(window_sums)
def window_sums_rrule(a: Any, b: Any) -> Any:
    def pullback(dy: Any) -> Any:
        return (
            rc.NoTangent(),
            rc.thunk(lambda: cast(window_sums(_zeros_around(dy, b), _turned(b)), a)),
            rc.thunk(lambda: cast(window_sums(conjugate(a), dy), b)),
        )

    return window_sums(a, b), pullback


def _zeros_around(dy: Any, b: Any) -> Any:
    for axis, size in enumerate(b.shape):
        dy = extended(dy, axis, (size - 1, size - 1), "constant")
    return dy


def _turned(b: Any) -> Any:
    return conjugate(rc.array_namespace(b).flip(b))


@rc.batch_rule.define(window_sums)
def window_sums_batch(_size: int, in_batched: Any, a: Any, b: Any) -> Any:
    if in_batched != (True, False):
        return NotImplemented
    return window_sums(a, b[None]), True
