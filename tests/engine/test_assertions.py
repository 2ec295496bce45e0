"""Assertions of `numpy.testing` inside of programs."""

import numpy as np
import pytest

import rules_autodiff as ad

X, V = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])
check = np.testing

# What holds at x, and what does not.
HOLDING = {
    "assert_allclose": lambda x: check.assert_allclose(x, x + 1e-12, rtol=1e-9),
    "by name": lambda x: check.assert_allclose(actual=x, desired=x, err_msg="no"),
    "assert_array_less": lambda x: check.assert_array_less(0.5 * x, x),
    "assert_equal": lambda x: check.assert_equal(x, x),
    "assert_equal of lists": lambda x: check.assert_equal([x[0], x], [x[0], x]),
    "assert_array_equal": lambda x: check.assert_array_equal(x, 1.0 * x),
    "assert_almost_equal": lambda x: check.assert_almost_equal(x[0], x[0]),
    "assert_array_almost_equal": lambda x: check.assert_array_almost_equal(x, x),
    "assert_approx_equal": lambda x: check.assert_approx_equal(x[0], x[0]),
    "assert_array_max_ulp": lambda x: check.assert_array_max_ulp(x, x),
    "nulp": lambda x: check.assert_array_almost_equal_nulp(x, x),
}
FAILING = {
    "assert_allclose": lambda x: check.assert_allclose(x, 1.5 * x),
    "assert_array_less": lambda x: check.assert_array_less(x, 0.5 * x),
    "assert_equal": lambda x: check.assert_equal(x, 2.0 * x),
    "assert_array_equal": lambda x: check.assert_array_equal(x, -x),
}


def checked(check):
    def program(x):
        y = x * x
        check(y)
        return y @ y

    return program


@pytest.mark.parametrize("tier", ["auto", "tape"])
@pytest.mark.parametrize("name", HOLDING)
def test_they_change_nothing(name, tier):
    program = checked(HOLDING[name])
    for _ in range(2):
        np.testing.assert_allclose(ad.grad(program, tier=tier)(X), 4.0 * X**3)
        _, found = ad.jvp(program, (X,), (V,), tier=tier)
        assert found == pytest.approx(4.0 * X**3 @ V)
    np.testing.assert_allclose(ad.hessian(program, tier=tier)(X), np.diag(12.0 * X**2))


@pytest.mark.parametrize("tier", ["auto", "tape"])
@pytest.mark.parametrize("name", FAILING)
def test_they_raise_what_they_raise(name, tier):
    program = checked(FAILING[name])
    for _ in range(2):
        with pytest.raises(AssertionError):
            ad.grad(program, tier=tier)(X)
        with pytest.raises(AssertionError):
            ad.jvp(program, (X,), (V,), tier=tier)
