"""Ufuncs that numba made, with rules: their objects lead to the compiler."""

import numpy as np
import pytest
from scipy.integrate import quad

import rules_core as rc
from rules_autodiff import grad, hessian
from rules_core.testing import isolated_rules

numba = pytest.importorskip("numba")  # of the extra `compiled`
X = np.array([0.5, -1.0])


@pytest.fixture
def cubed():
    @numba.vectorize(["float64(float64)"])
    def cubed(q):
        return q * q * q

    with isolated_rules():
        rc.scalar_rule(cubed, lambda y, q: (3 * q * q,))
        yield cubed


def test_second_derivatives(cubed):
    primitive = rc.primitive(cubed, host=True, elementwise=True)
    for f in (cubed, primitive):
        found = hessian(lambda q, f=f: np.sum(f(q)))(X)
        np.testing.assert_allclose(found, np.diag(6 * X), rtol=1e-12)


def test_in_a_function_that_a_solver_takes(cubed):
    found = grad(lambda k: quad(lambda s: cubed(s * k), 0, 1)[0])(2.0)
    assert found == pytest.approx(3.0)
