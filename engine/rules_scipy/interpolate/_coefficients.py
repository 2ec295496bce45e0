"""Polynomials by their coefficients."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
import scipy.interpolate as _sp

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy.linalg import solve

from ._arrays import arrays, check, covers, is_numpy
from ._poly1d import Polynomial
from ._polynomials import KroghInterpolator

__all__ = ["approximate_taylor_polynomial", "lagrange", "pade"]


@covers(_sp.lagrange)
def lagrange(x: Any, w: Any) -> Any:
    """`scipy.interpolate.lagrange`: the polynomial through data.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import lagrange
    >>> top = lambda w: lagrange(np.arange(3.0), w).coeffs[0]
    >>> jax.grad(top)(np.ones(3)).tolist()
    [0.5, -1.0, 0.5]
    """
    x, w = arrays(x, w)
    xp = rc.array_namespace(x, w)
    n = x.shape[0]
    rows = []
    for j in range(n):
        c = [w[j], *[0.0 * w[j]] * (n - 1)]  # from the lowest
        for k in range(n):
            if k != j:
                moved = [0.0 * w[j], *c[:-1]]
                d = x[j] - x[k]
                c = [(b - x[k] * a) / d for a, b in zip(c, moved, strict=True)]
        rows.append(xp.stack(c[::-1]))
    return Polynomial(sum(rows[1:], rows[0]))


@covers(_sp.pade)
def pade(an: Any, m: int, n: Any = None) -> Any:
    """`scipy.interpolate.pade`: a ratio of polynomials by Taylor coefficients.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import pade
    >>> slope = jax.grad(lambda a: pade(a, 1)[1].coeffs[0])
    >>> slope(jax.numpy.asarray([1.0, 1.0, 0.5])).tolist()
    [0.0, 0.5, -1.0]
    """
    check(_sp.pade, an, m, n)
    [an] = arrays(an)
    n = an.shape[0] - 1 - m if n is None else n
    size = m + n + 1
    an = an[:size]
    xp = rc.array_namespace(an)
    zero = 0.0 * an[0]
    columns = [xp.stack([zero + (r == j) for r in range(size)]) for j in range(n + 1)]
    for j in range(m):
        rows = [-an[r - 1 - j] if r > j else zero for r in range(size)]
        columns.append(xp.stack(rows))
    pq = solve(xp.stack(columns, axis=1), an)
    q = concat([0.0 * an[:1] + 1.0, pq[n + 1 :]])
    return Polynomial(xp.flip(pq[: n + 1])), Polynomial(xp.flip(q))


@covers(_sp.approximate_taylor_polynomial)
def approximate_taylor_polynomial(
    f: Any, x: Any, degree: int, scale: Any, order: Any = None
) -> Any:
    """`scipy.interpolate.approximate_taylor_polynomial`, in what `f` captures too."""
    n = (degree if order is None else order) + 1
    nodes = np.cos(np.linspace(0.0, np.pi, n, endpoint=bool(n % 1)))
    x, scale = arrays(x, scale)
    at = scale * (nodes if is_numpy(x, scale) else arrays(nodes, x)[0]) + x
    rows = KroghInterpolator(at, f(at)).derivatives(x, degree + 1)
    xp = rc.array_namespace(rows)
    terms = [rows[m] / factorial(m) for m in range(degree, -1, -1)]
    return Polynomial(xp.stack(terms))
