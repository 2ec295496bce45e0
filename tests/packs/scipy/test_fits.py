"""Estimates by `fit`, moments of variables, and frozen distributions of vectors."""

import numpy as np
import pytest
import scipy.stats as st
from scipy.interpolate import BarycentricInterpolator

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_autodiff.testing import check_program

X = np.array([1.0, 2.0, 3.5])
DIRICHLET = st.dirichlet([1.0, 2.0, 3.0])
STUDENT = st.multivariate_t(np.zeros(3), np.diag([1.0, 2.0, 3.0]), df=4)

KNOWN = {
    "norm": st.norm.fit,
    "norm at a place": lambda x: st.norm.fit(x, floc=0.5)[1],
    "norm of a scale": lambda x: st.norm.fit(x, fscale=0.5)[0],
    "expon": st.expon.fit,
    "expon at a place": lambda x: st.expon.fit(x, floc=0.5)[1],
    "uniform": st.uniform.fit,
    "raw moment": lambda x: st.Normal(mu=x[0], sigma=x[1]).moment(2),
    "central moment": lambda x: st.Normal(mu=x[0], sigma=x[1]).moment(2, "central"),
    "dirichlet": lambda x: DIRICHLET.logpdf(x / x.sum()),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known(name):
    check_program(KNOWN[name], X)


@pytest.mark.parametrize("f", [STUDENT.logpdf, STUDENT.pdf], ids=["logpdf", "pdf"])
def test_a_frozen_multivariate_t(f):
    """Its value is rounded otherwise than SciPy's."""
    steps = 1e-6 * np.eye(3)
    wanted = [(f(X + h) - f(X - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(grad(lambda x: f(x))(X), wanted, rtol=1e-6)
    found = jvp(lambda x: f(x), (X,), (np.ones(3),))[1]
    np.testing.assert_allclose(found, sum(wanted), rtol=1e-6)


def with_values(x):
    p = BarycentricInterpolator(np.arange(3.0))
    p.set_yi(x)
    return p(0.5)


REFUSED = {
    "gamma": (lambda x: st.gamma.fit(x)[0], "gamma.fit .* nnlf"),
    "options": (lambda x: st.norm.fit(x, method="MM")[0], "norm.fit .* nnlf"),
    "set_yi": (lambda x: with_values(x), "set_yi has no derivative. Make a new"),
    "third": (lambda x: st.Normal(mu=x[0], sigma=1.0).moment(3), "moment"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not(name):
    program, text = REFUSED[name]
    with pytest.raises(rc.UnsupportedError, match=text):
        check_program(program, X)
