"""Values and derivatives as users get them: the same from both tiers."""

import itertools

import numpy as np
import pytest

from rules_autodiff import grad, jacrev, value_and_grad, vjp

A = np.arange(1.0, 7.0).reshape(2, 3)
V = np.array([0.5, -1.0, 2.0])
pytestmark = pytest.mark.usefixtures("at_once")

# Programs of numbers, of arrays, and of both, with one number as their result.
SCALAR = {
    "float": (lambda x: x * x, (3.0,)),
    "float64": (lambda x: x * x, (np.float64(3.0),)),
    "both": (lambda x, y: x * y, (3.0, np.float64(2.0))),
    "unused": (lambda x, y: x * x, (3.0, np.float64(2.0))),
    "unused array": (lambda x, a: x * x, (3.0, V)),
    "constant": (lambda x, a: 2.0, (3.0, V)),
    "itself": (lambda x: x, (3.0,)),
    "sum": (lambda a: np.sum(a), (V,)),
    "sum of a matrix": (lambda a: np.sum(a), (A,)),
    "sum of two": (lambda a, b: np.sum(a + b), (V, V.copy())),
    "the same twice": (lambda a, b: np.sum(a + b), (V, V)),
    "inner": (lambda a, b: np.sum(a * b), (V, V)),
    "dot": (lambda a, b: a @ b, (V, V)),
    "broadcast": (lambda a, b: np.sum(a + b), (A, V)),
    "number and array": (lambda x, a: np.sum(x * a), (3.0, V)),
    "number64 and array": (lambda x, a: np.sum(x * a), (np.float64(3.0), V)),
    "entry": (lambda a: a[1] * 2.0, (V,)),
    "first row": (lambda a: np.sum(a[0] * 3.0), (A,)),
    "transposed": (lambda a: np.sum(a.T * a.T), (A,)),
    "reshaped": (lambda a: np.sum(a.reshape(6) * 2.0), (A,)),
    "matrix and vector": (lambda a, v: np.sum(np.tanh(a @ v)), (A, V)),
    "strided": (lambda a: np.sum(a * a), (A[:, ::2],)),
    "Fortran": (lambda a: np.sum(a * a), (np.asfortranarray(A),)),
    "nothing in it": (lambda a: np.sum(a * a), (np.zeros((0, 3)),)),
    "loop": (lambda a: sum([v * v for v in a]), (V,)),
}
ARRAYS = {
    "itself": (lambda a: a, (V,)),
    "view": (lambda a: a[1:], (V,)),
    "transposed": (lambda a: a.T, (A,)),
    "double": (lambda a: a * 2.0, (V,)),
    "sum": (lambda a, b: a + b, (V, V)),
    "broadcast": (lambda a, b: a + b, (A, V)),
    "tanh": (lambda a: np.tanh(a), (V,)),
    "matrix and vector": (lambda a, v: a @ v, (A, V)),
    "number and array": (lambda x, a: x * a, (3.0, V)),
}


def same(one, other):
    """A value of written code, and the tape's."""
    assert type(one) is type(other)
    if type(one) is np.ndarray:
        assert one.flags.writeable == other.flags.writeable
        assert one.flags.owndata
    np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-300, strict=True)


def memory_is_apart(*values):
    arrays = [x for x in values if type(x) is np.ndarray]
    for one, other in itertools.combinations(arrays, 2):
        assert one is not other
        assert not np.shares_memory(one, other)


@pytest.mark.parametrize(("f", "args"), SCALAR.values(), ids=SCALAR)
def test_gradients(f, args):
    every = tuple(range(len(args)))
    value, found = value_and_grad(f, every, tier="straight")(*args)
    expected, by_tape = value_and_grad(f, every, tier="tape")(*args)
    same(value, expected)
    for one, other in zip(found, by_tape, strict=True):
        same(one, other)
    distinct = args if len({*map(id, args)}) == len(args) else args[:1]
    memory_is_apart(*distinct, *found)
    for i in every:
        same(grad(f, i, tier="straight")(*args), by_tape[i])


@pytest.mark.parametrize(("f", "args"), SCALAR.values(), ids=SCALAR)
def test_pullbacks_of_numbers(f, args):
    y, pullback = vjp(f, *args, tier="straight")
    expected, by_tape = vjp(f, *args, tier="tape")
    same(y, expected)
    for dy in (1.0, -2.5, np.float64(3.0)):
        once, again = pullback(dy), pullback(dy)
        for one, more, other in zip(once, again, by_tape(dy), strict=True):
            same(one, other)
            same(more, other)
        memory_is_apart(*once, *again)


@pytest.mark.parametrize(("f", "args"), ARRAYS.values(), ids=ARRAYS)
def test_pullbacks_of_arrays(f, args):
    y, pullback = vjp(f, *args, tier="straight")
    expected, by_tape = vjp(f, *args, tier="tape")
    assert type(y) is type(expected)
    np.testing.assert_array_equal(y, expected, strict=True)
    for x in args:
        assert y is not x
        assert np.shares_memory(y, x) == np.shares_memory(expected, x)
    dy = np.cos(np.arange(float(y.size))).reshape(y.shape)
    once, again = pullback(dy), pullback(dy)
    for one, more, other in zip(once, again, by_tape(dy), strict=True):
        same(one, other)
        same(more, other)
    distinct = args if len({*map(id, args)}) == len(args) else args[:1]
    memory_is_apart(dy, *once, *again, *distinct)
    memory_is_apart(y, dy, *once, *again)
    np.testing.assert_array_equal(dy, np.cos(np.arange(float(y.size))).reshape(y.shape))


JACOBIANS = {**{f"number, {name}": case for name, case in SCALAR.items()}, **ARRAYS}


@pytest.mark.parametrize(("f", "args"), JACOBIANS.values(), ids=JACOBIANS)
def test_jacobians(f, args):
    for i in range(len(args)):
        found = jacrev(f, i, tier="straight")(*args)
        expected = jacrev(f, i, tier="tape")(*args)
        assert type(found) is type(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-14, strict=True)


def test_results_may_be_written_to():
    """What a user does with a derivative does not reach the next one."""

    def program(a, b):
        return np.sum(a * b + a)

    first = grad(program, (0, 1))(V, V.copy())
    for found in first:
        found[...] = 7.0
    dx, dy = grad(program, (0, 1))(V, V.copy())
    np.testing.assert_array_equal(dx, V + 1.0)
    np.testing.assert_array_equal(dy, V)

    _, pullback = vjp(program, V, V.copy())
    for found in pullback(1.0):
        found[...] = 7.0
    np.testing.assert_array_equal(pullback(1.0)[1], V)


def test_arguments_are_as_they_were():
    def program(a):
        b = a * 1.0
        b[0] = 5.0
        b *= a
        return np.sum(b)

    x = V.copy()
    for tier in ("tape", "auto"):
        np.testing.assert_array_equal(grad(program, tier=tier)(x), [5.0, -2.0, 4.0])
        np.testing.assert_array_equal(x, V)
