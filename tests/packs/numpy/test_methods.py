"""Methods of arrays, scalars and ufuncs; operators; array_api_compat's wrappers."""

from __future__ import annotations

import operator
from typing import Any

import array_api_compat.numpy
import numpy as np
import pytest

import rules_core as rc

xp: Any = array_api_compat.numpy
RNG = np.random.default_rng(10)
M = RNG.uniform(0.5, 1.5, size=(3, 4))
T = RNG.uniform(0.5, 1.5, size=(2, 3, 4))
Z = M + 1j * RNG.normal(size=M.shape)

METHODS = [
    ("sum", (0,)), ("mean", ()), ("prod", (1,)), ("var", (0,)), ("std", ()),
    ("max", ()), ("min", (1,)), ("cumsum", (0,)), ("cumprod", (1,)),
    ("clip", (0.7, 1.2)),
    ("compress", ([True, False, True], 0)), ("conj", ()), ("conjugate", ()),
    ("copy", ()), ("diagonal", (1,)), ("dot", (M.T,)), ("ravel", ("F",)),
    ("repeat", (2, 1)), ("squeeze", ()), ("swapaxes", (0, 1)),
    ("take", ([0, 2, 2], 1)), ("trace", ()), ("reshape", (4, 3)),
    ("reshape", ((2, 6),)),
    ("flatten", ()), ("flatten", ("F",)), ("transpose", ()), ("transpose", (1, 0)),
    ("transpose", ((1, 0),)), ("item", (1, 2)), ("item", (5,)),
    ("astype", (np.dtype("complex128"),)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), METHODS)
def test_array_methods(check, name, args):
    check(getattr(np.ndarray, name), M, *args)


def test_round(check):
    check(np.ndarray.round, np.array([1.2, -2.3]))


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "max", "min"])
def test_keywords_of_methods(check, name):
    check(getattr(np.ndarray, name), M, axis=1, keepdims=True)


def test_bound_methods_give_the_cotangent_of_their_array():
    y, pullback = rc.rrule(M.sum, 0)
    assert y.shape == (4,)
    np.testing.assert_array_equal(pullback(np.ones(4))[0], np.ones((3, 4)))


@pytest.mark.parametrize("name", ["sum", "mean", "conj", "copy", "reshape"])
def test_scalar_methods(check, name):
    args = ((1, 1),) if name == "reshape" else ()
    check(getattr(np.generic, name), np.float64(1.5), *args)


OPERATORS = ["add", "sub", "mul", "truediv", "pow", "matmul"]


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(check, name):
    f = getattr(operator, name)
    right = M.T if name == "matmul" else M[:1]
    check(f, M, right)
    if name != "matmul":
        check(f, 1.5, Z)
        check(f, 1.5, 2.5)


def test_unary_operators(check):
    for f in (operator.neg, operator.pos, operator.abs):
        check(f, M)
        check(f, -1.5)


REDUCERS = [np.add, np.multiply, np.maximum, np.minimum, np.logaddexp, np.logaddexp2]


@pytest.mark.parametrize("ufunc", REDUCERS)
def test_reduce(check, ufunc):
    check(np.ufunc.reduce, ufunc, M)
    check(np.ufunc.reduce, ufunc, T, (0, 2) if ufunc.identity is not None else 1)
    check(np.ufunc.reduce, ufunc, M, 1, keepdims=True, initial=0.9)


@pytest.mark.parametrize("ufunc", REDUCERS)
def test_accumulate(check, ufunc):
    check(np.ufunc.accumulate, ufunc, M)
    check(np.ufunc.accumulate, ufunc, M, 1)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.arctan2, np.hypot])
def test_outer(check, ufunc):
    check(np.ufunc.outer, ufunc, M, T[0, 0])


def test_reduceat(check):
    check(np.ufunc.reduceat, np.add, M, [0, 2], 1)


@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat"])
def test_other_ufuncs_are_refused(method):
    args = (M, [0]) if method == "reduceat" else (M,)
    with pytest.raises(rc.UnsupportedError, match="must be taken for one of"):
        rc.rrule(getattr(np.divide, method), *args)


SQUARE = M[:, :3] @ M[:, :3].T + np.eye(3)
WRAPPERS = [
    (xp.std, (M,), {"axis": 1, "correction": 1}),
    (xp.var, (M,), {"keepdims": True}),
    (xp.sort, (M,), {"axis": 0, "descending": True}),
    (xp.sort, (M,), {}),
    (xp.matmul, (M, M.T), {}),
    (xp.tensordot, (M, M.T), {"axes": 1}),
    (xp.permute_dims, (T, (2, 0, 1)), {}),
    (xp.matrix_transpose, (T,), {}),
    (xp.clip, (M, 0.7, 1.2), {}),
    (xp.sign, (Z,), {}),
    (xp.floor, (np.array([0.3, 1.6, -0.4]),), {}),
    (xp.astype, (M, np.dtype("complex128")), {}),
    (xp.cumulative_sum, (M,), {"axis": 1, "include_initial": True}),
    (xp.take_along_axis, (M, np.array([[0], [1], [2]])), {"axis": 1}),
    (xp.zeros_like, (M,), {}),
    (xp.full, ((2, 2), 1.5), {}),
    (xp.asarray, (M,), {}),
    (xp.linspace, (0.5, 1.5, 4), {}),
    (xp.fft.rfft, (M,), {"n": 5, "axis": 0}),
    (xp.fft.fftshift, (M,), {}),
    (xp.linalg.cholesky, (SQUARE,), {}),
    (xp.linalg.eigh, (SQUARE,), {}),
    (xp.linalg.svd, (M,), {"full_matrices": False}),
    (xp.linalg.qr, (SQUARE,), {}),
    (xp.linalg.slogdet, (SQUARE,), {}),
    (xp.linalg.pinv, (M,), {}),
    (xp.linalg.matrix_norm, (M,), {"ord": "nuc"}),
    (xp.linalg.solve, (SQUARE, M), {}),
    (xp.linalg.vecdot, (M, M), {}),
    (xp.linalg.outer, (M[0], M[1]), {}),
    (xp.linalg.trace, (T,), {"offset": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args", "kw"), WRAPPERS)
def test_array_api_compat(check, f, args, kw):
    check(f, *args, **kw)
