"""The thirteen programs of Mooncake.jl's benchmark suite, as one writes them in NumPy.

Where the Julia original maps a function over an array, the Python one loops.
"""

from typing import Any

import numpy as np
from engine_programs import Case, Function, rng


def normal(*shapes: tuple[int, ...]) -> Function:
    """Normal random arrays."""

    def make() -> Any:
        r = rng()
        return tuple(r.standard_normal(shape) for shape in shapes)

    return make


# sums


def total(xp: Any) -> Function:
    def f(x: Any) -> Any:
        return xp.sum(x)

    return f


def sum_loop(_xp: Any) -> Function:
    def f(x: Any) -> Any:
        y = 0.0
        for v in x:
            y += v
        return y

    return f


def sum_sin(xp: Any) -> Function:
    return lambda x: xp.sum(xp.sin(x))


def sum_sin_loop(xp: Any) -> Function:
    def f(x: Any) -> Any:
        y = 0.0
        for v in x:
            y += xp.sin(v)
        return y

    return f


# Kronecker products


def kron_sum(xp: Any) -> Function:
    def f(x: Any, y: Any) -> Any:
        return xp.sum(x[:, None, :, None] * y[None, :, None, :])

    return f


def kron_sum_hand(x: Any, y: Any) -> Any:
    return np.full(x.shape, np.sum(y))


def kron_view_sum(xp: Any) -> Function:
    def f(x: Any, y: Any) -> Any:
        part, upper = x[:20, :20], xp.triu(y)
        return xp.sum(part[:, None, :, None] * upper[None, :, None, :])

    return f


def kron_view_sum_hand(x: Any, y: Any) -> Any:
    d = np.zeros_like(x)
    d[:20, :20] = np.sum(np.triu(y))
    return d


# sin(cos(exp x)), three ways


def map_in_place(xp: Any) -> Function:
    def f(x: Any) -> Any:
        y = xp.empty_like(x)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = xp.sin(xp.cos(xp.exp(x[i, j])))
        return xp.sum(y)

    return f


def map_listed(xp: Any) -> Function:
    def f(x: Any) -> Any:
        return sum([xp.sin(xp.cos(xp.exp(v))) for v in x.reshape(-1)])

    return f


def broadcast_map(xp: Any) -> Function:
    return lambda x: xp.sum(xp.sin(xp.cos(xp.exp(x))))


def map_hand(x: Any) -> Any:
    e = np.exp(x)
    return -np.cos(np.cos(e)) * np.sin(e) * e


# a network with one hidden layer


def simple_mlp(xp: Any) -> Function:
    def f(w2: Any, w1: Any, y: Any, x: Any) -> Any:
        h = w1 @ x
        r = y - w2 @ (h * (h >= 0))
        return xp.sum(r * r)

    return f


def simple_mlp_hand(w2: Any, w1: Any, y: Any, x: Any) -> Any:
    h = w1 @ x
    h = h * (h >= 0)
    return -2 * (y - w2 @ h) @ h.T


# the log marginal likelihood of a Gaussian process, by the noise


def gp_lml(xp: Any) -> Function:
    def f(s: Any, x: Any, y: Any) -> Any:
        d = x[:, None] - x[None, :]
        k = xp.exp(-0.5 * d * d) + s * xp.eye(x.shape[0])
        low = xp.linalg.cholesky(k)
        a = xp.linalg.solve(low, y)
        return -0.5 * xp.sum(a * a) - xp.sum(xp.log(xp.diagonal(low)))

    return f


def gp_lml_hand(s: Any, x: Any, y: Any) -> Any:
    d = x[:, None] - x[None, :]
    inverse = np.linalg.inv(np.exp(-0.5 * d * d) + s * np.eye(len(x)))
    a = inverse @ y
    return 0.5 * (a @ a - np.trace(inverse))


# a log-normal model of 10⁵ numbers with a bounded mean, as Turing writes it


def lognormal(xp: Any) -> Function:
    def f(z: Any, data: Any) -> Any:
        share = 1.0 / (1.0 + xp.exp(-z))
        mean, deviation = 0.1 + 9.9 * share[0], 0.1 + 9.9 * share[1]
        prior = -xp.sum(((0.1 + 9.9 * share - 1.0) / 2.0) ** 2) / 2.0
        jacobian = xp.sum(xp.log(share * (1.0 - share)))
        r = (xp.log(data) - mean) / deviation
        count = data.shape[0]
        likelihood = -0.5 * xp.sum(r * r) - count * xp.log(deviation)
        return prior + jacobian + likelihood - xp.sum(xp.log(data))

    return f


def lognormal_hand(z: Any, data: Any) -> Any:
    share = 1.0 / (1.0 + np.exp(-z))
    theta = 0.1 + 9.9 * share
    r = (np.log(data) - theta[0]) / theta[1]
    d = np.array([np.sum(r), np.sum(r * r) - len(data)]) / theta[1]
    d -= (theta - 1.0) / 4.0
    return d * 9.9 * share * (1.0 - share) + 1.0 - 2.0 * share


# straight-line scalar code, 400 products


def large_single_block(_xp: Any) -> Function:
    def f(x: Any) -> Any:
        y, a = x[0], x[1]
        for _ in range(400):
            y = y * a
        return y

    return f


def large_single_block_hand(x: Any) -> Any:
    return np.array([x[1] ** 400, 400 * x[0] * x[1] ** 399])


def gp_arguments() -> Any:
    return 1.0, np.arange(128) * 0.2, rng().standard_normal(128)


def lognormal_arguments() -> Any:
    r = rng()
    return r.standard_normal(2), np.exp(1.5 + 0.5 * r.standard_normal(100_000))


THIRTEEN = {
    "sum": Case(normal((1000,)), total, np.ones_like),
    "sum, loop": Case(normal((1000,)), sum_loop, np.ones_like, operations=2000),
    "sum of sines": Case(normal((1000,)), sum_sin, np.cos),
    "sum of sines, loop": Case(normal((1000,)), sum_sin_loop, np.cos, operations=3000),
    "kron": Case(normal((20, 20), (40, 40)), kron_sum, kron_sum_hand),
    "kron of views": Case(
        normal((40, 30), (40, 40)), kron_view_sum, kron_view_sum_hand
    ),
    "map, in place": Case(
        normal((10, 10)), map_in_place, map_hand, map_listed, operations=500
    ),
    "map, listed": Case(normal((10, 10)), map_listed, map_hand, operations=500),
    "map, whole": Case(normal((10, 10)), broadcast_map, map_hand),
    "MLP 256": Case(
        normal((128, 256), (256, 128), (128, 70), (128, 70)),
        simple_mlp,
        simple_mlp_hand,
    ),
    "Gaussian process": Case(gp_arguments, gp_lml, gp_lml_hand),
    "log-normal model": Case(lognormal_arguments, lognormal, lognormal_hand),
    "large block": Case(
        lambda: (np.array([0.9, 0.99]),),
        large_single_block,
        large_single_block_hand,
        operations=400,
    ),
}
