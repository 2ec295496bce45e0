r"""`logsumexp`: $y = \ln \sum_i b_i e^{a_i}$, with weights, axes and signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special
from numpy.lib.array_utils import normalize_axis_tuple

import rules_core as rc
from rules_core.extend import nan_unless

from ._declare import DECLARED, is_complex

__all__ = ["logsumexp"]

logsumexp = rc.primitive(
    scipy.special.logsumexp,
    host=True,
    static_argnames=("axis", "keepdims", "return_sign"),
)

DECLARED[scipy.special.logsumexp] = "covered"

Axis = Any  # None, an int or a tuple of ints
Real = rc.Array | float | complex


@rc.frule.define(logsumexp, symbolic_zeros=True)
def logsumexp_frule(
    tangents: Any,
    a: Real,
    axis: Axis,
    b: Real | None,
    keepdims: bool,
    return_sign: bool,
) -> tuple[Any, Any]:
    r"""$dy = \sum_i s\, e^{a_i - y} (b_i\, da_i + db_i)$, $s$ the sign of the sum."""
    _, da, _, db, *_ = tangents
    _refuse_phases(a, b, return_sign)
    y, sign = _kept(a, axis, b, return_sign)
    xp, shares = _shares(a, axis, b, y, sign)
    terms = [
        share * dx
        for share, dx in zip(shares, (da, db), strict=True)
        if share is not None and not isinstance(dx, rc.AbstractZero)
    ]
    dy: Any = rc.ZeroTangent()
    if terms:
        total = xp.sum(sum(terms), axis=axis, keepdims=True)
        dy = _shaped(total, axis, keepdims)
    return _outputs(y, sign, dy, axis, keepdims)


@rc.rrule.define(logsumexp)
def logsumexp_rrule(
    a: Real, axis: Axis, b: Real | None, keepdims: bool, return_sign: bool
) -> tuple[Any, Any]:
    r"""$\bar a_i = s\, b_i e^{a_i - y} \bar y$, $\bar b_i = s\, e^{a_i - y} \bar y$."""
    _refuse_phases(a, b, return_sign)
    y, sign = _kept(a, axis, b, return_sign)
    xp, (a_share, b_share) = _shares(a, axis, b, y, sign)

    def logsumexp_pullback(dy: Any) -> tuple[Any, ...]:
        dy = dy[0] if return_sign else dy
        dy = dy if isinstance(dy, rc.AbstractZero) else xp.reshape(dy, y.shape)
        none = rc.NoTangent()
        return none, _back(a, a_share, dy), none, _back(b, b_share, dy), none, none

    out, _ = _outputs(y, sign, rc.ZeroTangent(), axis, keepdims)
    return out, logsumexp_pullback


def _refuse_phases(a: Any, b: Any, return_sign: bool) -> None:
    if return_sign and (is_complex(a) or is_complex(b)):
        message = (
            "the rule of logsumexp must be called with real arguments for "
            "return_sign=True, but got complex ones, whose phase is not holomorphic. "
            "Call it with return_sign=False."
        )
        raise rc.UnsupportedError(message)


def _kept(a: Any, axis: Axis, b: Any, return_sign: bool) -> tuple[Any, Any]:
    """The result and its sign (None unless requested), reduced axes kept."""
    result = logsumexp(a, axis=axis, b=b, keepdims=True, return_sign=return_sign)
    return (result[0], result[1]) if return_sign else (result, None)


def _shaped(x: Any, axis: Axis, keepdims: bool) -> Any:
    """Drop the reduced axes unless `keepdims` is true."""
    if keepdims or not x.ndim:
        return x
    xp = rc.array_namespace(x)
    dropped = range(x.ndim) if axis is None else (axis,) if _is_int(axis) else axis
    positions = {i % x.ndim for i in dropped}
    return xp.reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in positions))


def _is_int(axis: Axis) -> bool:
    return isinstance(axis, int)


def _outputs(y: Any, sign: Any, dy: Any, axis: Axis, keepdims: bool) -> tuple[Any, Any]:
    out = _bare(_shaped(y, axis, keepdims))
    if sign is None:
        return out, dy
    return (out, _bare(_shaped(sign, axis, keepdims))), (dy, rc.ZeroTangent())


def _bare(x: Any) -> Any:
    """NumPy's 0-d arrays as numbers, like the function's results."""
    return x[()] if isinstance(x, np.ndarray) else x


def _shares(a: Any, axis: Axis, b: Any, y: Any, sign: Any) -> tuple[Any, Any]:
    """The namespace, and the partials in `a` and in `b` (None without `b`).

    Where the result is infinite, the entries equal to it share the derivative.
    """
    xp = rc.array_namespace(a, b, y)
    finite = xp.isfinite(y)
    at_limit = xp.astype(a == y, y.dtype)
    weighted = at_limit if b is None else b * at_limit
    count = xp.sum(weighted, axis=axis, keepdims=True)
    none = count == 0  # neither finite nor the limit of an entry: no derivative
    limit = at_limit / xp.where(none, xp.ones_like(count), count)
    limit = nan_unless(~none, limit)
    share = xp.exp(a - xp.where(finite, y, xp.zeros_like(y)))
    share = share if sign is None else sign * share
    # The sum is 1, but for the rounding of a large `y`.
    total = xp.sum(_weighted(xp, share, b), axis=axis, keepdims=True)
    share = share / xp.where(finite & (total != 0), total, xp.ones_like(total))
    share = xp.where(finite, share, limit if sign is None else sign * limit)
    return xp, (_weighted(xp, share, b), None if b is None else share)


def _weighted(xp: Any, share: Any, b: Any) -> Any:
    """`b · share`, which is zero for weight zero, even if the share is infinite."""
    if b is None:
        return share
    out = b == 0
    one, zero = xp.ones_like(share), xp.zeros_like(share)
    return xp.where(out, zero, b * xp.where(out, one, share))


def _back(x: Any, share: Any, dy: Any) -> Any:
    if share is None:
        return rc.NoTangent()
    if isinstance(dy, rc.AbstractZero):
        return dy
    xp = rc.array_namespace(share)
    share = xp.conj(share) if is_complex(share) else share
    return rc.ProjectTo(x)(share * dy)


@rc.shape_rule.define(logsumexp)
def logsumexp_shape(
    a: Any, axis: Axis, b: Any, keepdims: bool, return_sign: bool
) -> Any:
    """The reduced shape; integers are computed in double."""
    arrays = [x for x in (a, b) if isinstance(x, rc.ShapeDtype)]
    example = [np.broadcast_to(np.zeros((), x.dtype), x.shape) for x in arrays]
    full = np.broadcast_shapes(*(x.shape for x in example)) or (1,)
    shape = np.sum(np.broadcast_to(0, full), axis=axis, keepdims=keepdims).shape
    floating = [x.dtype for x in example if x.dtype.kind in "fc"]
    dtype = np.result_type(*floating) if floating else np.dtype(float)
    real = np.zeros((), dtype).real.dtype
    out = rc.ShapeDtype(shape, dtype)
    return (rc.ShapeDtype(shape, real), out) if return_sign else out


@rc.batch_rule.define(logsumexp)
def logsumexp_batch(
    axis_size: int,
    in_batched: tuple[bool, ...],
    a: Any,
    axis: Axis,
    b: Any,
    keepdims: bool,
    return_sign: bool,
) -> tuple[Any, Any]:
    """One call: the batch axis is not reduced."""
    a_batched, _, b_batched, *_ = in_batched
    rank = max(np.ndim(a) - a_batched, 0 if b is None else np.ndim(b) - b_batched)
    a = _lift(a, rank, a_batched)
    a = np.broadcast_to(a, (axis_size, *a.shape[1:]))
    b = b if b is None else _lift(b, rank, b_batched)
    if not rank:  # a batch of numbers, for SciPy 1-d arrays
        rank, a, b = 1, a[..., None], b if b is None else b[..., None]
    axes = normalize_axis_tuple(range(rank) if axis is None else axis, rank)
    shifted = tuple(i + 1 for i in axes)
    out = scipy.special.logsumexp(
        a, axis=shifted, b=b, keepdims=keepdims, return_sign=return_sign
    )
    return out, (True, True) if return_sign else True


def _lift(x: Any, rank: int, batched: bool) -> Any:
    """`x` with `rank` axes behind the batch axis, which has length 1 if unbatched."""
    x = np.asarray(x)
    size, rest = (x.shape[:1], x.shape[1:]) if batched else ((1,), x.shape)
    return x.reshape((*size, *(1,) * (rank - len(rest)), *rest))
