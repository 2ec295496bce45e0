"""Methods of arrays and ufuncs; operators."""

from __future__ import annotations

import operator
from operator import itemgetter

import numpy as np
import pytest

import rules_core as rc
from rules_numpy.interfaces.ufunc_steps import folded

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
    ("astype", (np.dtype("complex128"),)), ("__copy__", ()),
    ("__getitem__", (slice(1, None),)), ("__getitem__", ((0, [1, 1]),)),
]  # fmt: skip


@pytest.mark.covering(each=itemgetter("name"))
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


SCALAR_METHODS = [
    *((name, ()) for name in (
        "sum mean prod var std max min conj conjugate copy __copy__ cumsum cumprod "
        "ravel flatten squeeze transpose item"
    ).split()),
    ("round", ()), ("clip", (0.7, 1.2)), ("reshape", ((1, 1),)), ("repeat", (3,)),
    ("take", ([0, 0],)), ("compress", ([True],)),
    ("astype", (np.dtype("complex128"),)),
]  # fmt: skip


@pytest.mark.covering(each=itemgetter("name"))
@pytest.mark.parametrize(("name", "args"), SCALAR_METHODS)
def test_scalar_methods(check, name, args):
    """NumPy scalars have the methods of arrays."""
    x = np.float64({"clip": 1.1, "round": 1.2}.get(name, 1.53))  # far from a step
    check(getattr(np.generic, name), x, *args)


@pytest.mark.parametrize("name", ["swapaxes", "diagonal", "trace"])
def test_methods_that_no_scalar_can_follow(name):
    """They need axes; NumPy's own error says so."""
    args = (0, 1) if name == "swapaxes" else ()
    with pytest.raises(ValueError, match=r"out of bounds|at least two dimensions"):
        rc.rrule(getattr(np.generic, name), np.float64(1.5), *args)


OPERATORS = ["add", "sub", "mul", "truediv", "pow", "matmul"]


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(check, name):
    f = getattr(operator, name)
    right = M.T if name == "matmul" else M[:1]
    check(f, M, right)
    if name != "matmul":
        check(f, 1.5, Z)
        check(f, 1.5, 2.5)


@pytest.mark.parametrize("name", ["mod", "floordiv"])
def test_remainders(check, name):
    check(getattr(operator, name), np.array([1.05, -0.7]), np.array([0.75, 1.4]))


@pytest.mark.parametrize("name", [*OPERATORS[:-1], "mod", "floordiv"])
def test_operators_in_place(check, name):
    """Numbers are not written to: `x += y` makes a new one."""
    check(getattr(operator, f"i{name}"), 1.53, 0.7)
    check(getattr(operator, f"i{name}"), np.float64(1.53), 0.7)


@pytest.mark.parametrize("name", ["iadd", "imul", "imatmul"])
def test_writing_into_an_array_has_no_rule(name):
    """A rule must not write into its arguments: engines follow the memory."""
    before = M.copy()
    assert rc.rrule(getattr(operator, name), M, M) is None
    np.testing.assert_array_equal(M, before)


def test_unary_operators(check):
    for f in (operator.neg, operator.pos, operator.abs):
        check(f, M)
        check(f, -1.5)


REDUCERS = [
    np.add, np.multiply, np.maximum, np.minimum, np.logaddexp, np.logaddexp2, np.hypot,
    np.fmax, np.fmin,
]  # fmt: skip
# Of one axis at a time, and in order.
ORDERED = [np.subtract, np.divide, np.copysign, np.fmod, np.remainder, np.nextafter]
# NumPy's own reductions by these are wrong on some processors.
VECTORISED = [np.power, np.float_power, np.arctan2]


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("ufunc", REDUCERS)
def test_reduce(check, ufunc):
    check(np.ufunc.reduce, ufunc, M)
    check(np.ufunc.reduce, ufunc, T, (0, 2) if ufunc.identity is not None else 1)
    check(np.ufunc.reduce, ufunc, M, 1, keepdims=True, initial=0.9)


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("ufunc", REDUCERS)
def test_accumulate(check, ufunc):
    check(np.ufunc.accumulate, ufunc, M)
    check(np.ufunc.accumulate, ufunc, M, 1)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.arctan2, np.hypot])
def test_outer(check, ufunc):
    check(np.ufunc.outer, ufunc, M, T[0, 0])


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("ufunc", REDUCERS)
def test_reduceat(check, ufunc):
    """A stretch ends where the next begins; one that would be empty is one entry."""
    check(np.ufunc.reduceat, ufunc, M, [0, 2], 1)
    check(np.ufunc.reduceat, ufunc, M[:, 0], [1, 0, 2])
    check(np.ufunc.reduceat, ufunc, T, [0, 3, 1], -1)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("ufunc", ORDERED)
def test_in_order(check, ufunc):
    """Also complex, where there is such a function."""
    a = np.abs(M) + 0.5
    check(np.ufunc.reduce, ufunc, a)
    check(np.ufunc.reduce, ufunc, a, 1, keepdims=True, initial=0.9)
    check(np.ufunc.accumulate, ufunc, a, 1)
    check(np.ufunc.reduceat, ufunc, a, [0, 2], 1)
    if "DD->D" in ufunc.types:
        z = a + 1j * M[::-1]
        check(np.ufunc.reduce, ufunc, z)
        check(np.ufunc.accumulate, ufunc, z, 1)
        check(np.ufunc.outer, ufunc, z[0], z[1])


def test_entries_that_are_left_out(check):
    """Where none is the start, the identity is."""
    used = M > -0.5
    for ufunc in (np.hypot, np.fmax):
        check(np.ufunc.reduce, ufunc, M, 1, initial=0.3, where=used)
    check(np.ufunc.reduce, np.hypot, M, 1, where=used)
    check(np.ufunc.reduce, np.hypot, T, (0, 2), where=T > 0.0, keepdims=True)
    _, pullback = rc.rrule(np.ufunc.reduce, np.hypot, np.zeros((0, 2)))
    assert pullback(np.ones(2))[2].shape == (0, 2)


@pytest.mark.parametrize("ufunc", VECTORISED)
def test_what_numpy_reduces_wrongly_is_refused(check, ufunc):
    """With AVX-512 NumPy takes two of the entries; elsewhere it is right."""
    a = np.abs(M) + 0.5
    check(np.ufunc.accumulate, ufunc, a, 1)
    check(np.ufunc.outer, ufunc, a[0], a[1])
    if np.allclose(ufunc.reduce(a, 1), ufunc.accumulate(a, 1)[:, -1]):
        check(np.ufunc.reduce, ufunc, a, 1)
        return
    with pytest.raises(rc.UnsupportedError, match="wrong there on some processors"):
        rc.rrule(np.ufunc.reduce, ufunc, a, 1)


def test_a_value_that_is_not_the_fold_is_refused():
    """As NumPy's would be, on any processor."""
    with pytest.raises(rc.UnsupportedError, match="but got another value"):
        folded(np.float64(7.0), np.subtract, M[0], 0, False, None, True)


@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat", "outer"])
def test_functions_without_a_rule_are_refused(method):
    """Made of a Python function: its loops are out of sight."""
    ufunc = np.frompyfunc(lambda a, b: a * b, 2, 1)
    args = {"reduceat": (M, [0]), "outer": (M, M)}.get(method, (M,))
    with pytest.raises(rc.UnsupportedError, match="function of two arguments that has"):
        rc.rrule(getattr(np.ufunc, method), ufunc, *args)
