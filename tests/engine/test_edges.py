"""Elementwise functions at zeros, poles, kinks and infinities, in both modes.

A zero cotangent or tangent gives zero whatever the partial derivative is; where both
modes are finite they agree; an infinite cotangent does not pass through what a choice
has left out. Independent of the rules: a derivative of zero, and finite differences.
"""

import cmath
import itertools
import math

import numpy as np
import pytest

from rules_autodiff import grad, hessian, jvp, vjp
from rules_autodiff.straight._tier import signatures

pytestmark = pytest.mark.filterwarnings("ignore")
POINTS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, np.inf, -np.inf)
UFUNCS = [f for f in vars(np).values() if isinstance(f, np.ufunc) and f.nout == 1]
REAL = "d->d", "dd->d"


def of(count, functions):
    kind = REAL[count - 1]
    found = [f for f in functions if kind in f.types and f.signature is None]
    return sorted({f.__name__: f for f in found}.values(), key=lambda f: f.__name__)


NAMES = ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh")
EMATH = {f"emath.{name}": getattr(np.emath, name) for name in NAMES}
OTHERS = {f.__name__: f for f in (np.angle, np.sinc, np.nan_to_num, np.real)}
UNARY = {f.__name__: f for f in of(1, UFUNCS)} | EMATH | OTHERS
BINARY = of(2, UFUNCS)
CMATH = [cmath.phase, np.angle, abs, cmath.sqrt, cmath.log, cmath.asin, cmath.atanh]


def outcome(call):
    try:
        return call()
    except (ValueError, ArithmeticError, TypeError) as error:
        return error


def slopes(f, x, weight):
    """By both modes, with a cotangent and a tangent of this weight."""
    one = np.ones_like(x) * weight
    with np.errstate(all="ignore"):
        y, pullback = vjp(f, x)
        pulled = pullback(np.ones_like(y)[()] * weight)[0]
        return np.asarray(pulled), np.asarray(jvp(f, (x,), (one,))[1])


def check_unary(f, x):
    if isinstance(outcome(lambda: f(x)), Exception):
        return
    for zero in slopes(f, x, 0.0):
        np.testing.assert_array_equal(zero, np.zeros_like(zero), str((f, x)))
    pulled, pushed = slopes(f, x, 1.0)
    pulled = np.conjugate(pulled)  # the cotangent of a real argument may be real
    finite = np.isfinite(pulled) & np.isfinite(pushed)
    both = np.real(pulled)[finite], np.real(pushed)[finite]
    np.testing.assert_allclose(*both, rtol=1e-12, err_msg=str((f, x)))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    f = UNARY[name]
    for x in POINTS:
        check_unary(f, np.float64(x))
        check_unary(f, np.array([x, 0.25]))


@pytest.mark.parametrize("f", CMATH, ids=lambda f: f.__name__)
@pytest.mark.parametrize("z", [0j, 1 + 0j, -1 + 0j, 2j])
def test_complex_numbers_and_zero(f, z):
    try:
        y, pullback = vjp(f, z)
    except (ValueError, ZeroDivisionError):  # a pole, as in the program
        with pytest.raises((ValueError, ZeroDivisionError)):
            f(z)
        return
    assert pullback(0.0 * y if np.isfinite(y) else 0.0)[0] == 0.0
    assert jvp(f, (z,), (0j,))[1] == 0.0


@pytest.mark.covering(every=8)
@pytest.mark.parametrize("f", BINARY, ids=lambda f: f.__name__)
def test_binary(f):
    for x, y in itertools.product(POINTS, POINTS):
        for fixed in (np.float64(y), np.array([y, 0.75])):
            check_unary(lambda a, b=fixed: f(a, b), np.float64(x) + 0.0 * fixed)
            check_unary(lambda a, b=fixed: f(b, a), np.float64(x) + 0.0 * fixed)


# an infinite cotangent: the derivative of a square root at 0

CHOICES = {
    "maximum": lambda x: np.maximum(0.0, x),
    "maximum, reflected": lambda x: np.maximum(x, 0.0),
    "minimum": lambda x: -np.minimum(0.0, -x),
    "fmax": lambda x: np.fmax(0.0, x),
    "fmin": lambda x: -np.fmin(-x, 0.0),
    "clip": lambda x: np.clip(x, 0.0, 9.0),
    "where": lambda x: np.where(x > 0.0, x, 0.0),
    "mask": lambda x: x * (x > 0.0),
    "mask first": lambda x: (x > 0.0) * x,
    "nan_to_num": lambda x: np.nan_to_num(np.where(x > 0.0, x, np.nan)),
    "whole axis": lambda x: np.max(np.stack([x, np.zeros(4)]), axis=0),
    "heaviside": lambda x: np.maximum(x, 0.0) * np.heaviside(x, 0.0),
}
NUMBERS = {
    "numpy.max": lambda x: np.max(np.array([x, 0.0, -9.0])),
    "ndarray.max": lambda x: np.array([x, 0.0]).max(),
    "numpy.min": lambda x: -np.min(np.array([-x, 0.0])),
    "max": lambda x: max(0.0, x),
    "remainder": lambda x: (0.0 * 2.0) % (9.0 - x),
    "numpy.remainder": lambda x: np.remainder(0.0, 9.0 - x),
}


@pytest.mark.parametrize("after", [0, 9], ids=["straight", "tape"])
@pytest.mark.parametrize("name", CHOICES)
def test_an_infinite_cotangent_of_arrays(name, after, monkeypatch):
    monkeypatch.setattr(signatures, "AFTER", after)
    x = np.array([-1.0, 4.0, -2.0, 9.0 / 4.0])

    def f(x):
        return np.sum(np.sqrt(CHOICES[name](x)))

    step = np.diag(np.full(4, 1e-6))
    want = [(f(x + h) - f(x - h)) / 2e-6 for h in step]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(grad(f)(x), want, rtol=1e-6)
        np.testing.assert_allclose(vjp(f, x)[1](1.0)[0], want, rtol=1e-6)
        pushed = [jvp(f, (x,), (h * 1e6,))[1] for h in step]
    np.testing.assert_allclose(pushed, want, rtol=1e-6)


@pytest.mark.parametrize("after", [0, 9], ids=["straight", "tape"])
@pytest.mark.parametrize("name", NUMBERS)
def test_an_infinite_cotangent_of_numbers(name, after, monkeypatch):
    monkeypatch.setattr(signatures, "AFTER", after)

    def f(x):
        return np.sqrt(NUMBERS[name](x))

    for x in (-1.0, np.float64(-1.0)):
        with np.errstate(all="ignore"):
            assert grad(f)(x) == 0.0
            assert vjp(f, x)[1](1.0)[0] == 0.0
            assert jvp(f, (x,), (1.0,))[1] == 0.0


def test_the_exponent_of_negative_zero():
    """(-0)⁻¹ is a pole, where xᵖ ln x is no number for a negative base."""
    for f in (np.power, lambda x, p: x**p):
        for x in (np.float64(-0.0), np.array([-0.0])):
            with np.errstate(all="ignore"):
                pulled = grad(lambda p, x=x, f=f: np.sum(f(x, p)))(-1.0)
                pushed = jvp(lambda p, x=x, f=f: f(x, p), (-1.0,), (1.0,))[1]
            assert np.isnan(pulled)
            assert np.isnan(pushed).all()


BIG = 10**25
WIDE = {
    "quotient": lambda x: x / BIG,
    "divided": lambda x: BIG / x,
    "product": lambda x: x * math.factorial(25),
    "power": lambda x: (x / BIG) ** 2 * BIG,
    "exponential": lambda x: BIG**x,
    "sum": lambda x: x + BIG - x * 2,
    "remainder": lambda x: x % BIG,
    "hypot": lambda x: math.hypot(x, BIG),
    "largest": lambda x: max(x, -BIG),
}


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("x", [1.5, np.float64(1.5)], ids=["float", "float64"])
def test_whole_numbers_beyond_64_bits(name, x):
    f = WIDE[name]
    floats = 1e25
    want = {
        "quotient": 1 / floats, "divided": -floats / 2.25, "power": 2 * 1.5 / floats,
        "product": float(math.factorial(25)), "sum": -1.0, "remainder": 1.0,
        "exponential": floats**1.5 * math.log(floats), "hypot": 1.5 / floats,
        "largest": 1.0,
    }[name]  # fmt: skip
    assert grad(f)(x) == pytest.approx(want)
    assert jvp(f, (x,), (1.0,))[1] == pytest.approx(want)


SELECTIONS = (np.fmod, np.remainder, np.maximum, np.minimum, np.fmax, np.fmin)


@pytest.mark.parametrize("f", SELECTIONS, ids=lambda f: f.__name__)
def test_a_zero_cotangent_is_strong_beside_a_partial_that_is_not_a_number(f):
    x, fixed = np.array([np.nan, 2.0]), np.array([1.5, 0.75])
    with np.errstate(invalid="ignore"):
        for g in (lambda a: f(fixed, a), lambda a: f(a, fixed)):
            for zero in slopes(g, x, 0.0):
                np.testing.assert_array_equal(zero, np.zeros(2))


@pytest.mark.parametrize("f", SELECTIONS, ids=lambda f: f.__name__)
def test_second_derivatives_of_selections(f):
    x, fixed = np.array([0.7, 2.0]), np.array([1.5, 5.5])
    found = hessian(lambda a: (f(fixed, a) ** 2).sum())(x)
    slope = [jvp(lambda a: f(fixed, a), (x,), (unit,))[1] for unit in np.eye(2)]
    np.testing.assert_allclose(found, 2 * np.diag(np.sum(slope, axis=0) ** 2))
