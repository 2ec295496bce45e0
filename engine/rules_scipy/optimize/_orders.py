"""Results that are a choice, and numbers: blocks of a regression, a permutation.

>>> import jax, jax.numpy as jnp
>>> from rules_scipy import optimize
>>> def last(y):
...     return optimize.isotonic_regression(y).x[-1]
>>> jax.jit(jax.grad(last))(jnp.asarray([1.0, 4.0, 2.0])).tolist()
[0.0, 0.5, 0.5]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize as _sp

import rules_core as rc
from rules_scipy._arrays import concrete, vector
from rules_scipy._axes import concat
from rules_scipy._functions import Run, like
from rules_scipy._solvers import result_of

from ._arguments import DECLARED
from ._optima import with_formula
from ._searches import search

__all__ = ["isotonic_regression", "quadratic_assignment"]


def isotonic_regression(y: Any, *, weights: Any = None, increasing: bool = True) -> Any:
    """`scipy.optimize.isotonic_regression`: a weighted mean in each of its blocks.

    Where two blocks meet, as where neighbours are equal, the derivative is that of the
    blocks that SciPy forms. Their number is not known to traced code, where the result
    has `x` alone.
    """
    y = vector(like(y, y, weights))
    xp = rc.array_namespace(y)
    w = xp.ones_like(y) if weights is None else vector(like(weights, y))
    y = y + 0.0 * w if weights is not None else y
    run = Run(_run_isotonic, 0, increasing=increasing)
    n = y.shape[0]
    found, _, _, rest = search((None,), (), (y, w), run, 3 * n)
    places = _whole(found[n : 2 * n]), _whole(found[2 * n :])
    x = with_formula(found[:n], _means, (), (y, w, *places))
    fields = {"x": x}
    blocks = rest["blocks"] if rest else _blocks(found[n : 2 * n])
    if blocks is not None:
        of_blocks = tuple([place[blocks[:-1]] for place in places])
        fields |= {"weights": _sums(w, *of_blocks), "blocks": blocks}
    return result_of(fields)


def _blocks(first: Any) -> Any:
    """Where blocks begin, and the end; None in traced code."""
    known = concrete(first)
    return (
        None if known is None else np.append(np.unique(known), len(known)).astype(int)
    )


rc.non_differentiable(_blocks)


def _run_isotonic(settings: Any, _: Any, y: Any, w: Any) -> Any:
    """The solution; the first place of each number's block, that after its last one."""
    found = _sp.isotonic_regression(y, weights=w, **settings)
    blocks = found.blocks
    sizes = np.diff(blocks)
    ends = [np.repeat(x, sizes) for x in (blocks[:-1], blocks[1:])]
    return np.concatenate([found.x, *ends]), 1, (), {"blocks": blocks}


def _means(_: Any, y: Any, w: Any, first: Any, last: Any) -> Any:
    return _sums(w * y, first, last) / _sums(w, first, last)


def _sums(x: Any, first: Any, last: Any) -> Any:
    """The sums from first places to those before the last ones."""
    xp = rc.array_namespace(x)
    total = concat([0.0 * x[:1], xp.cumulative_sum(x)])
    return xp.take(total, last, axis=0) - xp.take(total, first, axis=0)


def _whole(x: Any) -> Any:
    xp = rc.array_namespace(x)
    return xp.astype(x, xp.int64 if isinstance(x, np.ndarray) else xp.int32)


rc.non_differentiable(_whole)


def quadratic_assignment(
    A: Any, B: Any, method: str = "faq", options: Any = None
) -> Any:
    """`scipy.optimize.quadratic_assignment`; `fun` has derivatives in both matrices.

    They are those at the permutation that SciPy finds, which is constant.
    """
    A = _table(like(A, A, B))
    B = _table(like(B, A))
    run = Run(_run_quadratic, 1, method=method, options=options)
    found, _, counts, _ = search((None,), (), (A, B), run, A.shape[0])
    xp, order = rc.array_namespace(A), _whole(found)
    moved = xp.take(xp.take(B, order, axis=0), order, axis=1)
    fields = {"col_ind": order, "fun": xp.sum(A * moved), "nit": counts[0]}
    return result_of(fields)


def _table(x: Any) -> Any:
    """A number or a row as a matrix, as SciPy reads it."""
    return x if x.ndim > 1 else rc.array_namespace(x).reshape(x, (1, -1))


def _run_quadratic(settings: Any, _: Any, A: Any, B: Any) -> Any:
    found = _sp.quadratic_assignment(A, B, **settings)
    return found.col_ind.astype(float), 1, (int(found.nit),), {}


DECLARED.follow(_sp.isotonic_regression, isotonic_regression)
DECLARED.cover(_sp.quadratic_assignment, quadratic_assignment)
