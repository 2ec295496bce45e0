"""Every mixture of the front door's derivatives, on programs of every kind."""

from itertools import product

import numpy as np
import pytest

from rules_autodiff import Const, grad, stop_gradient, vjp
from tests.engine.mixtures import PROGRAMS
from tests.engine.modes import linearized, pulled, pushed

HERE, STEP = 0.7, 1e-4


def with_aux(f):
    return lambda t: grad(lambda u: (f(u), {"a": u}), has_aux=True)(t)[0]


def of_a_tree(f):
    def derivative(t):
        tree, _ = grad(lambda p, q: f(p["x"][0] * q), (0, 1))({"x": [t]}, 1.0)
        return tree["x"][0]

    return derivative


def beside_a_constant(f):
    return lambda t: vjp(lambda a, b: f(a) * b, t, Const(1.0))[1](1.0)[0]


MODES = {
    "grad": grad, "jvp": pushed, "vjp": pulled, "linearize": linearized,
    "aux": with_aux, "tree": of_a_tree, "const": beside_a_constant,
}  # fmt: skip
EACH = pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)


def difference(f):
    return (f(HERE + STEP) - f(HERE - STEP)) / (2 * STEP)


def check(f, modes, order):
    """Every mixture against differences of the derivative of the order below."""
    lower = f
    for _ in range(order - 1):
        lower = pushed(lower)
    known = difference(lower)
    for names in product(modes, repeat=order):
        derivative = f
        for name in names:
            derivative = MODES[name](derivative)
        found = derivative(HERE)
        np.testing.assert_allclose(found, known, 1e-4, 1e-6, err_msg=str(names))


@pytest.mark.covering(every=4)
@EACH
def test_first_order(f):
    check(f, MODES, 1)


@pytest.mark.covering(every=17)
@EACH
def test_second_order(f):
    check(f, ["grad", "jvp", "linearize", "tree"], 2)


@pytest.mark.nightly
@EACH
def test_second_order_in_all_modes(f):
    check(f, MODES, 2)


@pytest.mark.nightly
@EACH
def test_third_order(f):
    check(f, ["grad", "jvp", "linearize"], 3)


@pytest.mark.parametrize("order", [1, 2])
def test_a_lost_derivative_is_caught(order):
    def lost(t):
        return t**3 * np.sin(stop_gradient(t))

    with pytest.raises(AssertionError):
        check(lost, ["grad", "jvp"], order)
