"""Rules that call back into AD, in the engine: those of the hosts, and of SciPy's.

`map_` and `fixed_point` are the rule texts that JAX and PyTorch run. `root_of` and
`integral` wrap `scipy.optimize.brentq` and `scipy.integrate.quad`, which the engine
cannot look into, by rules that ask the engine for the derivatives of their functions.
"""

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import rules_core as rc
from rules_autodiff import grad, hessian, hvp, jacfwd, jacrev, jvp, value_and_grad
from rules_core import (
    HasForwardsMode,
    HasReverseMode,
    NoTangent,
    RuleConfig,
    frule_via_ad,
    rrule_via_ad,
)
from tests.interop import callbacks
from tests.interop.callbacks import fixed_point, map_
from tests.interop.simulations import differences

REVERSE, FORWARD = RuleConfig[HasReverseMode], RuleConfig[HasForwardsMode]
X = np.array([0.3, 0.8, 1.1])


def root_of(f, theta, low, high):
    """The `x` between `low` and `high` with `f(x, theta) = 0`."""
    return scipy.optimize.brentq(f, low, high, args=(theta,), xtol=1e-15, rtol=1e-14)


def slope_at_root(config, f, x, theta):
    """∂f/∂x, by whoever differentiates."""
    _, pullback = rrule_via_ad(config, f, x, theta)
    return pullback(1.0)


@rc.rrule.define(root_of, config=REVERSE)
def root_of_rrule(config, f, theta, low, high):
    """dtheta = -(∂f/∂theta)* dx / (∂f/∂x), and likewise for what `f` captures."""
    x = root_of(f, theta, low, high)

    def root_of_pullback(dx):
        _, fx, _ = slope_at_root(config, f, x, theta)
        _, pullback = rrule_via_ad(config, f, x, theta)
        df, _, dtheta = pullback(-dx / fx)
        return NoTangent(), df, dtheta, NoTangent(), NoTangent()

    return x, root_of_pullback


@rc.frule.define(root_of, config=FORWARD)
def root_of_frule(config, tangents, f, theta, low, high):
    """dx = -(∂f/∂theta dtheta) / (∂f/∂x)."""
    _, df, dtheta, *_ = tangents
    x = root_of(f, theta, low, high)
    _, along = frule_via_ad(config, (df, 0.0, dtheta), f, x, theta)
    _, slope = frule_via_ad(config, (NoTangent(), 1.0, 0.0 * theta), f, x, theta)
    return x, -along / slope


def integral(f, low, high, theta):
    """∫ f(t, theta) dt."""
    return scipy.integrate.quad(f, low, high, args=(theta,), epsabs=1e-13)[0]


@rc.rrule.define(integral, config=REVERSE)
def integral_rrule(config, f, low, high, theta):
    """Leibniz: dtheta = dy ∫ (∂f/∂theta)* dt, dhigh = dy f(high), dlow = -dy f(low)."""

    def integral_pullback(dy):
        def along(t, theta):
            _, pullback = rrule_via_ad(config, f, t, theta)
            return pullback(1.0)[2]

        dtheta = dy * integral(along, low, high, theta)
        return (
            NoTangent(),
            NoTangent(),
            -dy * f(low, theta),
            dy * f(high, theta),
            dtheta,
        )

    return integral(f, low, high, theta), integral_pullback


@rc.frule.define(integral, config=FORWARD)
def integral_frule(config, tangents, f, low, high, theta):
    """dy = f(high) dhigh - f(low) dlow + ∫ ∂f/∂theta dtheta dt."""
    _, _, dlow, dhigh, dtheta = tangents

    def along(t, theta):
        return frule_via_ad(config, (NoTangent(), 0.0, 1.0), f, t, theta)[1]

    inside = dtheta * integral(along, low, high, theta)
    dy = f(high, theta) * dhigh - f(low, theta) * dlow + inside
    return integral(f, low, high, theta), dy


def mapped(x):
    w = x[1]
    return np.sum(map_(lambda v: np.sin(v * w), [x[0] * x[0], x[2]]))


def settled(x):
    def step(theta, y):
        return 0.5 * np.cos(theta["a"] * y) + theta["b"] * x[2]  # x is captured

    y = fixed_point(step, {"a": x[0], "b": x[1]}, np.zeros(2))
    return np.sum(y * np.array([1.0, 2.0]))


def kepler(x):
    E = root_of(lambda E, e: E - e * np.sin(E) - x[1], x[0], -10.0, 10.0)
    return E * E * x[2]


def arc(x):
    return integral(lambda t, a: np.exp(-a * t * t), x[0], x[2], x[1]) * x[1]


PROGRAMS = {f.__name__: f for f in (mapped, settled, kepler, arc)}
EACH = pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(callbacks, "MOST_STEPS", 12)  # `settled` converges fast


def curvature(f):
    step = 1e-4
    rows = step * np.eye(3)
    return [
        (differences(f, X + e)[0] - differences(f, X - e)[0]) / (2 * step) for e in rows
    ]


@EACH
def test_reverse_mode(f):
    y, slope = value_and_grad(f)(X)
    assert y == pytest.approx(f(X), rel=1e-12)
    np.testing.assert_allclose(slope, differences(f, X)[0], rtol=1e-6, atol=1e-9)


@EACH
def test_forward_mode(f):
    known = differences(f, X)[0]
    np.testing.assert_allclose(jvp(f, (X,), (X,))[1], known @ X, rtol=1e-6)
    np.testing.assert_allclose(jacfwd(f)(X), known, rtol=1e-6, atol=1e-9)


@pytest.mark.covering(every=6)
@EACH
@pytest.mark.parametrize(
    "second",
    [hessian, lambda f: jacrev(jacrev(f)), lambda f: jacrev(jacfwd(f)),
     pytest.param(lambda f: jacfwd(jacfwd(f)), marks=pytest.mark.full)],  # ten seconds
    ids=["forward over reverse", "reverse over reverse", "reverse over forward",
         "forward over forward"],
)  # fmt: skip
def test_second_order(f, second):
    np.testing.assert_allclose(second(f)(X), curvature(f), rtol=1e-5, atol=1e-6)


@EACH
def test_hessian_vector_product(f):
    found = hvp(f, (X,), (X,))
    np.testing.assert_allclose(found, curvature(f) @ X, rtol=1e-5, atol=1e-6)


@EACH
def test_a_gradient_of_a_gradient_inside(f):
    """The engine inside a rule inside the engine."""

    def steep(x):
        return np.sum(grad(f)(x) ** 2)

    found = grad(steep)(X)
    slope, second = differences(f, X)[0], np.array(curvature(f))
    np.testing.assert_allclose(found, 2 * second @ slope, rtol=1e-4, atol=1e-5)
