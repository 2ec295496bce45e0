"""Arrays as Python sees them: iteration, unpacking, containers, builtins."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: B905, FURB192

import collections
import functools
import itertools
import math
import operator

import numpy as np

X = np.array([0.3, -1.2, 1.9, 0.7])


def neg_step(x):
    y = x * 1.0
    y[::-2] = x[::2]
    y[-1:-3:-1] *= y[0]
    return y @ [1, 2, 3, 4]


def lib_windows(x):
    return (
        np.lib.stride_tricks.sliding_window_view(x, 2) * [[1, 2], [3, 4], [5, 6]]
    ).sum()


def diagonal_view(x):
    return x.reshape(2, 2).diagonal().sum() * np.trace(x.reshape(2, 2))


def meth_chain(x):
    return x.reshape(2, 2).T.copy().ravel().cumsum().take([0, 3]).prod()


def any_branch(x):
    return (x * x).sum() if np.any(x > 0) and not np.all(x > 0) else x.sum()


def enumerate_zip(x):
    return sum(i * a * b for i, (a, b) in enumerate(zip(x, x[::-1])))


def unpack_rows(x):
    (a, b), (c, d) = x.reshape(2, 2)
    r, s = x.reshape(2, 2)
    return a * d - b * c + r @ s


def star_rows(x):
    first, *rest = x.reshape(4, 1)
    return first[0] * sum(r[0] for r in rest)


def max_min(x):
    return max(x) * min(x) + max(x.tolist()) + sorted(x)[1] * sorted(x, reverse=True)[0]


def sum_builtin(x):
    return (
        sum(x)
        + sum(x.reshape(2, 2))[0]
        + math.fsum(x)
        + math.prod(x.tolist())
        + math.dist(x[:2], x[2:])
        + math.hypot(*x)
    )


def map_float(x):
    return sum(map(float, x)) + sum(float(v) ** 2 for v in x)


def dict_arrays(x):
    d = {"a": x, "b": x[1:]}
    d["b"] = d["b"] * 2
    d["a"] = d["a"][0]
    return d["a"] * d["b"].sum()


def deque_arrays(x):
    d = collections.deque([x, x * 2], maxlen=2)
    d.append(d[0] * d[1])
    return d[1].sum()


def reduce_arrays(x):
    return (
        functools.reduce(np.multiply, [x, x, x]).sum()
        + functools.reduce(operator.matmul, [x.reshape(2, 2)] * 3).sum()
    )


def accumulate(x):
    return sum(itertools.accumulate(x, operator.mul))


def is_identity(x):
    y = x
    return (y * 2 if y is x else y).sum()


def np_iterable(x):
    return (
        np.array([v * v for v in x]) @ np.array(list(x))
        + np.array(tuple(x)).sum()
        + np.stack([x, x]).sum()
        + np.array([x, x * 2])[1].sum()
        + np.array([[x[0], 1], [2, x[1]]]).sum()
    )


def np_array_mixed(x):
    return (
        np.array([x[0], 1, True, x[1]]).sum()
        + np.array([np.array(x[0]), 2.0])[0]
        + np.asarray([x[:2], [1, 2]])[0, 1]
    )


def full_like(x):
    return (
        np.full((2, 2), x[0]).sum()
        + np.full_like(x, x[1]).sum()
        + (np.ones_like(x) * x).sum()
        + np.tile(x, 2).sum()
        + np.repeat(x[0], 3).sum()
    )


def float_hash_set(x):
    s = {1, 2, 3}
    return x[0] * len(s)


def set_of_ids(x):
    seen = set()
    t = 0.0
    for v in [x, x, x * 2]:
        if id(v) in seen:
            continue
        seen.add(id(v))
        t = t + v.sum()
    return t


def string_index(x):
    return {f"k{i}": v for i, v in enumerate(x)}["k1"] ** 2


PROGRAMS = [
    (neg_step, (X.copy(),)),
    (lib_windows, (X.copy(),)),
    (diagonal_view, (X.copy(),)),
    (meth_chain, (X.copy(),)),
    (any_branch, (X.copy(),)),
    (enumerate_zip, (X.copy(),)),
    (unpack_rows, (X.copy(),)),
    (star_rows, (X.copy(),)),
    (max_min, (X.copy(),)),
    (sum_builtin, (X.copy(),)),
    (map_float, (X.copy(),)),
    (dict_arrays, (X.copy(),)),
    (deque_arrays, (X.copy(),)),
    (reduce_arrays, (X.copy(),)),
    (accumulate, (X.copy(),)),
    (is_identity, (X.copy(),)),
    (np_iterable, (X.copy(),)),
    (np_array_mixed, (X.copy(),)),
    (full_like, (X.copy(),)),
    (float_hash_set, (X.copy(),)),
    (set_of_ids, (X.copy(),)),
    (string_index, (X.copy(),)),
]
