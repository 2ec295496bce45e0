"""The least of equivalent rotations."""

from __future__ import annotations

from typing import Any

import rules_core as rc
from rules_scipy._axes import concat

from ._quaternions import product

__all__ = ["reduced"]


def reduced(q: Any, left: Any, right: Any) -> tuple[Any, Any, Any]:
    """`l q r` of the least angle, and the numbers of l and r in their groups.

    Which they are is a constant.
    """
    if left is None and right is None:
        return q, None, None
    single = len(q.shape) == 1
    p = q[None, :] if single else q
    one = 0.0 * p[:1] + concat([0.0 * p[0, :3], 0.0 * p[0, 3:] + 1.0])
    groups = [one if g is None else _rows(g) for g in (left, right)]
    i, j = _nearest(p, *groups)
    found = product(groups[0][i], product(p, groups[1][j]))
    return (
        found[0] if single else found,
        None if left is None else i,
        None if right is None else j,
    )


def _rows(group: Any) -> Any:
    return group[None, :] if len(group.shape) == 1 else group


def _nearest(p: Any, left: Any, right: Any) -> tuple[Any, Any]:
    p, left, right = map(rc.ignore_derivatives, (p, left, right))
    xp = rc.array_namespace(p)
    inner = product(p[:, None, None, :], right[None, None, :, :])
    real = product(left[None, :, None, :], inner)[..., 3]
    best = xp.argmax(xp.reshape(xp.abs(real), (p.shape[0], -1)), axis=1)
    count = right.shape[0]
    return best // count, best % count
