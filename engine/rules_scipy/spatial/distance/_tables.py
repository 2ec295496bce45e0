"""Tables of distances: of all pairs, as a matrix or a vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.spatial.distance as _sp

import rules_core as rc
from rules_scipy._arrays import arrays, check, is_numpy, refuse
from rules_scipy._axes import concat
from rules_scipy.spatial._declare import OWN, covers

from ._metrics import BY_ENTRIES, METRICS, logical
from ._vectors import real_arrays

__all__ = ["cdist", "pdist", "squareform"]

_ALIASES = {
    name: alternatives.split()
    for name, alternatives in {
        "chebyshev": "chebychev cheby cheb ch",
        "cityblock": "cblock cb c",
        "correlation": "co",
        "cosine": "cos",
        "euclidean": "euclid eu e",
        "hamming": "matching hamm ha h",
        "jaccard": "jacc ja j",
        "jensenshannon": "js",
        "mahalanobis": "mahal mah",
        "minkowski": "mi m pnorm",
        "seuclidean": "se s",
        "sqeuclidean": "sqe sqeuclid",
    }.items()
}
_NAMES = {name: name for name in METRICS} | {
    alias: name for name, aliases in _ALIASES.items() for alias in aliases
}


@covers(_sp.cdist)
def cdist(
    XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any
) -> Any:
    """`scipy.spatial.distance.cdist`, by each metric, or a function of two vectors.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial.distance import cdist
    >>> x = np.asarray([[0.0, 0.0], [3.0, 4.0]])
    >>> jax.jit(jax.grad(lambda x: cdist(x, x[:1]).sum()))(x).round(3).tolist()
    [[-0.6, -0.8], [0.6, 0.8]]
    """
    check_call(_sp.cdist, (XA, XB), metric, kwargs)
    f = _function_of(metric)
    if f is None:
        a, b = real_arrays("cdist", XA, XB)
        return written(_by_calls(metric, a, b, kwargs), out)
    (a, b), options = _together(metric, (XA, XB), kwargs)
    if a.shape[1] != b.shape[1]:
        message = "XA and XB must have the same number of columns"
        raise ValueError(message)
    return written(f(a[:, None, :], b[None, :, :], options), out)


@covers(_sp.pdist)
def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """`scipy.spatial.distance.pdist`, by each metric, or a function of two vectors.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial.distance import pdist
    >>> x = np.asarray([[0.0, 0.0], [3.0, 4.0]])
    >>> jax.grad(lambda x: pdist(x, "cityblock")[0])(x).tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """
    check_call(_sp.pdist, (X,), metric, kwargs)
    f = _function_of(metric)
    if f is None:
        return written(_of_pairs(metric, real_arrays("pdist", X)[0], kwargs), out)
    [x], options = _together(metric, (X,), kwargs)
    i, j = np.triu_indices(x.shape[0], 1)
    return written(f(x[i], x[j], options), out)


def check_call(f: Any, args: Any, metric: Any, kwargs: Any) -> None:
    """SciPy's errors; a function of the user's is not called for them."""
    if isinstance(metric, str):
        check(f, *args, metric, **kwargs)


def _name_of(metric: Any) -> str | None:
    """The name of a metric of SciPy's, or of this pack's; None: another function."""
    if isinstance(metric, str):
        name = _NAMES.get(metric.lower().removeprefix("test_"))
        if name is None:
            message = f"Unknown Distance Metric: {metric.lower()}"
            raise ValueError(message)
        return name
    if not callable(metric):
        message = "2nd argument metric must be a string identifier or a function."
        raise TypeError(message)
    known = {f: f.__name__ for pair in OWN.items() for f in pair}
    name = known.get(metric)
    return name if name in METRICS else None


def _function_of(metric: Any) -> Callable[..., Any] | None:
    """The metric of arrays of vectors and options; None: a function of the user's."""
    name = _name_of(metric)
    if name is None:
        return None
    is_called = callable(metric) or metric.lower().startswith("test_")

    def f(u: Any, v: Any, options: dict[str, Any]) -> Any:
        if name == "dice" and not is_called:
            return _scipys_dice(u, v, options.get("w"))
        if name in BY_ENTRIES:
            u, v = logical(u), logical(v)
        return METRICS[name](u, v, **options)

    return f


def _scipys_dice(u: Any, v: Any, w: Any) -> Any:
    """SciPy's: of numbers without weights, of what is not zero with them."""
    if w is None:
        return METRICS["dice"](u, v)
    unlike = METRICS["hamming"](u, v, w) * rc.array_namespace(w).sum(w)
    both = rc.array_namespace(w).sum(w * logical(u) * logical(v), axis=-1)
    return unlike / (2.0 * both + unlike)


def _together(metric: Any, data: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Data and options as arrays, with the options that SciPy makes of the data."""
    name, given = str(_name_of(metric)), dict(kwargs)
    keys = [k for k in ("w", "V", "VI") if given.get(k) is not None]
    arrays_of = real_arrays(name, *data, *[given[k] for k in keys])
    data, found = arrays_of[: len(data)], arrays_of[len(data) :]
    for k in ("w", "V", "VI"):
        given.pop(k, None)
    given |= dict(zip(keys, found, strict=True))
    key = {"seuclidean": "V", "mahalanobis": "VI"}.get(name)
    if key and key not in given:
        given[key] = _spread(concat(list(data)), name)
    return data, given


def _spread(x: Any, name: str) -> Any:
    """The variances of the data, or its inverse covariance transposed."""
    xp = rc.array_namespace(x)
    n = x.shape[0]
    if name == "mahalanobis" and n <= x.shape[1]:
        message = f"The number of observations ({n}) is too small"
        raise ValueError(message)
    d = x - xp.sum(x, axis=0, keepdims=True) / n
    if name == "seuclidean":
        return xp.sum(d * d, axis=0) / (n - 1)
    return xp.linalg.inv(xp.matrix_transpose(d) @ d / (n - 1))


def _by_calls(metric: Any, a: Any, b: Any, kwargs: Any) -> Any:
    rows = [
        metric(a[i], b[j], **kwargs)
        for i in range(a.shape[0])
        for j in range(b.shape[0])
    ]
    xp = rc.array_namespace(a, b)
    return xp.reshape(_stacked(rows, a), (a.shape[0], b.shape[0]))


def _of_pairs(metric: Any, x: Any, kwargs: Any) -> Any:
    n = x.shape[0]
    rows = [metric(x[i], x[j], **kwargs) for i in range(n) for j in range(i + 1, n)]
    return _stacked(rows, x)


def _stacked(rows: list[Any], x: Any) -> Any:
    xp = rc.array_namespace(x)
    if not rows:
        return xp.sum(x[:0], axis=-1)
    return xp.stack([arrays(row, x)[0] for row in rows])


def written(y: Any, out: Any) -> Any:
    """`y`, or `out` after `y` was written to it."""
    if out is None:
        return y
    if not is_numpy(y, out):
        refuse("out=", "of distances has derivatives in NumPy programs only")
    if out.shape != y.shape:
        message = "Output array has incorrect shape."
        raise ValueError(message)
    out[...] = y
    return out


# both forms


@covers(_sp.squareform)
def squareform(X: Any, force: Any = "no", checks: Any = True) -> Any:
    """`scipy.spatial.distance.squareform`.

    Of a matrix SciPy reads the upper triangle.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial.distance import squareform
    >>> jax.grad(lambda v: (squareform(v)[0] ** 2).sum())(np.ones(3)).tolist()
    [2.0, 2.0, 0.0]
    """
    check(_sp.squareform, X, force, checks)
    [X] = arrays(X)
    ndim = len(X.shape)
    if ndim == 1 and force.lower() != "tovector":
        return _matrix_of(X)
    if ndim == 2 and force.lower() != "tomatrix":
        i, j = np.triu_indices(X.shape[0], 1)
        return X[i, j]
    message = f"squareform takes a distance vector or matrix, not {ndim} dimensions"
    raise ValueError(message)


def _matrix_of(v: Any) -> Any:
    xp = rc.array_namespace(v)
    n = int(np.ceil(np.sqrt(v.shape[0] * 2))) or 1
    if n * (n - 1) != v.shape[0] * 2:
        message = (
            "Incompatible vector size. It must be a binomial coefficient n choose 2"
        )
        raise ValueError(message)
    i, j = np.triu_indices(n, 1)
    index = np.zeros((n, n), int)
    index[i, j] = index[j, i] = np.arange(1, len(i) + 1)
    # Entry zero is that of the diagonal.
    first = xp.zeros_like(v[:1]) if v.shape[0] else xp.zeros((1,), dtype=v.dtype)
    return concat([first, v])[index]
