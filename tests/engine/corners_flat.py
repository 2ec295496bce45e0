"""The language at its corners: `.flat`, lists filled by arrays, writes by C code."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: NPY002

import functools
import random
from collections import defaultdict
from typing import Any

import numpy as np

X = np.array([0.5, -1.2, 2.0])
M = np.array([[0.5, -1.2, 2.0], [1.0, 0.3, -0.7]])


def read(m):
    last = m.flat[-1] * m.flat[np.array([0, 2])][1]
    return sum(v * v for v in m.T.flat) + m.T.flat[3] * m.flat[1] + last


def written(m):
    t = m.copy().T
    t.flat[1] = m[0, 0] ** 2
    t.flat[2:5] = m[0]
    t.flat[[0, 5]] = [m[1, 1], m[1, 2]]
    t.flat[:2] *= m[0, 1]
    return np.sum(t * t)


def one_by_one(m):
    it = m.T.flat
    a, b = next(it), next(it)
    place = it.index
    return a * b * place + sum(it) * (next(it, None) is None)


def left_over(x):
    it, total = x.flat, 0.0
    for i, v in enumerate(it):
        total += v * i
        if i == 1:
            break
    return total + sum(v * 10 for v in it)


def as_array(m):
    it = m.T.flat
    y = np.sum(it.copy() ** 2) + np.sum(np.array(it)) + np.sum(np.asarray(m.flat) * 2)
    z = np.zeros(6)
    z += m.flat
    z[:] = z * m.T.flat
    return y + len(it) * m[0, 0] + np.sum(m.flat) + z @ np.arange(6.0)


def assigned(x):
    a, b = np.zeros(4), np.zeros(())
    a.flat = x[:2]
    a.flat[1:] = [x[0], x[2]]
    b.flat[0] = x[1]
    return np.sum(a * np.arange(4)) * next(b.flat)


def late(m):
    t = np.zeros(6)
    it = t.flat
    it[0] = m[0, 0]
    t[1] = m[0, 1] ** 2
    next(it)
    return next(it) * t[0] + it.base[0]


def owners(x):
    return x[0] if x.base is None else x[1] * x[2]


def list_slices(x):
    a = [1.0, 2.0]
    a[1:1] = x
    a[:2] = (v * k for k, v in enumerate(x))
    a[::2] = x[:3]
    del a[1:3]
    return sum(v * i for i, v in enumerate(a, 1))


def list_plus_array(x):
    a = [1.0, 2.0, 3.0]
    b = a
    a += x  # a list has no += for arrays: NumPy makes a new array
    return np.sum(a * a) + sum(b)


def overwritten_inputs(x):
    a = x * 1.0
    y = np.median(a, overwrite_input=True) * np.percentile(a, 30, None, None, True)
    b = np.array([1.0, 2.0, 3.0]) * x[0]
    b[1:] = np.nan, np.inf
    c = np.nan_to_num(b, copy=False, nan=3.0, posinf=2.0, neginf=1.0)
    c[0] *= 2
    return y + np.sum(b) * b[0]


def lists_at(x):
    a = np.zeros(3)
    np.add.at(a, [0, 0, 1], [x[0], x[1] ** 2, 2 * x[2]])
    np.subtract.at(a, [1, 2], [x[0], x[1]])
    np.multiply.at(a, [0], [x[2]])
    return np.sum(a * a)


def shuffled(x):
    a, b, items = x * 1.0, x * 1.0, list(x)
    random.Random(0).shuffle(a)
    random.Random(0).shuffle(items)
    np.random.RandomState(0).shuffle(b)
    np.random.seed(0)
    np.random.shuffle(b)
    return a @ np.arange(3) + b @ np.arange(3) * items[0] * items[1] ** 2


PARAMETERS: dict[str, Any] = {}
MADE: defaultdict[str, Any] = defaultdict(lambda: PARAMETERS["k"] ** 2)


def outer_factory(x):
    PARAMETERS["k"] = x[0]
    y = MADE["a"] * MADE["a"]
    MADE.clear()
    return y


def displayed(x):
    k = x[0]
    return {k: x[1]}[k] * {v: v * v for v in x}[x[2]] + {k: 1.0}[k]


def caches_inside(x):
    @functools.lru_cache(None)
    def fib(n):
        return x[0] if n < 2 else fib(n - 1) * 0.5 + fib(n - 2) * x[2]

    y = fib(8)
    misses = fib.cache_info().misses
    fib.cache_clear()
    return y * misses + fib(1) * fib.cache_info().currsize


PROGRAMS = [
    *[(f, (M,)) for f in (read, written, one_by_one, as_array, late)],
    *[
        (f, (X,))
        for f in (
            left_over, assigned, owners, list_slices, list_plus_array,
            overwritten_inputs, lists_at, shuffled, outer_factory, displayed,
            caches_inside,
        )
    ],
]  # fmt: skip
