"""Systems of equations between neighbouring nodes: their matrix, and its solutions.

There are unknowns of each node, and parameters; equations of each interval, in which
the unknowns of its two nodes stand and the parameters, and equations of both ends.

A few products with the matrix, or with its transpose, show all of its entries: one
product serves every second interval. A function that depends on other nodes than it
should is seen by a product with the solution.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy._functions import known
from rules_scipy._lists import constant_like
from rules_scipy.sparse import Pattern
from rules_scipy.sparse.linalg._direct import solved

__all__ = ["solved_adjoint", "solved_forwards"]

Product = Callable[[Any], Any]
Sizes = tuple[int, int, int]


def solved_adjoint(product: Product, b: Any, sizes: Sizes) -> Any:
    """The solution of `Aᵀ w = b`.

    Products with `Aᵀ` show the rows of the parameters only as sums over all intervals.
    So `w` is found from the other rows first, with as many unknowns left as there are
    parameters; then from their rows.

    Args:
        product: `w ↦ Aᵀ w`.
        b: The right-hand side.
        sizes: How many unknowns a node has, how many nodes and parameters there are.
    """
    xp, (n, m, k) = rc.array_namespace(b), sizes
    probes, pattern, edge = _adjoint_parts(sizes)
    shown = _shown(product, probes, b)[:, : n * m].reshape((-1, n, m))
    inside, ends = shown[: 2 * n, ...], shown[2 * n :, ...]
    ends = xp.stack([ends[:, :, 0], ends[:, :, m - 1]])
    data = concat([inside.reshape((-1,)), ends.reshape((-1,)), _number(edge, b)])
    if not k:
        w = solved(data, b, pattern, False)
        return _checked(product(w) - b, b, data, w)
    own = concat([b[:-k], 0.0 * b[-k:]])[:, None]
    columns = concat([own, _number(_columns(sizes), b)], axis=1)
    found = solved(data, columns, pattern, False)
    first, free = found[:, 0], found[:, 1:]
    rows = xp.stack([product(free[:, i])[-k:] for i in range(k)], axis=1)
    misfit = b[-k:] - product(first)[-k:]
    w = first + free @ solved(rows.reshape((-1,)), misfit, _full(k), False)
    return _checked(product(w) - b, b, data, w)


def solved_forwards(product: Product, b: Any, sizes: Sizes) -> Any:
    """The solution of `A v = b`, for the product `v ↦ A v`."""
    probes, pattern = _forward_parts(sizes)
    data = _shown(product, probes, b).reshape((-1,))
    v = solved(data, b, pattern, False)
    return _checked(product(v) - b, b, data, v)


def _shown(product: Product, probes: Any, like: Any) -> Any:
    """Products with vectors, a row each."""
    rows = _number(probes, like)
    found = [product(rows[i, :]) for i in range(rows.shape[0])]
    return rc.array_namespace(like).stack(found)


def _number(x: Any, like: Any) -> Any:
    xp = rc.array_namespace(like)
    return xp.astype(constant_like(x, like), like.dtype)


_SINGULAR = (
    "found a solution that is not isolated, so that it has no derivative. Choose a "
    "problem with one solution nearby, and without parameters that do nothing"
)
_MIXED = (
    "has no derivative where the function's value at one node depends on another node. "
    "As in SciPy, column i of what fun returns must depend on x[i] and y[:, i] alone"
)
# How exactly the equations must hold with the function itself.
_TOLERANCE, _TOLERANCE_SINGLE = 1e-8, 1e-3


def _checked(misfit: Any, b: Any, data: Any, w: Any) -> Any:
    """The solution, if the function has the matrix that was assumed."""
    xp = rc.array_namespace(b)
    is_single = xp.finfo(b.dtype).bits < 64
    b, data, at, misfit = map(rc.ignore_derivatives, (b, data, w, misfit))
    size = xp.max(xp.abs(b)) + xp.max(xp.abs(data)) * xp.max(xp.abs(at))
    far = (_TOLERANCE_SINGLE if is_single else _TOLERANCE) * size
    w = known(w, xp.all(xp.isfinite(at)), _SINGULAR, "solve_bvp")
    return known(w, xp.max(xp.abs(misfit)) <= far, _MIXED, "solve_bvp")


# the places of the entries


@cache
def _adjoint_parts(sizes: Sizes) -> tuple[Any, Pattern, Any]:
    """Vectors that show the rows of the nodes in `Aᵀ`, the places, and more numbers.

    These stand in the rows of the parameters: they make the matrix a square one.
    """
    n, m, k = sizes
    interval, node, part = np.arange(m - 1), np.arange(m), np.arange(n)
    last = n * (m - 1) + np.arange(n + k)  # the equations of the ends
    probes, inside = np.zeros((3 * n + k, n * m + k)), np.zeros((2 * n, n, m), int)
    for parity in (0, 1):
        own = np.where(node % 2 == parity, node, node - 1).clip(0, m - 2)
        for i in range(n):
            probes[2 * i + parity, i * (m - 1) + interval[parity::2]] = 1.0
            inside[2 * i + parity] = i * (m - 1) + own
    probes[2 * n + np.arange(n + k), last] = 1.0
    places = [
        (part[:, None] * m + node, inside),
        (part * m + np.array([0, m - 1])[:, None, None], last[:, None]),
        (n * m + np.arange(k)[:, None], last),
    ]
    pairs = [np.broadcast_arrays(*pair) for pair in places]
    rows, columns = (
        np.concatenate([x.ravel() for x in xs]) for xs in zip(*pairs, strict=True)
    )
    # Numbers without a pattern, which that of a problem might cancel.
    edge = np.random.default_rng(0).normal(size=k * (n + k))
    return probes, Pattern(rows, columns, (n * m + k,) * 2), edge


@cache
def _forward_parts(sizes: Sizes) -> tuple[Any, Pattern]:
    """Vectors that show the columns of `A`, and the places."""
    n, m, k = sizes
    size = n * m + k
    node, interval = np.arange(m), np.arange(m - 1)
    colour = node % 2
    colour[-1] = 2  # both ends stand in the equations of the ends
    probes = np.zeros((3 * n + k, size))
    columns = np.zeros((3 * n + k, size), int)
    for i in range(n):
        for c in range(3):
            own = np.where(colour[interval] == c, interval, interval + 1)
            end = m - 1 if c == 2 else 0
            probes[3 * i + c, i * m + node[colour == c]] = 1.0
            columns[3 * i + c] = i * m + np.concatenate(
                [np.tile(own, n), np.full(n + k, end)]
            )
    probes[3 * n + np.arange(k), n * m + np.arange(k)] = 1.0
    columns[3 * n :] = n * m + np.arange(k)[:, None]
    rows = np.broadcast_to(np.arange(size), columns.shape)
    return probes, Pattern(rows.ravel(), columns.ravel(), (size, size))


@cache
def _columns(sizes: Sizes) -> Any:
    """The unit vectors of the parameters, a column each."""
    n, m, k = sizes
    return np.eye(n * m + k)[:, n * m :]


@cache
def _full(k: int) -> Pattern:
    rows, columns = np.divmod(np.arange(k * k), k)
    return Pattern(rows, columns, (k, k))
