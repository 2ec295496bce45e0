"""Arguments that NumPy itself treats in a special way: refused, or as it does."""

import contextlib

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, jvp, value_and_grad

STRIDED = {
    "one entry": lambda: np.lib.stride_tricks.as_strided(np.array([2.0]), (3,), (0,)),
    "windows": lambda: np.lib.stride_tricks.as_strided(
        np.arange(1.0, 5.0), (2, 3), (8, 8)
    ),
}


def written(x):
    x[0] = 3.0
    return np.sum(x * x)


def written_in_place(x):
    x += 1.0
    return np.sum(x * x)


def written_through_a_view(x):
    y = x[:]
    y[0] = 5.0 * x[1]
    return np.sum(x * x)


@pytest.mark.parametrize("make", STRIDED.values(), ids=STRIDED)
@pytest.mark.parametrize("f", [written, written_in_place, written_through_a_view])
def test_an_argument_that_overlaps_itself(f, make):
    for _ in range(2):
        value_and_grad(f)(np.array(make()))
    for tier in ("tape", "auto"):
        with pytest.raises(UnsupportedProgram, match="share memory with itself"):
            value_and_grad(f, tier=tier)(make())


def as_float(x):
    try:
        return float(x[:1])
    except TypeError:
        return 3.0 * x[0]


def as_complex(x):
    try:
        return complex(x[:1]).real
    except TypeError:
        return 3.0 * x[0]


def one_argument_too_many(x):
    y = x * 1.0
    try:
        np.sin(x, y, x)
    except TypeError:
        return 3.0 * x[0]
    return y[0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("f", [as_float, as_complex, one_argument_too_many])
def test_what_numpy_refuses(f):
    x, e = np.array([2.0, 1.0]), np.array([1.0, 0.0])
    expected = f(x), (f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6
    for tier in ("tape", "auto", "auto", "auto"):
        value, gradient = value_and_grad(f, tier=tier)(x)
        assert (value, gradient[0]) == pytest.approx(expected)
    assert jvp(f, (x,), (e,)) == pytest.approx(expected)


# operations that have written before they raise

ZERO = np.array([0.0, 2.0])
LARGE = np.array([1e308, 2.0])


def divided(x):
    x /= ZERO


def multiplied(x):
    x *= LARGE


def added(x):
    x += LARGE * 1.7


def raised(x):
    x **= np.array([2000.0, 2.0])


def part_divided(x):
    x[:] /= ZERO


def by_out(x):
    np.divide(x, ZERO, out=x)


def by_masked_out(x):
    np.divide(x, ZERO, out=x, where=[True, True])


HALF = [divided, multiplied, added, raised, part_divided, by_out, by_masked_out]


def caught(write):
    def program(x):
        y = x * 1.0
        with np.errstate(all="raise"), contextlib.suppress(FloatingPointError):
            write(y)
        return y[1] * 1.0

    return program


def passed_on(write):
    def program(x):
        y = x * 1.0
        with np.errstate(all="raise"):
            write(y)
        return y[1] * 1.0

    return program


POINT = np.array([1e308, 3.0])


@pytest.mark.parametrize("write", HALF, ids=lambda f: f.__name__)
def test_an_error_after_a_write(write):
    for tier in ("tape", "auto", "auto"):
        with pytest.raises(UnsupportedProgram, match="must not go on after the error"):
            value_and_grad(caught(write), tier=tier)(POINT)
        with pytest.raises(FloatingPointError):
            value_and_grad(passed_on(write), tier=tier)(POINT)
    with pytest.raises(UnsupportedProgram, match="must not go on after the error"):
        jvp(caught(write), (POINT,), (POINT,))
    with pytest.raises(FloatingPointError):
        jvp(passed_on(write), (POINT,), (POINT,))
