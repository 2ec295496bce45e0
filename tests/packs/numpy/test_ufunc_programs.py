"""Methods of ufuncs, `where=`, `out=`, methods and attributes of arrays, in programs.

Both modes of the reference engine, against finite differences.
"""

from __future__ import annotations

from typing import Any

import array_api_compat.numpy
import numpy as np
import pytest

import rules_autodiff as ad

xp: Any = array_api_compat.numpy
V = np.linspace(1.0, 2.0, 6)
W = np.arange(6.0) + 0.5
R = W.reshape(2, 3)
PLACES = np.array([0, 2, 2, 5])
MASK = np.array([True, False, True, True, False, True])
UFUNCS = [
    np.add, np.multiply, np.maximum, np.minimum, np.logaddexp, np.logaddexp2,
    np.subtract, np.divide, np.hypot, np.fmax, np.fmin, np.copysign,
]  # fmt: skip


def check_program(f):
    h = 1e-6
    exact = [(f(V + h * e) - f(V - h * e)) / (2 * h) for e in np.eye(6)]
    np.testing.assert_allclose(ad.grad(f)(V), exact, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ad.jacfwd(f)(V), exact, rtol=1e-5, atol=1e-6)


def at(u, x):
    y = x * 1.0
    u.at(y, PLACES, x[:4] ** 2 + 0.3)
    return np.sum(y * W)


def masked_out(u, x):
    y = np.ones(6) * x[0]
    u(x, x * x, out=y, where=MASK)
    return np.sum(y * W)


def masked(u, x):
    return np.sum(u(x, W, where=MASK, out=np.zeros(6))[MASK])


def reduced(u, x):
    return u.reduce(x * W, where=MASK, initial=1.1)


def reduced_out(u, x):
    y = np.zeros(())
    u.reduce(x * x, out=y)
    return y * 2.0


def accumulated(u, x):
    return np.sum(u.accumulate(x * W) * W)


def accumulated_out(u, x):
    y = np.zeros(6)
    u.accumulate(x * W, out=y)
    return np.sum(y * W)


def outer(u, x):
    return np.sum(u.outer(x, x * x) * np.outer(W, W))


def outer_out(u, x):
    y = np.zeros((6, 6))
    u.outer(x, x * x, out=y)
    return np.sum(y * np.outer(W, W))


def stretches(u, x):
    return np.sum(u.reduceat(x * W, [0, 2, 1, 4]) * W[:4])


USES = [
    at, masked_out, masked, reduced, reduced_out, accumulated, accumulated_out, outer,
    outer_out, stretches,
]  # fmt: skip


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("ufunc", UFUNCS)
def test_ufuncs(ufunc, use):
    check_program(lambda x: use(ufunc, x))


def table(f):
    return lambda x: f(x.reshape(2, 3) * 1.0)


def written(write):
    def f(a):
        write(a)
        return np.sum(a * R)

    return table(f)


def real_part_written(a):
    z = np.ones((2, 3), complex)
    z.real = a
    return np.sum(np.abs(z) ** 2)


ARRAYS = {
    "T": table(lambda a: np.sum(a.T @ R)),
    "mT": table(lambda a: np.sum(a.mT @ R)),
    "flat": table(lambda a: np.sum(a.flat[2] * a.flat[1:3])),
    "real": table(lambda a: np.sum((a * (1 + 2j)).real ** 2)),
    "imag": table(lambda a: np.sum((a * (1 + 2j)).imag ** 2)),
    "real = ": table(real_part_written),
    "size": table(lambda a: a.sum() * a.size * a.shape[0] * a.ndim * a.itemsize),
    "sort": written(lambda a: a.sort()),
    "fill": written(lambda a: a.fill(a[0, 0])),
    "partition": written(lambda a: a.partition(1)),
    "put": written(lambda a: a.put([0, 1], a[1, :2])),
    "tolist": table(lambda a: sum(a.tolist()[1])),
    "view": table(lambda a: np.sum(a.view() * R)),
    "argmax": table(lambda a: a.flat[a.argmax()]),
    "iteration": table(lambda a: sum(row.sum() * k for k, row in enumerate(a))),
    "choose": table(lambda a: np.sum(np.array([0, 1, 0]).choose([a[0], a[1]]) * R[0])),
    "nonzero": table(lambda a: np.sum(a[a.nonzero()])),
    "searchsorted": table(lambda a: a[0, 0] * a.ravel().searchsorted(1.5)),
    "dot": table(lambda a: np.sum(a.dot(a.T))),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_methods_and_attributes(name):
    check_program(ARRAYS[name])


WRAPPED = {
    "std": lambda x: xp.std(x, correction=1),
    "var": lambda x: xp.var(x, correction=1),
    "mean": lambda x: xp.mean(x),
    "prod": lambda x: xp.prod(x),
    "max": lambda x: xp.max(x),
    "matmul": lambda x: xp.sum(xp.matmul(x.reshape(2, 3), x.reshape(3, 2))),
    "sort": lambda x: xp.sum(xp.sort(x, descending=True) * W),
    "argsort": lambda x: xp.sum(x[xp.argsort(x, descending=True)] * W),
    "where": lambda x: xp.sum(xp.where(x > 1.5, x, x * x)),
    "reshape": lambda x: xp.sum(xp.reshape(x, (2, 3)) * R),
    "concat": lambda x: xp.sum(xp.concat([x, x * x]) ** 2),
    "unstack": lambda x: sum(xp.unstack(x)) ** 2,
    "isdtype": lambda x: xp.sum(x * xp.isdtype(x.dtype, "real floating")),
    "fft": lambda x: xp.sum(xp.abs(xp.fft.fft(x)) ** 2),
    "cumulative_sum": lambda x: xp.sum(xp.cumulative_sum(x) * W),
    "hypot": lambda x: xp.sum(xp.hypot(x, 2.0)),
    "meshgrid": lambda x: xp.sum(xp.meshgrid(x, x)[0] ** 2),
    "take": lambda x: xp.sum(xp.take(x, np.array([0, 1]), axis=0)),
    "vecdot": lambda x: xp.vecdot(x, x),
    "clip": lambda x: xp.sum(xp.clip(x, 1.25, 1.7) ** 2),
    "vector_norm": lambda x: xp.linalg.vector_norm(x),
    "eigh": lambda x: xp.sum(
        xp.linalg.eigh(xp.linalg.outer(x, x) + np.diag(W))[0] ** 2
    ),
    "count_nonzero": lambda x: x[0] * xp.count_nonzero(x),
    "diff": lambda x: xp.sum(xp.diff(x) ** 2),
    "repeat": lambda x: xp.sum(xp.repeat(x, 2) ** 2),
    "pow": lambda x: xp.sum(xp.pow(x, 3)),
    "acos": lambda x: xp.sum(xp.acos(x / 3.0)),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_array_api_programs(name):
    check_program(WRAPPED[name])


def table_of(x):
    return np.stack([x, x[::-1] ** 2, np.sin(3.0 * x) + 1.5])


def begun(u, x):
    return np.sum(u.reduce(table_of(x), axis=1, initial=x[1] ** 2) * W[:3])


def begun_and_kept(u, x):
    found = u.reduce(table_of(x), 0, keepdims=True, initial=x[0] * x[1])
    return np.sum(found * W)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("use", [begun, begun_and_kept])
@pytest.mark.parametrize("ufunc", UFUNCS)
def test_initial_values_that_move(ufunc, use):
    check_program(lambda x: use(ufunc, x))


REORDERABLE = [u for u in UFUNCS if u not in (np.subtract, np.divide, np.copysign)]


@pytest.mark.parametrize("ufunc", REORDERABLE)
def test_initial_values_of_what_is_masked(ufunc):
    mask = np.arange(18).reshape(3, 6) % 3 > 0

    def f(x):
        part = ufunc.reduce(table_of(x), (0, 1), initial=x[1] ** 2, where=mask)
        return part + ufunc.reduce(x, where=MASK, initial=x[2])

    check_program(f)


def test_initial_values_that_nothing_stands_for_are_refused():
    """Masked entries need an identity, which a difference has not."""
    with pytest.raises(ad.UnsupportedProgram, match="'initial'"):
        ad.grad(lambda x: np.subtract.reduce(x, initial=x[0], where=MASK))(V)
