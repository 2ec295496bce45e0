"""`math`, `cmath` and Python's builtins on numbers."""

from __future__ import annotations

import cmath
import math

import mpmath
import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import vjp
from rules_autodiff.testing import check_program
from rules_numpy.python.math import polygamma

ONE = (
    "sin cos tan asin acos atan sinh cosh tanh asinh atanh exp expm1 log log2 log10 "
    "log1p sqrt fabs degrees radians erf erfc gamma lgamma modf frexp"
).split()


@pytest.mark.parametrize("name", [*ONE, "exp2", "cbrt"])
def test_one_argument(check, name):
    check(getattr(math, name), 0.37)


def test_arguments_elsewhere(check):
    check(math.acosh, 1.7)
    check(math.gamma, -1.3)
    check(math.lgamma, 25.0)
    check(math.tan, -2.0)


TWO = ["atan2", "pow", "copysign", "hypot", "log"]


@pytest.mark.parametrize("name", TWO)
def test_two_arguments(check, name):
    check(getattr(math, name), 1.3, 2.6)


def test_other_arities(check):
    check(math.hypot, 1.0, 2.0, -3.0)
    check(math.fmod, 5.3, 2.1)
    check(math.remainder, 5.3, 2.1)
    check(math.ldexp, 0.7, 3)
    check(math.nextafter, 0.7, 1.0)
    check(polygamma, 1, 0.7)
    check(math.ulp, 0.7)
    check(math.pow, 0.7, 3)


def test_sequences(check):
    check(math.dist, [1.0, 2.0], (0.5, 1.5))
    check(math.fsum, [1.0, 2.0, 3.5])
    check(math.prod, [1.0, 2.0, 3.5], start=2)
    check(math.prod, (1.5, 0.0, 2.0))


def of_one(a, b):
    return math.prod([a])


def of_two(a, b):
    return math.prod([a, b])


def of_two_from(a, b):
    return math.prod([a, b], start=2.0)


def of_zeros(a, b):
    return math.prod([0.0 * a, b, 0.0 * a])


def of_rows(a, b):
    return math.prod(np.stack([a, b]))


@pytest.mark.parametrize("f", [of_one, of_two, of_two_from, of_zeros, of_rows])
def test_a_product_of_arrays_is_an_array(f):
    a, b = np.array([1.5, 2.0]), np.array([0.5, 1.2])
    value, _ = vjp(f, a, b)
    assert type(value) is np.ndarray
    assert np.array_equal(value, f(a, b))
    check_program(f, a, b)


COMPLEX = (
    "sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh exp log log10 sqrt "
    "phase polar"
).split()


@pytest.mark.parametrize("name", COMPLEX)
def test_complex(check, name):
    check(getattr(cmath, name), 0.4 - 0.3j)
    check(getattr(cmath, name), -1.4 + 0.3j)


def test_complex_with_two_arguments(check):
    check(cmath.rect, 1.3, 0.4)
    check(cmath.log, 1.3 + 0.2j, 2.5)


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (math.fabs, (0.0,), (0.0,)),
        (math.hypot, (0.0, 0.0), (0.0, 0.0)),
        (math.pow, (1.0, 2.0), (2.0, 0.0)),
        (math.pow, (2.0, 2.0), (4.0, 2.772588722239781)),
        (math.pow, (0.0, 2.0), (0.0, 0.0)),
        (math.pow, (0.0, 1.0), (1.0, 0.0)),
        (math.pow, (0.0, 3.5), (0.0, 0.0)),
        (math.ldexp, (1.5, -1), (0.5, None)),
        (max, (2.0, 2.0), (0.5, 0.5)),
        (min, (2.0, 3.0), (1.0, 0.0)),
        (math.dist, ([1.0], [1.0]), (rc.Tangent(list, 0.0), rc.Tangent(list, -0.0))),
    ],
)
def test_known(f, x, expected):
    _, pullback = rc.rrule(f, *x)
    for found, known in zip(pullback(1.0)[1:], expected, strict=True):
        if known is None:
            assert isinstance(found, rc.NoTangent)
        else:
            assert found == known


def test_square_root_of_zero_has_a_strong_zero():
    _, pullback = rc.rrule(math.sqrt, 0.0)
    assert pullback(0.0)[1] == 0.0
    assert pullback(1.0)[1] == math.inf


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("x", [0.1, 1.0, 2.5, 40.0, -0.7, -3.2])
def test_polygamma(n, x):
    exact = float(mpmath.polygamma(n, x))
    assert polygamma(n, x) == pytest.approx(exact, rel=1e-12)


def test_builtins_on_numbers(check):
    check(abs, -1.5)
    check(abs, 3.0 + 1.0j)
    check(abs, np.array([1.5, -2.0]))
    check(pow, 1.5, 2.5)
    check(pow, 1.5, 3)
    check(divmod, 5.3, 2.1)
    check(round, 1.3, 1)
    check(float, np.float64(1.5))
    check(complex, 1.5, 2.5)
    check(max, 1.5, 2.5, 0.5)
    check(min, [1.5, 2.5, 0.5])
    check(max, np.array([1.5, 2.5, 0.5]))


def test_builtin_sum(check):
    check(sum, [1.5, 2.5, 3.0])
    check(sum, (np.ones(2), np.arange(2.0), 1.5), 0.5)
    check(sum, np.ones((3, 2)))


@pytest.mark.parametrize("f", [math.floor, int, len, bool, round])
def test_whole_numbers_carry_no_derivative(f):
    x = [1.0] if f is len else 1.7
    y, pullback = rc.rrule(f, x)
    assert y == f(x)
    assert all(isinstance(d, rc.AbstractZero) for d in pullback(rc.NoTangent()))
