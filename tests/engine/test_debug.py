"""Debug mode: writes by C code that the engine cannot see."""

import ctypes

import numpy as np
import pytest
import scipy.linalg.blas

from rules_autodiff import CoDual, NoFData, NoRData, grad, jvp, rrule_mutating
from rules_core import debug_mode
from tests.engine.refusing import assert_refused

X = np.array([0.5, -1.0, 2.0])


def scaled_by_c(x):
    c = np.array([1.0, 2.0, 3.0])
    y = x * c
    scipy.linalg.blas.dscal(2.0, c)
    return y @ c


def cleared_by_address(x):
    c = np.array([1.0, 2.0, 3.0])
    y = x * c
    ctypes.memset(c.ctypes.data, 0, 8)
    return y @ c


@pytest.mark.parametrize("f", [scaled_by_c, cleared_by_address])
def test_unseen_writes(f):
    with debug_mode():
        assert_refused(f, X.copy(), "an array of shape .* has changed")


def test_a_mutating_rule_is_the_remedy():
    @rrule_mutating.define(scipy.linalg.blas.dscal)
    def dscal_rule(f, a, x):
        scipy.linalg.blas.dscal(a.primal, x.primal)

        def dscal_pullback(_):
            x.primal[...] /= a.primal
            x.fdata[...] *= a.primal
            return NoRData(), NoRData(), NoRData()

        return CoDual(None, NoFData()), dscal_pullback

    try:
        with debug_mode():
            found = grad(scaled_by_c)(X)
    finally:
        rrule_mutating.rules.pop(scipy.linalg.blas.dscal)
    np.testing.assert_allclose(found, [2.0, 8.0, 18.0])


def test_functions_that_only_read():
    def f(x):
        c = np.array([1.0, 2.0, 3.0])
        order = np.argsort(c)
        return (x * c)[order] @ np.linalg.inv(np.diag(c)) @ c + len(str(c)) * x[0]

    with debug_mode():
        watched = grad(f)(X), jvp(f, (X,), (X,))[1]
    np.testing.assert_allclose(watched[0], grad(f)(X))
    assert watched[1] == pytest.approx(watched[0] @ X)
