"""Values that have become too large before a function that is flat there.

The true derivatives are below 1e-300, and 0 in float64.
"""

import numpy as np
import pytest

from rules_autodiff import grad, hessian, jacfwd, jacrev, jvp, vjp

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FLAT = {
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -800.0),
    "gumbel": (lambda x: np.exp(-np.exp(x)), 800.0),
    "sech": (lambda x: 1 / np.cosh(x), 800.0),
    "sech by exp": (lambda x: 2 / (np.exp(x) + np.exp(-x)), 800.0),
    "arctan": (lambda x: np.arctan(np.exp(x)), 800.0),
    "tanh": (lambda x: np.tanh(np.sinh(x)), 800.0),
    "planck": (lambda x: 1 / (np.exp(1 / x) - 1), 1e-3),
    "two sums": (lambda x: 1 / (1 + 1e308 * x + 1e308 * x), 1.0),
    "factor": (lambda x: 3.0 / (1 + 2 * np.exp2(x)), 2000.0),
    "expm1": (lambda x: -1 / np.expm1(x), 800.0),
    "sigmoids": (lambda x: np.sum(1 / (1 + np.exp(-np.array([1.0, 2.0]) * x))), -800.0),
}


@pytest.mark.parametrize("name", FLAT)
def test_both_modes_give_zero(name):
    f, x = FLAT[name]
    row = np.array([x, x])
    assert grad(f)(x) == 0.0
    assert jvp(f, (x,), (1.0,))[1] == 0.0
    assert jacfwd(f)(x) == 0.0
    assert jvp(f, (row[:1],), (np.array([3.0]),))[1].tolist() in ([0.0], 0.0)
    if name != "sigmoids":
        assert not jacfwd(f)(row).any()
        assert not jacrev(f)(row).any()


@pytest.mark.parametrize("name", ["sigmoid", "gumbel", "sech", "planck"])
def test_second_derivatives(name):
    f, x = FLAT[name]
    assert hessian(f)(x) == 0.0
    assert jvp(grad(f), (x,), (1.0,))[1] == 0.0


def test_other_arguments_and_entries_keep_their_tangents():
    def f(x, y):
        return y / (1 + np.exp(-x))

    y, dy = jvp(f, (np.array([-800.0, 0.0]), 3.0), (np.ones(2), 1.0))
    np.testing.assert_allclose(y, [0.0, 1.5])
    np.testing.assert_allclose(dy, [0.0, 0.75 + 0.5])
    found = jacfwd(f, argnums=(0, 1))(np.array([-800.0, 0.0]), 3.0)
    known = vjp(f, np.array([-800.0, 0.0]), 3.0)[1](np.ones(2))
    np.testing.assert_allclose(found[0], np.diag(known[0]))
    np.testing.assert_allclose(found[1], [0.0, 0.5])


STEEP = {
    "pole": (lambda x: 1 / (1 + 1 / x), np.zeros(1)),
    "pole in exp": (lambda x: np.exp(-1 / x), np.zeros(1)),
    "pole in arctan": (lambda x: np.arctan(1 / x), np.zeros(1)),
    "log": (lambda x: 1 / np.log(x), np.zeros(1)),
    "power": (lambda x: 1 / (1 + x**-2.0), np.zeros(1)),
    "value too large": (lambda x: np.log(np.exp(x)), np.full(1, 800.0)),
    "log in a quotient": (lambda x: x / np.log1p(np.exp(x)), np.full(1, 800.0)),
}


@pytest.mark.parametrize("name", STEEP)
def test_what_is_not_known_stays_nan(name):
    """At poles, and where the outer function has no limit."""
    f, x = STEEP[name]
    assert np.isnan(jvp(f, (x,), (np.ones(1),))[1]).all()
    assert np.isnan(jacfwd(f)(x)).all()


def test_a_value_too_large_keeps_its_own_tangent():
    assert jvp(np.exp, (800.0,), (1.0,))[1] == np.inf
    assert jvp(lambda x: 2 * np.exp(x) + 1, (800.0,), (1.0,))[1] == np.inf
