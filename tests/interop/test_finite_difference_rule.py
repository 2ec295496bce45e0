"""`finite_difference_rule`: the last resort, in each AD system."""

import jax
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_autodiff import grad, hessian
from rules_core._declare.finite_differences import _Differences
from rules_core.testing import check_rule, isolated_rules

X = np.array([2.0, 3.0])
SECOND = ("rrule.second-order", "frule.second-order")


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_rules():
        yield


def box(x, s, n=2):
    return np.stack([x[0] * x[1] * s, np.sin(x[1]) ** n, s * s])


def declared(f=box, out=(3,), **options):
    handle = rc.primitive(f, host=True, out=out)
    rc.finite_difference_rule(handle, **options)
    return handle


OPTIONS = {
    "default": ({}, 1e-6),
    "no estimate": ({"tolerance": None}, 1e-6),
    "forward": ({"scheme": "forward"}, 1e-4),
    "step": ({"step": 1e-4}, 1e-6),
}


@pytest.mark.parametrize(("options", "rtol"), OPTIONS.values(), ids=OPTIONS)
def test_rule(options, rtol):
    f = declared(**options)
    cells = {"level": "quick", "hosts": (), "rtol": rtol, "atol": rtol}
    check_rule(f, X, np.asarray(1.5), **cells, skip=SECOND)


@pytest.mark.full
def test_everywhere():
    check_rule(declared(), X, np.asarray(1.5), rtol=1e-4, atol=1e-4, skip=SECOND)


ORDERS = {
    "engine": lambda f: (grad(f)(X), hessian(f)(X)),
    "jax": lambda f: (jax.jit(jax.grad(f))(X), jax.jit(jax.hessian(f))(X)),
    "torch": lambda f: (
        torch.func.grad(f)(torch.tensor(X)),
        torch.func.hessian(f)(torch.tensor(X)),
    ),
}


@pytest.mark.covering(every=3, start=2)
@pytest.mark.parametrize("orders", ORDERS.values(), ids=ORDERS)
def test_two_orders(orders):
    f = declared()
    slope, curvature = orders(lambda x: f(x, 1.5).sum())
    sine = np.sin(6.0), 2 * np.cos(6.0)
    np.testing.assert_allclose(slope, [4.5, 3.0 + sine[0]], rtol=1e-8)
    np.testing.assert_allclose(curvature, [[0, 1.5], [1.5, sine[1]]], atol=1e-4)


HIGHER = {
    "grad of grad": lambda f: grad(lambda x: grad(lambda x: f(x, 1.5).sum())(x).sum())(
        X
    ),
    "hessian": lambda f: hessian(lambda x: f(x, 1.5).sum())(X),
    "jax": lambda f: jax.hessian(lambda x: f(x, 1.5).sum())(X),
    "jax, forward": lambda f: jax.jacfwd(jax.jacfwd(lambda x: f(x, 1.5)))(X),
    "torch": lambda f: torch.func.hessian(lambda x: f(x, 1.5).sum())(torch.tensor(X)),
}


@pytest.mark.parametrize("higher", HIGHER.values(), ids=HIGHER)
def test_one_side_has_no_second_order(higher):
    with pytest.raises(Exception, match="have no digits left; scheme='central'"):
        higher(declared(scheme="forward"))


@pytest.mark.parametrize("scheme", ["central", "forward"])
def test_functions_that_return_one_array_in_every_call(scheme):
    buffer = np.zeros(2)
    f = declared(lambda x: np.multiply(x, x, out=buffer), "x", scheme=scheme)
    y, pullback = rc.rrule(f, X)
    np.testing.assert_allclose(pullback(np.ones(2))[1], 2 * X, rtol=1e-6)
    np.testing.assert_array_equal(y, X * X)
    found = grad(lambda x: f(x).sum())(X)
    np.testing.assert_allclose(found, 2 * X, rtol=1e-6)
    found = jax.grad(lambda x: f(x).sum())(X)
    np.testing.assert_allclose(found, 2 * X, rtol=1e-6)


def test_two_orders_outside_jit():
    f = declared()
    found = jax.hessian(lambda x: f(x, 1.5).sum())(X)
    known = [[0, 1.5], [1.5, 2 * np.cos(6.0)]]
    np.testing.assert_allclose(found, known, atol=1e-4)


def test_number_of_calls():
    """Only what is wanted is moved, by four calls for each entry."""
    calls = []

    def counted(x, s):
        calls.append(1)
        return x * s

    f = declared(counted, "x")
    _, pullback = rc.rrule.resolve(f, (X, 1.5)).run((True, False))
    assert len(calls) == 1 + 4 * X.size
    pullback(X)
    assert len(calls) == 1 + 4 * X.size


BROKEN = {
    "jump": lambda x: np.where(x > 1e-6, 1.0, 0.0),
    "noise": lambda x: x + 1e-3 * np.sin(1e7 * x + 1),
    "one-sided kink": lambda x: np.where(x > 1e-6, 5 * (x - 1e-6), 0.0),
}


@pytest.mark.parametrize("f", BROKEN.values(), ids=BROKEN)
def test_where_there_is_no_derivative_it_is_nan(f):
    f = declared(f, "x")
    assert np.isnan(jax.jit(jax.grad(f))(0.0))


NARROW = {
    "peak": (lambda x: np.exp(-((x / 1e-12) ** 2)), 1e-12),
    "peak on a slope": (lambda x: 1e3 * x + np.exp(-((x / 1e-8) ** 2)), 1e-8),
    "wave": (lambda x: np.cos(x / 1e-9), 0.4e-9),
    "bump elsewhere": (lambda x: np.exp(-(((x - 5.0) / 1e-7) ** 2)), 5.0 + 3e-8),
}


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("scheme", ["central", "forward"])
def test_what_is_narrower_than_a_step_is_nan(name, scheme):
    f, x = NARROW[name]
    handle = declared(f, (), scheme=scheme)
    assert np.isnan(grad(handle)(x))
    assert np.isnan(jax.jit(jax.grad(handle))(x))
    row = declared(lambda x: np.stack([f(x[0]), x[1]]), (2,), scheme=scheme)
    assert np.isnan(grad(lambda x: row(x)[0])(np.array([x, 1.0]))[0])


SMOOTH = {
    "square": (lambda x: x**2, 0.0, 0.0),
    "fourth power": (lambda x: x**4, 0.0, 0.0),
    "both": (lambda x: x**4 - 1e-9 * x**2, 0.0, 0.0),
    "top": (np.sin, np.pi / 2, 0.0),
    "inflection": (np.sin, 0.0, 1.0),
    "large": (lambda x: 1e12 * np.cos(x), 0.0, 0.0),
    "constant": (lambda x: 0.0 * x + 7.0, 3.0, 0.0),
    "line": (lambda x: 3.0 * x - 1e9, 1e6, 3.0),
    "hundred steps wide": (lambda x: np.exp(-((x / 6e-4) ** 2)), 0.0, 0.0),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_functions_have_slopes(name):
    f, x, slope = SMOOTH[name]
    found = grad(declared(f, ()))(x)
    np.testing.assert_allclose(found, slope, rtol=1e-4, atol=1e-3)


FLAT = {
    "cube": (lambda x: x**3, 0.0),
    "fifth power": (lambda x: x**5, 0.0),
    "drag": (lambda x: x * abs(x), 0.0),
    "tiny": (lambda x: 1e-200 * x**3, 0.0),
    "square and cube": (lambda x: x**2 + x**3, 0.0),
    "rounded place": (lambda x: (x - 0.3) ** 2, 0.3),
    "large place": (lambda x: (x - 1234.56) ** 2, 1234.56),
    "sine less x": (lambda x: np.sin(x) - x, 0.0),
    "rounded values": (lambda x: (1 + x) ** 2 - 1 - 2 * x, 0.0),
    "even": (lambda x: abs(x) ** 3, 0.0),
}


FLAT_CASES = [(name, "central") for name in FLAT]
# Less its value, of which steps of `"forward"` see the rounding alone.
FLAT_CASES += [(name, "forward") for name in FLAT if name != "sine less x"]


@pytest.mark.parametrize(("name", "scheme"), FLAT_CASES)
def test_where_an_array_and_its_slopes_are_0(name, scheme):
    f, x = FLAT[name]
    row = declared(lambda x: np.stack([f(x), 2 * f(x)]), (2,), scheme=scheme)
    assert grad(lambda x: row(x)[0])(x) == 0.0
    if scheme == "central":
        assert jax.jit(jax.grad(lambda x: row(x)[1]))(x) == 0.0
        number = declared(lambda x: f(x), ())
        assert abs(grad(number)(x)) < 1e-10


@pytest.mark.parametrize("scheme", ["central", "forward"])
def test_waves_narrower_than_a_step_are_hardly_ever_numbers(scheme):
    """By chance alone do five points of a wave lie as those of a smooth function."""
    rng, numbers = np.random.default_rng(0), 0
    for _ in range(200):
        w, a = 10.0 ** rng.uniform(-12.0, -7.5), rng.uniform(0.0, 6.3, 3)

        def wave(x, w=w, a=a):
            t = x / w
            return np.sin(t + a[0]) + np.sin(1.7 * t + a[1]) * np.cos(0.3 * t + a[2])

        slope = next(
            _Differences(wave, scheme, None, 1e-2).slopes(wave, 0.0, wave(0.0))
        )
        numbers += not np.isnan(slope)
    assert numbers <= 6


def test_explain_names_it():
    assert "central finite differences" in rc.explain(declared(), X, 1.5)


def test_single_precision_and_integers():
    f = declared(lambda x, n: x**n, "x")
    x = np.float32(1.5)
    with jax.enable_x64(False):
        assert jax.grad(f)(x, 3) == pytest.approx(6.75, rel=1e-3)


MISUSES = {
    "scheme": {"scheme": "backward"},
    "step": {"step": 0.0},
    "tolerance": {"tolerance": -1.0},
    "no number": {"tolerance": float("nan")},
}


@pytest.mark.parametrize("options", MISUSES.values(), ids=MISUSES)
def test_misuse(options):
    with pytest.raises(rc.RuleDefinitionError, match="must be .* but got"):
        rc.finite_difference_rule(box, **options)


def test_complex_numbers_are_refused():
    rc.finite_difference_rule(box)
    with pytest.raises(rc.UnsupportedError, match="must be real"):
        rc.rrule(box, X * 1j, 1.0)
