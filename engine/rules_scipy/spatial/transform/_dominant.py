"""The unit eigenvector of the largest eigenvalue of a symmetric matrix.

Means of rotations, the rotation nearest to a matrix and that which aligns vectors are
such eigenvectors, of 4 x 4 matrices (Davenport's q method; Markley and Mortari 2000).
The others may be equal: only the distance from the next value matters.
"""

from __future__ import annotations

from typing import Any

import rules_core as rc
from rules_core.extend import nan_unless
from rules_scipy._functions import is_traced
from rules_scipy.linalg._systems import solution
from rules_scipy.spatial._lengths import sign

__all__ = ["attitude", "dominant"]


@rc.primitive
def dominant(k: Any) -> Any:
    """The vector v with K v = λ v and |v| = 1, for the largest λ.

    dv = (λ - K)⁺ dK v, of symmetric dK.

    Args:
        k: Symmetric, `(..., n, n)`.
    """
    return rc.array_namespace(k).linalg.eigh(k)[1][..., -1]


def _solved(k: Any, v: Any, b: Any) -> Any:
    """(λ - K)⁺ b, by the regular matrix λ - K + |λ| v vᵀ and the b without v."""
    xp = rc.array_namespace(k)
    kv = (k @ v[..., None])[..., 0]
    value = xp.sum(v * kv, axis=-1)[..., None, None]
    n = k.shape[-1]
    eye = xp.eye(n, dtype=k.dtype, device=getattr(k, "device", None))
    scale = rc.ignore_derivatives(xp.abs(value))
    a = value * eye - k + scale * v[..., :, None] * v[..., None, :]
    b = b - xp.sum(v * b, axis=-1)[..., None] * v
    return solution(a, b[..., None])[..., 0]


def _separate(k: Any, d: Any) -> Any:
    """A derivative, where the largest value is single."""
    xp = rc.array_namespace(k)
    w = rc.ignore_derivatives(xp.linalg.eigvalsh(rc.ignore_derivatives(k)))
    slack = 100.0 * float(xp.finfo(k.dtype).eps)
    single = w[..., -1] - w[..., -2] > slack * xp.max(xp.abs(w), axis=-1)
    if is_traced(single):
        return nan_unless(
            single[(..., *(None,) * (len(d.shape) - len(w.shape) + 1))], d
        )
    if not xp.all(single):
        message = (
            "the derivative of a mean, nearest or aligning rotation must be taken "
            "where it is unique, but got rotations, a matrix or vectors that several "
            "rotations fit equally well. Change the data."
        )
        raise rc.UnsupportedError(message)
    return d


@rc.frule.define(dominant)
def dominant_frule(tangents: Any, k: Any) -> Any:
    v, dk = dominant(k), tangents[1]
    if isinstance(dk, rc.AbstractZero):
        return v, dk
    dk = _separate(k, rc.unthunk(dk))
    return v, _solved(k, v, (_symmetric(dk) @ v[..., None])[..., 0])


@rc.rrule.define(dominant)
def dominant_rrule(k: Any) -> Any:
    v = dominant(k)

    def dominant_pullback(dv: Any) -> Any:
        dv = _separate(k, rc.unthunk(dv))
        b = _solved(k, v, dv)
        return rc.NoTangent(), _symmetric(b[..., :, None] * v[..., None, :])

    return v, dominant_pullback


def _symmetric(x: Any) -> Any:
    return 0.5 * (x + rc.array_namespace(x).matrix_transpose(x))


def attitude(m: Any) -> Any:
    """The unit quaternion q for which the rotation R(q) maximises tr(Rᵀ M).

    R is the orthogonal factor of M, if the determinant is positive. The largest
    component of q is positive, as in SciPy.

    Args:
        m: `(..., 3, 3)`.
    """
    xp = rc.array_namespace(m)
    t = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    vector = [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0],
              m[..., 1, 0] - m[..., 0, 1]]  # fmt: skip
    rows = [
        xp.stack(
            [m[..., i, j] + m[..., j, i] - (t if i == j else 0.0) for j in range(3)]
            + [vector[i]],
            axis=-1,
        )
        for i in range(3)
    ]
    last = xp.stack([*vector, t], axis=-1)
    q = dominant(xp.stack([*rows, last], axis=-2))
    return q * rc.ignore_derivatives(_sign_of_largest(q))


def _sign_of_largest(q: Any) -> Any:
    xp = rc.array_namespace(q)
    place = xp.argmax(xp.abs(q), axis=-1)[..., None]
    at = xp.arange(q.shape[-1], device=getattr(q, "device", None)) == place
    return sign(xp.sum(xp.where(at, q, xp.zeros_like(q)), axis=-1))[..., None]
