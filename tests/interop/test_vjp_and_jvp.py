"""`rc.vjp` and `rc.jvp`: the AD system follows from the arrays."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_autodiff import grad, hessian
from rules_core import NoTangent, rrule
from rules_core.testing import check_rule, isolated_rules

X = np.array([0.5, -1.5, 2.0])
MAKERS = {"numpy": np.array, "jax": jnp.array, "torch": torch.tensor}


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_rules():
        yield


def wave(x, a, n=2):
    xp = rc.array_namespace(x)
    return xp.sin(a * x) ** n


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_by_the_arrays(make):
    x = make(X)
    y, pullback = rc.vjp(wave, x, 3.0, 2)
    dx, da, dn = pullback(make(np.ones(3)))
    slope = 6 * np.sin(3 * X) * np.cos(3 * X)
    np.testing.assert_allclose(dx, slope)
    assert float(da) == pytest.approx(np.sum(slope * X / 3))
    assert isinstance(dn, NoTangent)
    again, dy = rc.jvp(wave, (x, 3.0, 2), (make(X), 0.0, NoTangent()))
    np.testing.assert_allclose(dy, slope * X)
    np.testing.assert_allclose(again, y)


def test_arrays_that_the_function_captures_count():
    a = jnp.asarray(3.0)
    y, pullback = rc.vjp(lambda x: wave(x, a), X)
    assert isinstance(y, jax.Array)
    assert isinstance(pullback(jnp.ones(3))[0], jax.Array)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_floats_in_containers_are_differentiated(make):
    x = make(X)
    _, pullback = rc.vjp(lambda p: wave(p["x"], p["a"][0]), {"x": x, "a": [3.0]})
    (dp,) = pullback(make(np.ones(3)))
    slope = 6 * np.sin(3 * X) * np.cos(3 * X)
    assert float(dp["a"][0]) == pytest.approx(np.sum(slope * X / 3))


def test_floats_without_an_array():
    """Constants for a framework, whose derivative would be zero."""
    x = torch.tensor(X)
    with pytest.raises(rc.ViaADError, match=r"must be an array .* but got 3\.0"):
        rc.vjp(lambda a: wave(x, a), 3.0)


def misfit(p, data):
    """Squares, whose minimum a fit finds."""
    return ((p**2 - data) ** 2).sum()


def fit(data):
    return data**0.5


def stationary(p, data):
    return rc.vjp(lambda p: misfit(p, data), p)[1](1.0)[0]


DATA = np.array([1.0, 4.0])
HESSIANS = {
    "engine": lambda f: hessian(f)(DATA),
    "jax": lambda f: jax.jit(jax.hessian(f))(DATA),
    "torch": lambda f: torch.func.hessian(f)(torch.tensor(DATA)),
}


@pytest.mark.covering(every=3, start=1)
@pytest.mark.parametrize("hessian", HESSIANS.values(), ids=HESSIANS)
def test_in_a_residual(hessian):
    """The gradient of an objective: a minimum by `implicit`, twice differentiated."""
    f = rc.implicit(fit, stationary, host=True, out="data")
    found = hessian(lambda data: f(data).sum())
    np.testing.assert_allclose(found, np.diag(-0.25 * DATA**-1.5), atol=1e-9)


def with_rule():
    """A rule that asks for the derivative of its own parts."""

    @rc.primitive
    def twice(x):
        return wave(wave(x, 2.0), 3.0)

    @rrule.define(twice)
    def twice_rrule(x: rc.ArrayLike):
        y, outer = rc.vjp(lambda z: wave(z, 3.0), wave(x, 2.0))
        _, inner = rc.vjp(lambda x: wave(x, 2.0), x)

        def twice_pullback(dy):
            return NoTangent(), inner(outer(dy)[0])[0]

        return y, twice_pullback

    return twice


@pytest.mark.full
def test_in_rules():
    check_rule(with_rule(), X, level="quick", hosts=())
    want = jax.hessian(lambda x: wave(wave(x, 2.0), 3.0).sum())(X)
    f = with_rule()
    np.testing.assert_allclose(hessian(lambda x: f(x).sum())(X), want)


@pytest.mark.full
def test_in_rules_everywhere():
    check_rule(with_rule(), X)


def test_in_a_rule():
    f = with_rule()
    want = jax.grad(lambda x: wave(wave(x, 2.0), 3.0).sum())(X)
    np.testing.assert_allclose(grad(lambda x: f(x).sum())(X), want)


def test_in_the_body_of_a_host_function():
    """NumPy arrays, whatever the framework outside has."""

    @rc.primitive(host=True, out="x")
    def newton(x):
        for _ in range(30):
            y, pullback = rc.vjp(lambda x: x**3 - 2.0, x)
            x = x - y / pullback(np.ones_like(y))[0]
        return x

    root = np.full(2, 2 ** (1 / 3))
    np.testing.assert_allclose(jax.jit(newton)(jnp.ones(2)), root, rtol=1e-6)
    np.testing.assert_allclose(newton(torch.ones(2, dtype=torch.float64)), root)
    np.testing.assert_allclose(newton(np.ones(2)), root)


def test_nested_in_the_engine():
    assert grad(lambda x: rc.vjp(lambda x: x**3, x)[1](1.0)[0])(2.0) == 12.0
    assert grad(lambda x: rc.jvp(lambda x: x**3, (x,), (1.0,))[1])(2.0) == 12.0


def test_misuse():
    with pytest.raises(rc.ViaADError, match="one tangent for each of the 2 arguments"):
        rc.jvp(wave, (X, 3.0), (X,))
    with pytest.raises(rc.MixedHostsError):
        rc.vjp(wave, jnp.asarray(X), torch.tensor(3.0))


def test_nothing_is_installed(monkeypatch):
    from rules_core._rules import vjp_and_jvp

    monkeypatch.setattr(vjp_and_jvp, "find_deriver", lambda: None)
    with pytest.raises(
        rc.ViaADError, match=r"vjp\(wave\): .* NumPy arrays, but got none"
    ):
        rc.vjp(wave, X, 3.0)


def test_array_like():
    assert isinstance(X, rc.ArrayLike)
    assert isinstance(1.0, rc.ArrayLike)
    assert not isinstance("text", rc.ArrayLike)
