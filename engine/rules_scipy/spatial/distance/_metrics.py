"""Distances of the vectors along the last axes of two arrays, which broadcast.

At a kink, as that of `euclidean` at equal vectors, derivatives are zero. What SciPy
counts (`hamming`, `jaccard`, …) is constant in the vectors, and linear or rational in
the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy.spatial._lengths import (
    entry_power,
    is_order,
    length,
    root,
    size,
    with_order,
)
from rules_scipy.special import rel_entr

__all__ = ["BY_ENTRIES", "METRICS", "divergence_root", "logical"]


def _total(x: Any, w: Any = None) -> Any:
    return rc.array_namespace(x).sum(x if w is None else w * x, axis=-1)


def _minkowski(u: Any, v: Any, w: Any = None, p: Any = 2) -> Any:
    p, u, v, w = with_order(p, u, v, w)
    d = u - v
    if w is None:
        return length(d, p)
    xp = rc.array_namespace(d)
    if is_order(p, np.inf):
        return _chebyshev(u, v, w)
    total = xp.sum(w * entry_power(d, p), axis=-1)
    return total if is_order(p, 1) else root(total, p)


def _euclidean(u: Any, v: Any, w: Any = None) -> Any:
    return root(_sqeuclidean(u, v, w))


def _sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    d = u - v
    return _total(d * d, w)


def _seuclidean(u: Any, v: Any, V: Any) -> Any:
    return _euclidean(u, v, 1.0 / V)


def _mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    d = u - v
    return root(_total((d @ VI) * d))


def _cityblock(u: Any, v: Any, w: Any = None) -> Any:
    return _total(size(u - v), w)


def _chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    d = size(u - v)
    xp = rc.array_namespace(d)
    if w is not None:
        d = d * xp.astype(rc.ignore_derivatives(w) > 0, d.dtype)
    return xp.max(d, axis=-1)


def _braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    return _total(size(u - v), w) / _total(size(u + v), w)


def _canberra(u: Any, v: Any, w: Any = None) -> Any:
    """Terms 0 / 0 are left out, as in SciPy."""
    whole = size(u) + size(v)
    xp = rc.array_namespace(whole)
    none = rc.ignore_derivatives(whole == 0)
    terms = size(u - v) / xp.where(none, xp.ones_like(whole), whole)
    return _total(xp.where(none, xp.zeros_like(terms), terms), w)


def _correlation(u: Any, v: Any, w: Any = None, centered: Any = True) -> Any:
    """The value is clipped to [0, 2], which is rounding: the derivative is not."""
    if w is not None:
        w = w / _total(w)
    if centered:
        u, v = _centred(u, w), _centred(v, w)
    xp = rc.array_namespace(u, v)
    y = 1.0 - _total(u * v, w) / xp.sqrt(_total(u * u, w) * _total(v * v, w))
    return y + rc.ignore_derivatives(xp.clip(y, 0.0, 2.0) - y)


def _centred(u: Any, w: Any) -> Any:
    mean = _total(u) / u.shape[-1] if w is None else _total(u, w)
    return u - mean[..., None]


def _cosine(u: Any, v: Any, w: Any = None) -> Any:
    return _correlation(u, v, w, centered=False)


def _jensenshannon(u: Any, v: Any) -> Any:
    return divergence_root(u, v, -1, None, False)


def divergence_root(p: Any, q: Any, axis: int, base: Any, keepdims: Any) -> Any:
    """The square root of Jensen's and Shannon's divergence.

    With the sums P and Q of both, that of p log (2p / (p + q P / Q)) / P, and of the
    other way round. So sums have derivatives apart from those of entries, which may be
    infinite at zero.
    """
    xp = rc.array_namespace(p, q)
    whole = [xp.sum(x, axis=axis, keepdims=True) for x in (p, q)]
    terms = [
        _divergence(a, b * (m / n)) / m
        for a, b, m, n in ((p, q, *whole), (q, p, *whole[::-1]))
    ]
    total = xp.sum(terms[0] + terms[1], axis=axis, keepdims=keepdims)
    total = total if base is None else total / xp.log(base)
    return root(total / 2.0)


def _divergence(p: Any, q: Any) -> Any:
    """`p log (2 p / (p + q))`; where both are zero, by one-sided derivatives."""
    xp = rc.array_namespace(p, q)
    neither = rc.ignore_derivatives((p == 0) & (q == 0))
    one = xp.ones_like(p + q)
    found = rel_entr(xp.where(neither, one, p), xp.where(neither, one, (p + q) / 2.0))
    return xp.where(neither, p * np.log(2.0), found)


# what is counted


def logical(x: Any) -> Any:
    """One where an entry is not zero."""
    x = rc.ignore_derivatives(x)
    return rc.array_namespace(x).astype(x != 0, x.dtype)


def _differ(u: Any, v: Any) -> Any:
    u, v = rc.ignore_derivatives(u), rc.ignore_derivatives(v)
    unlike = u != v
    return rc.array_namespace(u, v).astype(unlike, (u + v).dtype)


def _hamming(u: Any, v: Any, w: Any = None) -> Any:
    unlike = _differ(u, v)
    if w is None:
        return _total(unlike) / u.shape[-1]
    return _total(unlike, w) / _total(w)


def _jaccard(u: Any, v: Any, w: Any = None) -> Any:
    u, v = logical(u), logical(v)
    unlike, either = _total(u + v - 2.0 * u * v, w), _total(u + v - u * v, w)
    return _ratio(unlike, either)


def _ratio(a: Any, b: Any) -> Any:
    """`a / b`, and zero for `b = 0`."""
    xp = rc.array_namespace(a, b)
    none = rc.ignore_derivatives(b == 0)
    quotient = a / xp.where(none, xp.ones_like(b), b)
    return xp.where(none, xp.zeros_like(quotient), quotient)


def _pairs(u: Any, v: Any, w: Any) -> tuple[Any, Any, Any, Any]:
    """How many entries are false in both, in `v` alone, in `u` alone, in none."""
    a, b = 1.0 - u, 1.0 - v
    return _total(a * b, w), _total(a * v, w), _total(u * b, w), _total(u * v, w)


def _yule(u: Any, v: Any, w: Any = None) -> Any:
    nff, nft, ntf, ntt = _pairs(u, v, w)
    half = ntf * nft
    return _ratio(2.0 * half, ntt * nff + half)


def _dice(u: Any, v: Any, w: Any = None) -> Any:
    _, nft, ntf, ntt = _pairs(u, v, w)
    return (ntf + nft) / (2.0 * ntt + ntf + nft)


def _rogerstanimoto(u: Any, v: Any, w: Any = None) -> Any:
    nff, nft, ntf, ntt = _pairs(u, v, w)
    unlike = 2.0 * (ntf + nft)
    return unlike / (ntt + nff + unlike)


def _russellrao(u: Any, v: Any, w: Any = None) -> Any:
    n = float(u.shape[-1]) if w is None else _total(w)
    return (n - _total(u * v, w)) / n


def _sokalsneath(u: Any, v: Any, w: Any = None) -> Any:
    _, nft, ntf, ntt = _pairs(u, v, w)
    unlike = 2.0 * (ntf + nft)
    return unlike / (ntt + unlike)


METRICS: dict[str, Any] = {
    "braycurtis": _braycurtis,
    "canberra": _canberra,
    "chebyshev": _chebyshev,
    "cityblock": _cityblock,
    "correlation": _correlation,
    "cosine": _cosine,
    "dice": _dice,
    "euclidean": _euclidean,
    "hamming": _hamming,
    "jaccard": _jaccard,
    "jensenshannon": _jensenshannon,
    "mahalanobis": _mahalanobis,
    "minkowski": _minkowski,
    "rogerstanimoto": _rogerstanimoto,
    "russellrao": _russellrao,
    "seuclidean": _seuclidean,
    "sokalsneath": _sokalsneath,
    "sqeuclidean": _sqeuclidean,
    "yule": _yule,
}
# Of these `cdist` and `pdist` ask each entry whether it is zero.
BY_ENTRIES = frozenset({"dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"})
