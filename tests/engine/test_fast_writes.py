"""Writes of whole arrays on the fast path: `y += v`, `y[key] = v` and their like."""

import numpy as np
import pytest

from rules_autodiff import grad, jacfwd, jacrev, jvp, vjp
from rules_autodiff._python.errors import EngineError
from rules_autodiff.testing import check_program

x = np.array([0.3, 0.7, 1.1])
A = np.array([[0.5, 0.2, 0.9], [0.1, 0.8, 0.3], [0.6, 0.4, 0.7]])
s = 0.6


def writing(write):
    """The function of `x` and a second argument that `write` makes of a fresh array."""

    def f(y, v):
        out = y * 1.0
        write(out, v)
        return out * out

    return f


def add(y, v):
    y += v


def subtract(y, v):
    y -= v


def multiply(y, v):
    y *= v


def divide(y, v):
    y /= v


def power(y, _v):
    y **= 2


def add_row(y, v):
    y[1] += v
    y[-1] -= v


def add_part(y, v):
    y[1:, ::2] -= v[:2, 1:]
    y[:, None, 0] += v[:, :1]
    y[..., 1] *= v[0]


def store(y, v):
    y[1] = v
    y[:, 2] = v * y[0]


def store_whole(y, v):
    z = y * v
    y[...] = z
    y[:] = y * y


def store_number(y, v):
    y[1] = v
    y[:, 0] = 2.0
    y += v


def onto_itself(y, v):
    y += y
    y += y[::-1]
    y[1:] += y[:-1]
    y[:-1] -= y[1:]
    y *= v


def through_views(y, v):
    view = y.T[::-1]
    view += v
    y -= view
    view[0] = v[0]


PROGRAMS = {
    "add": (add, A, A + 1),
    "add a row": (add, A, x),
    "add a column": (add, A, x[:, None]),
    "add a number": (add, A, s),
    "subtract": (subtract, A, A * 2),
    "subtract a row": (subtract, A, x),
    "subtract a number": (subtract, A, s),
    "multiply": (multiply, A, A + 1),
    "multiply by a number": (multiply, A, s),
    "divide": (divide, A, x),
    "power": (power, A, x),
    "rows": (add_row, A, x),
    "parts": (add_part, A, A + 1),
    "stored": (store, A, x),
    "stored whole": (store_whole, A, A + 1),
    "stored numbers": (store_number, A, s),
    "onto itself": (onto_itself, A, A + 1),
    "through views": (through_views, A, A + 1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_are_right(name):
    write, y, v = PROGRAMS[name]
    check_program(writing(write), y, v)


@pytest.mark.parametrize("name", PROGRAMS)
def test_arguments_are_written_and_restored(name):
    write, y, v = PROGRAMS[name]

    def f(y, v):
        before = y * y
        write(y, v)
        return before * y

    check_program(f, y.copy(), v)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_pullback_is_itself_differentiated(name):
    write, y, v = PROGRAMS[name]
    f = writing(write)
    z, pullback = vjp(f, y, v)
    dy = np.cos(np.arange(9.0)).reshape(3, 3)
    dv = np.sin(1 + np.arange(np.size(v))).reshape(np.shape(v))
    dv = dv if isinstance(v, np.ndarray) else float(dv)

    def paired(seed):
        by_y, by_v = pullback(seed)
        return np.sum(by_y * dy) + np.sum(by_v * dv)

    want = jvp(f, (y, v), (dy, dv))[1]
    np.testing.assert_allclose(grad(paired)(np.ones_like(z)), want, rtol=1e-12)
    found = jacfwd(lambda t: jacrev(lambda y: f(y, v)[0, 0])(y * t))(1.0)
    step = jacrev(lambda y: f(y, v)[0, 0])
    near = (step(y * (1 + 1e-6)) - step(y * (1 - 1e-6))) / 2e-6
    np.testing.assert_allclose(found, near, rtol=1e-5, atol=1e-7)


def test_constants_that_get_a_derivative_are_restored():
    table = np.zeros((3, 3))

    def f(v):
        table[...] = 0.0
        table[1] = v
        table[1:] += v
        np.multiply(table, 2.0, out=table)
        return np.sum(table * table)

    check_program(f, x)
    table[...] = 7.0
    assert grad(f)(x).any()
    assert (table == 7.0).all()


def test_a_pullback_may_be_called_again():
    def f(y, v):
        y += v
        y *= v
        return y

    y = A.copy()
    _, pullback = vjp(f, y, x)
    first, again = pullback(A), pullback(A)
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    np.testing.assert_array_equal(y, A)


def test_a_cotangent_that_both_hold_is_not_written_to():
    """`y += v` hands the cotangent of `y` to `v`; what `y` gets later stays its own."""

    def f(v):
        y = v * 2.0
        w = v * 3.0
        y += w
        y[0] = 1.0
        w += y
        return y * w

    check_program(f, x)


# what the shortcuts must not be taken for


def test_what_numpy_refuses_is_refused_and_nothing_is_written():
    fixed = x.copy()
    fixed.flags.writeable = False
    whole = np.ones(3, int)

    def frozen(v):
        fixed[:] = v

    def frozen_sum(v):
        nonlocal fixed
        fixed += v

    def too_large(v):
        y = v * 1.0
        y += np.ones((2, 3)) * v
        return y

    def truncated(v):
        nonlocal whole
        whole += v

    def imaginary(v):
        y = v * 1.0
        y += 1j * v
        return y

    for f in (frozen, frozen_sum, too_large):
        with pytest.raises(ValueError, match="read-only|broadcast"):
            vjp(f, x)
    for f in (truncated, imaginary):
        with pytest.raises(TypeError, match="Cannot cast"):
            vjp(f, x)
    np.testing.assert_array_equal(fixed, x)
    assert whole.tolist() == [1, 1, 1]


def test_entries_that_share_memory_are_refused():
    row = np.lib.stride_tricks.as_strided(np.zeros(3), (2, 3), (0, 8))

    def f(v):
        nonlocal row
        row += v
        return row * 1.0

    with pytest.raises(EngineError, match="share memory"):
        vjp(f, x)


def test_single_precision_stays():
    def f(v):
        y = v * np.float32(2)
        y += v * v
        y[1:] -= v[:2]
        return np.sum(y)

    found = grad(f)(x.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 2 + 2 * x - [1, 1, 0], rtol=1e-6)


def test_arrays_of_other_classes_and_kinds():
    def masked(v):
        y = np.ma.array(np.zeros(3), mask=[True, False, False])
        y += v
        return y

    def objects(v):
        y = np.array([1.0, 2.0, 3.0], object)
        y += v
        return y

    for f in (masked, objects):
        with pytest.raises((EngineError, TypeError)):
            vjp(f, x)


def test_arrays_without_axes():
    def f(t):
        y = np.array(1.0)
        y += t
        y *= t
        y[()] = y * t
        return y * 1.0

    assert grad(f)(0.5) == pytest.approx(2 * 0.5 + 3 * 0.25)


def test_a_fancy_index_is_no_view():
    def f(v):
        y = np.zeros(3)
        y[[0, 0, 2]] = v
        y[y > 0.5] += 1.0
        y[np.array([1, 1])] += v[:2]
        return y * y

    check_program(f, x)


def test_an_equal_array_of_other_memory_is_stored():
    """Only the memory that was read may be left alone at the end of `y[i] += v`."""

    def f(y):
        z = y[1]
        z += 1.0
        y[0] = z
        y[1:] = y[:2]
        return y * y

    check_program(f, A.copy())
