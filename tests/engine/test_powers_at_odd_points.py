"""Powers where a base or exponent is zero, infinite or NaN: one answer in each tier."""

import math

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp
from rules_autodiff.testing import check_program

ODD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0, -2.0]
# Of each power its derivative in words of floats: x⁰ is 1 for every x.
POWERS = {
    "0": (lambda x: x**0, lambda _: 0.0),
    "1": (lambda x: x**1, lambda _: 1.0),
    "2": (lambda x: x**2, lambda v: 2 * v),
    "3": (lambda x: x**3, lambda v: 3 * v * v),
    "0.0": (lambda x: x**0.0, lambda _: 0.0),
    "1.0": (lambda x: x**1.0, lambda _: 1.0),
    "2.0": (lambda x: x**2.0, lambda v: 2 * v),
    "power 0": (lambda x: np.power(x, 0), lambda _: 0.0),
    "power 0.0": (lambda x: np.power(x, 0.0), lambda _: 0.0),
    "power 2": (lambda x: np.power(x, 2), lambda v: 2 * v),
}


def in_a_list(f):
    return lambda x: np.sum(f(np.array([x, 1.0])))


def in_an_array(f):
    return lambda x: np.sum(f(x))


def by_tiers(f, x):
    """The derivative by each tier that has one, at three calls."""
    for tier in ("tape", "auto", "straight"):
        derived = grad(f, tier=tier)
        try:
            yield from (derived(x), derived(x), derived(x))
        except UnsupportedProgram:
            assert tier == "straight"


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", POWERS)
def test_numbers(name):
    f, slope = POWERS[name]
    for x in ODD:
        for given in (x, np.float64(x)):
            for g in (f, in_a_list(f)):
                for found in (*by_tiers(g, given), jvp(g, (given,), (1.0,))[1]):
                    np.testing.assert_array_equal(found, slope(x))


@pytest.mark.parametrize("name", POWERS)
def test_arrays(name):
    f, slope = POWERS[name]
    x = np.array(ODD)
    wanted = [slope(v) for v in ODD]
    for found in by_tiers(in_an_array(f), x):
        np.testing.assert_array_equal(found, wanted)
    forward = jvp(f, (x,), (np.ones(len(x)),))[1]
    np.testing.assert_array_equal(forward, wanted)


def test_the_functions_of_math():
    for x in (*ODD, 5e-324):
        for found in by_tiers(lambda x: math.pow(x, 0), x):
            assert found == 0.0


def test_exponents_of_an_array():
    exponents, x = np.array([0, 1, 2, 0.0]), np.full(4, np.nan)
    f = in_an_array(lambda x: x**exponents)
    for found in by_tiers(f, x):
        np.testing.assert_array_equal(found, [0, 1, np.nan, 0])


BASES = [0, 0.0, np.float64(0.0), 3, 3.0]


@pytest.mark.parametrize("base", BASES, ids=repr)
@pytest.mark.parametrize(
    "power", [lambda b, x: b**x, pow, np.power], ids=["operator", "pow", "power"]
)
def test_a_constant_base(power, base):
    check_program(lambda x: power(base, x), 0.5)
    check_program(lambda x: power(base, x), np.array([0.5, 1.5]))
