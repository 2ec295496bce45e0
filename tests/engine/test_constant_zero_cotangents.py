"""A rule whose cotangent is a constant zero, in a pullback that is differentiated.

The zero is added to cotangents that have a derivative at the level that calls.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import rules_autodiff as ad
import rules_core as rc
from rules_core.testing import isolated_rules


def squared(x, beside):
    return x * x


ZEROS = {
    "float": 0.0,
    "NumPy's": np.float64(0.0),
    "symbolic": rc.ZeroTangent(),
    "of dy": None,
}


@pytest.fixture(name="zero", params=ZEROS)
def rule_with_zero(request):
    zero = ZEROS[request.param]

    with isolated_rules():

        @rc.rrule.define(squared)
        def squared_rrule(x, beside):
            def pullback(dy):
                return rc.NoTangent(), 2 * x * dy, dy * 0.0 if zero is None else zero

            return x * x, pullback

        yield zero


# What the second argument is of the first.
BESIDE = {
    "itself": lambda t: t,
    "sum": lambda t: t + 1.0,
    "difference": lambda t: 1.0 - t,
    "product": lambda t: 2.0 * t,
    "square": lambda t: t * t,
    "negative": lambda t: -t,
    "power": lambda t: t**3,
    "sine": np.sin,
    "quotient": lambda t: t / 3.0 + 1.0 / t,
    "entry": lambda t: np.stack([t, 2.0 * t])[1],
    "steps": lambda t: (t + 1.0) * (t - 1.0) + np.exp(t),
}


@pytest.mark.parametrize("name", BESIDE)
def test_pullbacks_are_linear(name, zero):
    def f(t):
        return 3.0 * squared(t, BESIDE[name](t))

    _, pullback = ad.vjp(f, 2.0, tier="tape")
    assert ad.grad(lambda dy: pullback(dy)[0])(1.5) == pytest.approx(12.0)
    _, found = ad.jvp(lambda dy: pullback(dy)[0], (1.5,), (1.0,))
    assert found == pytest.approx(12.0)
    for tier in ("auto", "tape"):
        _, push = ad.linearize(f, 2.0, tier=tier)
        assert push(1.5) == pytest.approx(18.0)


def root(t):
    return optimize.brentq(lambda s: s**2 - t, 0.0, t + 1.0)


SOLVERS = {
    "brentq": root,
    "bracket of args": lambda t: optimize.brentq(
        lambda s, t: s**2 - t, 0.0, t + 1.0, args=(t,)
    ),
    "both ends": lambda t: optimize.bisect(lambda s: s**2 - t, t / 9.0, t),
    "newton": lambda t: optimize.newton(lambda s: s**2 - t, t + 1.0),
    "root_scalar": lambda t: (
        optimize.root_scalar(lambda s: s**2 - t, bracket=(0.0, t + 1.0)).root
    ),
    "fsolve": lambda t: optimize.fsolve(lambda s: s**2 - t, np.array([t + 1.0]))[0],
    "minimize": lambda t: optimize.minimize(
        lambda s: np.sum(s + t / s), np.array([t])
    ).x[0],
    "minimize_scalar": lambda t: (
        optimize.minimize_scalar(lambda s: s + t / s, bounds=(0.1 * t, t + 1.0)).x
    ),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_linearize_where_the_start_depends_on_an_argument(name):
    _, push = ad.linearize(SOLVERS[name], 2.0)
    assert push(1.5) == pytest.approx(1.5 * 0.5 / np.sqrt(2.0), rel=1e-5)


def test_the_second_derivative_by_a_captured_pullback():
    _, pullback = ad.vjp(root, 2.0)
    assert ad.grad(lambda dy: pullback(dy)[0] ** 2)(1.0) == pytest.approx(0.25)


def test_linearize_where_a_singular_value_is_zero():
    """The rotation of planar points, as Kabsch finds it."""
    points, weights = np.zeros((3, 3)), np.cos(np.arange(9.0)).reshape(3, 3)
    points[:2, :2] = [[1.0, 0.3], [-0.2, 2.0]]
    da = np.sin(np.arange(9.0)).reshape(3, 3)

    def rotation(a):
        u, _, vh = np.linalg.svd(a)
        sign = np.sign(np.linalg.det(vh.T @ u.T))
        return np.sum(weights * (vh.T @ np.diag([1.0, 1.0, sign]) @ u.T))

    h = 1e-6
    exact = (rotation(points + h * da) - rotation(points - h * da)) / (2 * h)
    _, push = ad.linearize(rotation, points)
    assert push(da) == pytest.approx(exact, rel=1e-6)
    assert ad.jvp(rotation, (points,), (da,))[1] == pytest.approx(exact, rel=1e-6)
