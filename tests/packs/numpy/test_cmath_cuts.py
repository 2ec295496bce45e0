"""`cmath` at real numbers beyond a branch point: on the upper side of a cut."""

import cmath

import pytest

from rules_autodiff.testing import check_program


@pytest.mark.parametrize("x", [-2.5, -1.3, 0.4, 1.3, 2.5])
@pytest.mark.parametrize(
    "name", ["asin", "acos", "atan", "asinh", "acosh", "atanh", "sqrt", "log"]
)
def test_real_numbers(name, x):
    f = getattr(cmath, name)

    def program(x):
        y = f(x)
        return y.real + 2.0 * y.imag

    check_program(program, x)
