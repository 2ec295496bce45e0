"""Derivatives in the parameters of incomplete functions, on a wide grid with tails."""

import mpmath as mp
import numpy as np
import pytest

from rules_scipy.special import betainc_da, betainc_db, gammainc_da

from . import parameter_references as references

TABLE = references.load()


def compare(f, name):
    *args, known = np.array(TABLE[name]).T
    return np.abs(f(*args) / known - 1)


def test_gammainc_in_a():
    error = compare(gammainc_da, "gammainc_da")
    assert len(error) > 80
    assert np.median(error) < 5e-15
    assert error.max() < 1e-12


def test_betainc_in_a():
    error = compare(betainc_da, "betainc_da")
    assert len(error) > 500
    assert np.median(error) < 5e-15
    assert np.quantile(error, 0.99) < 1e-11
    assert error.max() < 1e-10


def test_betainc_in_b_mirrors_a():
    a, b, x, known = (
        np.array(column) for column in zip(*TABLE["betainc_da"], strict=True)
    )
    exact = 1 - (1 - x) == x
    got = betainc_db(b, a, 1 - x)[exact]
    assert np.allclose(got, -known[exact], rtol=1e-10, atol=0)


@pytest.mark.parametrize("a", [0.1, 2.5, 50])
def test_the_series_agree_with_mpmath_s_own_derivative(a):
    mp.mp.dps = 40
    x, b = 0.4 * a, 1.5
    own = mp.diff(lambda a: mp.gammainc(a, 0, x, regularized=True), a)
    assert mp.almosteq(references.gammainc_da(a, x), own, 1e-25)
    own = mp.diff(lambda a: mp.betainc(a, b, 0, 0.4, regularized=True), a)
    assert mp.almosteq(references.betainc_da(a, b, 0.4), own, 1e-25)


def test_large_parameters_approach_the_normal_limit():
    a = np.array([1e12, 1e15, 1e100])
    assert np.allclose(gammainc_da(a, a) * np.sqrt(2 * np.pi * a), -1, rtol=1e-6)
    assert np.allclose(betainc_da(a, a, 0.5) * np.sqrt(4 * np.pi * a), -1, rtol=1e-6)


def test_types_and_shapes_follow_ufuncs():
    single = gammainc_da(np.float32(2), np.ones((3, 1), np.float32))
    assert single.dtype == np.float32
    assert single.shape == (3, 1)
    assert betainc_da(np.ones((2, 1)), 2, np.float32(0.3)).shape == (2, 1)
    assert isinstance(gammainc_da(2, 3), np.float64)
    with pytest.raises(TypeError) as info:
        gammainc_da(2.0, 3j)
    assert str(info.value) == (
        "gammainc_da must be given real arguments, but got dtypes float64, complex128."
    )
