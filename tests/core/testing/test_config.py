"""Finite differences stand in for an AD system."""

import math

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, frule_via_ad, rrule, rrule_via_ad
from rules_core.testing import FiniteDifferenceConfig

CONFIG = FiniteDifferenceConfig()


def test_it_has_both_modes():
    assert isinstance(CONFIG, rc.RuleConfig[rc.HasForwardsMode, rc.HasReverseMode])


def test_functions_without_rules_are_differenced():
    def f(x, n, y):
        return x**n * y

    y, pullback = rrule_via_ad(CONFIG, f, 2.0, 3, 5.0)
    assert y == 40.0
    df, dx, dn, dy = pullback(1.0)
    assert (df, dn) == (NoTangent(), NoTangent())
    assert dx == pytest.approx(60.0, rel=1e-10)
    assert dy == pytest.approx(8.0, rel=1e-10)
    tangents = (NoTangent(), 1.0, NoTangent(), 0.5)
    assert frule_via_ad(CONFIG, tangents, f, 2.0, 3, 5.0)[1] == pytest.approx(64.0)


@pytest.mark.parametrize("size", [1e-200, 1e-9, 1.0, 1e6, 1e12, 1e200])
def test_derivatives_are_linear_over_all_sizes(size):
    def f(x, y):
        return np.sin(x) * y

    x, y = np.array([0.3, 2.0]), 0.7
    dx, dy = size * np.array([0.5, -1.0]), 2.0 * size
    given = (NoTangent(), dx, dy)
    expected = np.cos(x) * y * dx + np.sin(x) * dy
    image = frule_via_ad(CONFIG, given, f, x, y)[1]
    np.testing.assert_allclose(image, expected, rtol=1e-9)
    cotangent = size * np.array([1.0, -0.5])
    _, pulled, also = rrule_via_ad(CONFIG, f, x, y)[1](cotangent)
    np.testing.assert_allclose(pulled, np.cos(x) * y * cotangent, rtol=1e-9)
    np.testing.assert_allclose(also, np.sin(x) @ cotangent, rtol=1e-9)


FAST = {
    "far": (lambda x: np.sin(x) + 0, 1e7),
    "steep": (lambda x: np.sin(1e6 * x), 0.3),
    "two": (lambda x: np.stack([x * x, np.cos(3e7 * x)]), 0.7),
}


@pytest.mark.parametrize("name", FAST)
def test_what_varies_faster_than_steps_is_an_error(name):
    f, x = FAST[name]
    with pytest.raises(rc.ViaADError, match="do not converge"):
        frule_via_ad(CONFIG, (NoTangent(), 1.0), f, x)
    with pytest.raises(rc.ViaADError, match="do not converge"):
        rrule_via_ad(CONFIG, f, x)


SCALES = {
    "small": (lambda x: np.sin(x * 1e9), 1e-9, 1e9 * np.cos(1.0)),
    "tiny": (lambda x: x**3, 1e-9, 3e-18),
    "large": (lambda x: x**2, 1e7, 2e7),
    "flat": (np.cos, 0.0, 0.0),
    "constant": (lambda x: 0.0 * x + 1e9, 1.0, 0.0),
    "beside a constant": (lambda x: np.sin(x) + 1e6, 1.0, np.cos(1.0)),
    "steep": (np.exp, 100.0, np.exp(100.0)),
    "root": (np.sqrt, 1e-12, 5e5),
    "pole": (lambda x: 1 / x, 1e-6, -1e12),
}


@pytest.mark.parametrize("name", SCALES)
def test_functions_on_the_scale_of_their_arguments(name):
    f, x, slope = SCALES[name]
    image = frule_via_ad(CONFIG, (NoTangent(), 1.0), f, x)[1]
    np.testing.assert_allclose(image, slope, rtol=1e-6, atol=1e-4 * (slope == 0))
    pulled = rrule_via_ad(CONFIG, f, x)[1](1.0)[1]
    np.testing.assert_allclose(pulled, slope, rtol=1e-6, atol=1e-4 * (slope == 0))


def test_a_tangent_of_zeros_has_a_derivative_of_zeros():
    given = (NoTangent(), np.zeros(2))
    assert not np.any(frule_via_ad(CONFIG, given, np.exp, np.ones(2))[1])


def test_rules_are_used_where_there_are_any():
    def f(x):
        return x

    rrule.define(f)(lambda x: (x, lambda dy: (NoTangent(), 7.0 * dy)))
    assert rrule_via_ad(CONFIG, f, 1.0)[1](1.0)[1] == 7.0


def test_complex_cotangents_follow_the_convention():
    _, pullback = rrule_via_ad(CONFIG, lambda z: z * z, 1.0 + 2.0j)
    assert pullback(1.0 + 0j)[1] == pytest.approx(2.0 - 4.0j, rel=1e-9)
    _, pullback = rrule_via_ad(CONFIG, abs, 3.0 + 1.0j)
    assert pullback(1.0)[1] == pytest.approx((3 + 1j) / math.sqrt(10), rel=1e-9)


def test_structures_pass():
    def f(pair):
        return {"y": pair[0] * np.sum(pair[1])}

    _, pullback = rrule_via_ad(CONFIG, f, (2.0, np.ones(3)))
    _, dpair = pullback(rc.Tangent(dict, {"y": 1.0}))
    assert dpair[0] == pytest.approx(3.0)
    np.testing.assert_allclose(dpair[1], 2.0)


def test_where_there_is_no_derivative_it_says_so():
    def spike(x):
        return np.where(x == 1.0, 0.0, np.nan)

    with pytest.raises(rc.ViaADError, match="finite differences do not converge there"):
        rrule_via_ad(CONFIG, spike, np.array(1.0))
