"""Distances of two vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.spatial.distance as _sp

import rules_core as rc
from rules_scipy._arrays import arrays, check, refuse
from rules_scipy.spatial._declare import constant, covers
from rules_scipy.spatial._lengths import length

from ._metrics import METRICS, divergence_root

__all__ = [
    "braycurtis",
    "canberra",
    "chebyshev",
    "cityblock",
    "correlation",
    "cosine",
    "dice",
    "directed_hausdorff",
    "euclidean",
    "hamming",
    "jaccard",
    "jensenshannon",
    "mahalanobis",
    "minkowski",
    "real_arrays",
    "rogerstanimoto",
    "russellrao",
    "seuclidean",
    "sokalsneath",
    "sqeuclidean",
    "yule",
]


def real_arrays(name: str, *xs: Any) -> list[Any]:
    """Floating arrays of one framework; complex ones have no derivative here."""
    found = arrays(*xs)
    for x in found:
        if x is not None and "complex" in str(x.dtype):
            refuse(name, "has derivatives for real arrays only")
    return found


def _between(name: str, u: Any, v: Any, *given: Any, **others: Any) -> Any:
    u, v, *options = real_arrays(name, u, v, *given)
    if len(u.shape) != 1 or len(v.shape) != 1:
        message = "Input vector should be 1-D."
        raise ValueError(message)
    return METRICS[name](u, v, *options, **others)


@covers(_sp.minkowski)
def minkowski(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    """`scipy.spatial.distance.minkowski`, in the order too.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial.distance import minkowski
    >>> u, v = np.asarray([0.0, 3.0]), np.asarray([0.0, -1.0])
    >>> jax.grad(minkowski)(u, v, 3).round(6).tolist()
    [0.0, 1.0]
    """
    check(_sp.minkowski, u, v, p, w)
    return _between("minkowski", u, v, w, p=p)


@covers(_sp.euclidean)
def euclidean(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.euclidean`.

    At equal vectors the derivative is zero.
    """
    check(_sp.euclidean, u, v, w)
    return _between("euclidean", u, v, w)


@covers(_sp.sqeuclidean)
def sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.sqeuclidean`."""
    check(_sp.sqeuclidean, u, v, w)
    return _between("sqeuclidean", u, v, w)


@covers(_sp.seuclidean)
def seuclidean(u: Any, v: Any, V: Any) -> Any:
    """`scipy.spatial.distance.seuclidean`, in the variances too."""
    check(_sp.seuclidean, u, v, V)
    return _between("seuclidean", u, v, V)


@covers(_sp.mahalanobis)
def mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    """`scipy.spatial.distance.mahalanobis`, in the inverse covariance too."""
    check(_sp.mahalanobis, u, v, VI)
    return _between("mahalanobis", u, v, VI)


@covers(_sp.cityblock)
def cityblock(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.cityblock`."""
    check(_sp.cityblock, u, v, w)
    return _between("cityblock", u, v, w)


@covers(_sp.chebyshev)
def chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.chebyshev`. Equal largest entries share."""
    check(_sp.chebyshev, u, v, w)
    return _between("chebyshev", u, v, w)


@covers(_sp.braycurtis)
def braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.braycurtis`."""
    check(_sp.braycurtis, u, v, w)
    return _between("braycurtis", u, v, w)


@covers(_sp.canberra)
def canberra(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.canberra`. Entries that are zero in both are left out."""
    check(_sp.canberra, u, v, w)
    return _between("canberra", u, v, w)


@covers(_sp.correlation)
def correlation(u: Any, v: Any, w: Any = None, centered: Any = True) -> Any:
    """`scipy.spatial.distance.correlation`."""
    check(_sp.correlation, u, v, w, centered)
    return _between("correlation", u, v, w, centered=centered)


@covers(_sp.cosine)
def cosine(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.cosine`.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial.distance import cosine
    >>> u, v = np.asarray([1.0, 0.0]), np.asarray([0.0, 2.0])
    >>> jax.grad(cosine)(u, v).tolist()
    [0.0, -1.0]
    """
    check(_sp.cosine, u, v, w)
    return _between("cosine", u, v, w)


@covers(_sp.jensenshannon)
def jensenshannon(
    p: Any, q: Any, base: Any = None, *, axis: Any = 0, keepdims: Any = False
) -> Any:
    """`scipy.spatial.distance.jensenshannon`, in the base too.

    At equal distributions the derivative is zero.
    """
    check(_sp.jensenshannon, p, q, base, axis=axis, keepdims=keepdims)
    p, q, base = real_arrays("jensenshannon", p, q, base)
    return divergence_root(p, q, axis, base, keepdims)


# what is counted


@covers(_sp.hamming)
def hamming(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.hamming`: constant in the vectors."""
    check(_sp.hamming, u, v, w)
    return _between("hamming", u, v, w)


@covers(_sp.jaccard)
def jaccard(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.jaccard`: constant in the vectors."""
    check(_sp.jaccard, u, v, w)
    return _between("jaccard", u, v, w)


@covers(_sp.dice)
def dice(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.dice`: of numbers from zero to one, as SciPy does.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial.distance import dice
    >>> jax.grad(dice)(np.asarray([0.5, 1.0]), np.asarray([1.0, 1.0])).round(3).tolist()
    [-0.327, -0.327]
    """
    check(_sp.dice, u, v, w)
    return _between("dice", u, v, w)


@covers(_sp.yule)
def yule(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.yule`: of numbers from zero to one, as SciPy does."""
    check(_sp.yule, u, v, w)
    return _between("yule", u, v, w)


@covers(_sp.rogerstanimoto)
def rogerstanimoto(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.rogerstanimoto`: of numbers from zero to one."""
    check(_sp.rogerstanimoto, u, v, w)
    return _between("rogerstanimoto", u, v, w)


@covers(_sp.russellrao)
def russellrao(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.russellrao`: of numbers from zero to one."""
    check(_sp.russellrao, u, v, w)
    return _between("russellrao", u, v, w)


@covers(_sp.sokalsneath)
def sokalsneath(u: Any, v: Any, w: Any = None) -> Any:
    """`scipy.spatial.distance.sokalsneath`: of numbers from zero to one."""
    check(_sp.sokalsneath, u, v, w)
    return _between("sokalsneath", u, v, w)


# sets of vectors


def _farthest_shape(u: Any, v: Any, rng: Any) -> Any:
    return rc.ShapeDtype((2,), np.int64)


def _farthest(u: Any, v: Any, rng: Any) -> Any:
    u, v = np.asarray(u, float), np.asarray(v, float)
    return np.asarray(_sp.directed_hausdorff(u, v, rng)[1:], np.int64)


# The numbers of the two vectors whose distance it is.
farthest: rc.Primitive = rc.primitive(
    _farthest, host=True, out=_farthest_shape, static_argnames="rng"
)
rc.non_differentiable(farthest)


@covers(_sp.directed_hausdorff)
def directed_hausdorff(u: Any, v: Any, rng: Any = 0, **seed: Any) -> Any:
    """`scipy.spatial.distance.directed_hausdorff`.

    The derivative is that of the distance of the two vectors which SciPy finds.
    """
    u, v = real_arrays("directed_hausdorff", u, v)
    pair = farthest(
        rc.ignore_derivatives(u), rc.ignore_derivatives(v), seed.get("seed", rng)
    )
    d = u[pair[:1]] - v[pair[1:]]
    return length(d)[0], pair[0], pair[1]


constant(_sp.is_valid_dm, _sp.is_valid_y, _sp.num_obs_dm, _sp.num_obs_y)
