"""Finite differences find the derivative, and know how well they found it."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, strategies as st

from rules_core.testing import differentiate

FUNCTIONS = {
    "sin": (np.sin, mpmath.cos),
    "exp": (np.exp, mpmath.exp),
    "atan": (np.arctan, lambda x: 1 / (1 + x * x)),
    "cubic": (lambda x: x**3 - x, lambda x: 3 * x * x - 1),
    "gaussian": (lambda x: np.exp(-x * x), lambda x: -2 * x * mpmath.exp(-x * x)),
    "expm1": (np.expm1, mpmath.exp),
}
POINTS = st.floats(-3.0, 3.0).filter(lambda x: abs(x) > 1e-3)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", FUNCTIONS)
@given(x=POINTS, scale=st.floats(0.1, 3.0))
def test_the_error_is_bounded_by_its_estimate(name, x, scale):
    f, slope = FUNCTIONS[name]
    estimate = differentiate(lambda t: np.atleast_1d(f(x + t * scale)))
    true = float(slope(mpmath.mpf(x))) * scale
    assert estimate.converged
    assert abs(estimate.value[0] - true) <= estimate.error[0] + 1e-300


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", FUNCTIONS)
@given(x=POINTS)
def test_the_estimate_is_sharp(name, x):
    f, _ = FUNCTIONS[name]
    estimate = differentiate(lambda t: np.atleast_1d(f(x + t)))
    assert estimate.error[0] <= 1e-9 * (1.0 + abs(f(x)))


@given(x=POINTS)
@example(x=-1.8361059042552212)
@example(x=0.001440721134283507)
def test_single_precision_inside_is_noticed(x):
    def rounded(t):
        return np.sin([x + x * t]).astype(np.float32)

    estimate = differentiate(rounded)
    assert abs(estimate.value[0] - x * math.cos(x)) <= estimate.error[0]


@pytest.mark.parametrize(("sign", "side"), [(1, "right"), (-1, "left")])
@given(power=st.sampled_from([2.0, 3.0, 4.0]), factor=st.floats(0.5, 2.0))
def test_at_the_edge_of_the_domain_one_side_is_used(sign, side, power, factor):
    def curve(t):
        if sign * t < 0:
            raise ValueError("outside")
        return np.array([factor * (1 + t) ** power])

    estimate = differentiate(curve)
    assert estimate.side == side
    assert abs(estimate.value[0] - factor * power) <= estimate.error[0]


@given(width=st.floats(1e-9, 1.0))
def test_steps_stay_inside_a_narrow_domain(width):
    estimate = differentiate(lambda t: np.array([np.log(width + t)]))
    assume(estimate.side == "both")
    assert abs(estimate.value[0] * width - 1.0) <= estimate.error[0] * width
    assert estimate.error[0] * width < 1e-4


@given(height=st.floats(1.0, 1e6))
def test_a_steep_step_far_below_the_first_rung_is_resolved(height):
    estimate = differentiate(lambda t: np.array([np.tanh(height * t)]))
    assert estimate.value[0] == pytest.approx(height, rel=1e-6)


@pytest.mark.parametrize(
    ("curve", "value"),
    [(np.sqrt, math.inf), (lambda t: -np.sqrt(t), -math.inf), (np.cbrt, math.inf)],
)
def test_a_vertical_tangent_is_infinite(curve, value):
    assert differentiate(lambda t: np.array([curve(t)])).value[0] == value


def test_the_ends_of_the_range_of_floats():
    def curve(t):
        return np.array([1e300, 1e-300]) * np.exp(t)

    np.testing.assert_allclose(differentiate(curve).value, [1e300, 1e-300], rtol=1e-9)


def test_constants_have_the_derivative_zero():
    estimate = differentiate(lambda _t: np.array([0.0, 3.0, -1e10]))
    assert estimate.value.tolist() == [0.0, 0.0, 0.0]


def test_symmetric_kinks_and_ties_follow_the_convention():
    estimate = differentiate(lambda t: np.array([abs(t), max(t, 2 * t)]))
    np.testing.assert_allclose(estimate.value, [0.0, 1.5], atol=1e-12)


def test_an_isolated_point_has_no_derivative():
    estimate = differentiate(lambda t: np.array([0.0 if t == 0 else np.nan]))
    assert estimate.side == "none"
    assert not estimate.converged


def test_components_converge_each_at_its_own_rung():
    estimate = differentiate(lambda t: np.array([np.sin(1e5 * t), np.exp(t)]))
    np.testing.assert_allclose(estimate.value, [1e5, 1.0], rtol=1e-8)
    assert estimate.error[1] < 1e-10


def test_errors_that_are_no_domain_errors_are_passed_on():
    def curve(t):
        raise KeyError(t)

    with pytest.raises(KeyError):
        differentiate(curve)
