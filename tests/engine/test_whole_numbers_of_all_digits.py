"""Integers that keep all digits of a number; libraries make numbers of them."""

import math

import mpmath
import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp, stop_gradient
from rules_autodiff.testing import check_program

LARGE = 2.0**60

LAUNDERED = {
    "mpf": lambda x: float(mpmath.mpf(x)),
    "sin": lambda x: float(mpmath.sin(x)),
    "gamma": lambda x: float(mpmath.gamma(x)),
    "mpc": lambda x: float(mpmath.mpc(x, 1.0).real),
    "int": lambda x: int(x * LARGE) / LARGE,
    "__int__": lambda x: (x * LARGE).__int__() / LARGE,
    "floor": lambda x: math.floor(x * LARGE) / LARGE,
    "ceil": lambda x: math.ceil(x * LARGE) / LARGE,
    "trunc": lambda x: math.trunc(x * LARGE) / LARGE,
    "round": lambda x: round(x * LARGE) / LARGE,
    "negative": lambda x: int(-x * LARGE) / LARGE,
}


def mantissa(x):
    m, e = math.frexp(x)
    return math.ldexp(int(m * 2.0**53), e - 53)


LAUNDERED["frexp"] = mantissa


@pytest.mark.parametrize("number", [float, np.float64])
@pytest.mark.parametrize("name", LAUNDERED)
def test_all_digits(name, number):
    f, x = LAUNDERED[name], number(2.5)
    for _ in range(3):
        with pytest.raises(UnsupportedProgram, match="keeps all of its digits"):
            grad(f)(x)
    with pytest.raises(UnsupportedProgram, match="keeps all of its digits"):
        jvp(f, (x,), (number(1.0),))


WHOLE = [
    lambda x: x * int(x * 10.0) + math.floor(x) * x,
    lambda x: x * round(x) + math.ceil(x) * x + math.trunc(x) * x,
    lambda x: x * int(2.0**60) + x * math.floor(1e300),
    lambda x: x * math.frexp(x)[1] + math.frexp(x)[0],
    lambda x: x * math.frexp(x)[1],
    lambda x: [x, 2.0 * x][int(x > 2.0)],
]


@pytest.mark.parametrize("f", WHOLE, ids=range(len(WHOLE)))
def test_whole_numbers_are_constants(f):
    for _ in range(3):
        check_program(f, 2.625)


def test_what_is_meant_as_a_constant():
    def f(x):
        return x * int(stop_gradient(x * LARGE))

    assert [grad(f)(2.5) for _ in range(3)] == [2.5 * LARGE] * 3


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_numbers_that_are_no_integers_raise_their_own_errors(bad):
    def caught(x):
        try:
            return int(x * bad) * x
        except (OverflowError, ValueError):
            return 5.0 * x

    assert [grad(caught)(2.0) for _ in range(3)] == [5.0] * 3
