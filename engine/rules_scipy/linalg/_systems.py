r"""Linear systems and determinants in array-API code, with rules of their own.

The derivatives of PyTorch's `linalg.solve`, `det` and `slogdet` are wrong where a
derivative is taken of its forward mode (`jacfwd(jacfwd(f))`, PyTorch 2.13), and those
of `det` are not finite at matrices that are a multiple of one. These hold everywhere:

$$ dx = a^{-1}(db - da\,x), \qquad d\det a = \sum_{ij} C_{ij}\,da_{ij}, $$

$C$ being the cofactors, which a matrix without an inverse has too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._lists import constant_like

from ._matrices import conjugate, solved

__all__ = ["det", "solution"]


def solution(a: Any, b: Any) -> Any:
    """`a⁻¹ b` for stacks of matrices, or for one matrix and a vector.

    Args:
        a: `(..., n, n)`.
        b: `(..., n, k)`, whose leading axes broadcast with those of `a`; or `(n,)`.
    """
    if len(b.shape) == 1:
        return solution(a, b[:, None])[:, 0]
    loop = np.broadcast_shapes(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    return solved(_spread(a, loop), _spread(b, loop))


def _spread(x: Any, loop: tuple[int, ...]) -> Any:
    shape = (*loop, *x.shape[-2:])
    return x if x.shape == shape else rc.array_namespace(x).broadcast_to(x, shape)


@rc.primitive
def det(a: Any) -> Any:
    """The determinants of a stack of small matrices, `(..., n, n)` to `(...,)`."""
    return rc.array_namespace(a).linalg.det(a)


@rc.frule.define(det)
def det_frule(tangents: Any, a: Any) -> Any:
    xp = rc.array_namespace(a)
    return det(a), xp.sum(cofactors(a) * tangents[1], axis=(-2, -1))


@rc.rrule.define(det)
def det_rrule(a: Any) -> Any:
    def det_pullback(dy: Any) -> Any:
        return rc.NoTangent(), conjugate(cofactors(a)) * dy[..., None, None]

    return det(a), det_pullback


def cofactors(a: Any) -> Any:
    """The determinants without a row and a column, with their signs."""
    xp, n = rc.array_namespace(a), a.shape[-1]
    if n == 1:
        return xp.ones_like(a)
    others = np.array([[j for j in range(n) if j != i] for i in range(n)])
    index = constant_like(others.reshape(-1), a)
    loop = a.shape[:-2]
    rows = xp.take(a, index, axis=-2).reshape((*loop, n * (n - 1), n))
    minors = xp.take(rows, index, axis=-1).reshape((*loop, n, n - 1, n, n - 1))
    order = [*range(len(loop)), *(len(loop) + i for i in (0, 2, 1, 3))]
    signs = constant_like((-1.0) ** np.add.outer(range(n), range(n)), a)
    return xp.astype(signs, a.dtype) * det(xp.permute_dims(minors, tuple(order)))
