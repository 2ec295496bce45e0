"""Integrals by Leibniz's rule: closed forms, in each AD system."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import torch

import rules_core as rc
from rules_autodiff import grad, jacfwd, jvp
from rules_scipy import integrate

R, E = 2.0, 1.5  # rate, end
# ∫ r exp(-r t) dt from 0 to e is 1 - exp(-r e).
D_RATE, D_END = E * np.exp(-R * E), R * np.exp(-R * E)
DD_RATE = -(E**2) * np.exp(-R * E)


def decay(t, rate):
    return rate * rc.array_namespace(t, rate).exp(-rate * t)


def in_numpy(t, rate):
    return rate * np.exp(-rate * t)


def fallen(rate, end, module=integrate, f=decay):
    return module.quad(f, 0.0, end, args=(rate,))[0]


def captured(rate, end, module=integrate, f=decay):
    return module.quad(lambda t: f(t, rate), 0.0, end)[0]


HOW = pytest.mark.parametrize("f", [fallen, captured], ids=["args", "captured"])


@HOW
@pytest.mark.parametrize("module", [integrate, scipy.integrate], ids=["ours", "scipy"])
def test_in_the_engine(f, module):
    def area(rate, end):
        return f(rate, end, module, in_numpy)

    assert area(R, E) == pytest.approx(1 - np.exp(-R * E))
    assert grad(area)(R, E) == pytest.approx(D_RATE)
    assert grad(area, 1)(R, E) == pytest.approx(D_END)
    found = jvp(area, (R, E), (1.0, 2.0))[1]
    assert found == pytest.approx(D_RATE + 2 * D_END)


@pytest.mark.full
@HOW
def test_second_order_in_the_engine(f):
    def area(rate, end):
        return f(rate, end, scipy.integrate, in_numpy)

    assert grad(grad(area))(R, E) == pytest.approx(DD_RATE)
    assert jvp(grad(area), (R, E), (1.0, 0.0))[1] == pytest.approx(DD_RATE)


@pytest.mark.covering(every=2)
@HOW
def test_in_jax(f):
    with jax.enable_x64(True):
        value, slopes = jax.jit(jax.value_and_grad(f, (0, 1)))(R, E)
        np.testing.assert_allclose(value, 1 - np.exp(-R * E))
        np.testing.assert_allclose(slopes, (D_RATE, D_END))


@pytest.mark.full
@HOW
def test_transforms_of_jax(f):
    with jax.enable_x64(True):
        _, moved = jax.jvp(f, (R, E), (1.0, 2.0))
        np.testing.assert_allclose(moved, D_RATE + 2 * D_END)
        for second in (jax.hessian(f), jax.grad(jax.grad(f)), jax.jacfwd(jax.grad(f))):
            np.testing.assert_allclose(jax.jit(second)(R, E), DD_RATE)
        rates = jnp.asarray([R, 1.0])
        found = jax.vmap(jax.grad(f), (0, None))(rates, E)
        np.testing.assert_allclose(found, E * np.exp(-np.asarray(rates) * E))


@pytest.mark.covering(every=2)
@HOW
def test_in_torch(f):
    rate = torch.tensor(R, dtype=torch.float64, requires_grad=True)
    end = torch.tensor(E, dtype=torch.float64, requires_grad=True)
    f(rate, end).backward()
    np.testing.assert_allclose([rate.grad, end.grad], [D_RATE, D_END])


@pytest.mark.full
@HOW
def test_transforms_of_torch(f):
    rate, end = (torch.tensor(x, dtype=torch.float64) for x in (R, E))
    func, one = torch.func, torch.ones_like(torch.tensor(R, dtype=torch.float64))
    _, moved = func.jvp(f, (rate, end), (one, 2 * one))
    np.testing.assert_allclose(moved, D_RATE + 2 * D_END)
    for second in (func.hessian(f), func.grad(func.grad(f))):
        np.testing.assert_allclose(second(rate, end), DD_RATE)
    found = func.vmap(func.grad(f), (0, None))(torch.stack([rate, rate]), end)
    np.testing.assert_allclose(found, [D_RATE, D_RATE])


def test_infinite_limits():
    """∫ exp(-a t²) over the line is √(π/a)."""

    def gauss(a):
        return scipy.integrate.quad(lambda t: np.exp(-a * t * t), -np.inf, np.inf)[0]

    slope = -0.5 * np.sqrt(np.pi / R**3)
    assert grad(gauss)(R) == pytest.approx(slope)
    assert jvp(gauss, (R,), (1.0,))[1] == pytest.approx(slope)
    assert grad(fallen, 1)(R, np.inf, scipy.integrate, in_numpy) == 0.0
    with jax.enable_x64(True):
        found = jax.jit(jax.grad(fallen, (0, 1)))(R, jnp.inf)
        np.testing.assert_allclose(found, (0.0, 0.0), atol=1e-8)


def test_many_parameters():
    """∫ p(t) dt of a polynomial: each coefficient's derivative is a moment."""

    def area(p):
        return scipy.integrate.quad(lambda t: p[0] + p[1] * t + p[2] * t * t, 0, 2)[0]

    np.testing.assert_allclose(grad(area)(np.ones(3)), [2.0, 2.0, 8 / 3])
    moved = jvp(area, (np.ones(3),), (np.array([1.0, 0.0, 3.0]),))[1]
    np.testing.assert_allclose(moved, 10.0)


@pytest.mark.full
@pytest.mark.parametrize("name", ["numpy", "jax"])
def test_double_integrals(name):
    """∫₀ᵗ ∫₀^{tx} x y t dy dx = t⁷ / 8."""

    def volume(t, module):
        return module.dblquad(
            lambda y, x: x * y * t, 0.0, t, 0.0, lambda x: t * x
        )[0]  # fmt: skip

    if name == "numpy":
        found = grad(lambda t: volume(t, scipy.integrate))(1.25)
    else:
        with jax.enable_x64(True):
            found = jax.grad(lambda t: volume(t, integrate))(1.25)
    np.testing.assert_allclose(found, 7 / 8 * 1.25**6)


@pytest.mark.full
def test_triple_integrals():
    """∫ c z over the box [0, 1]² × [0, q] is c q² / 2."""

    def mass(q):
        limits = (0.0, 1.0, 0.0, 1.0, 0.0, q)
        return integrate.tplquad(lambda z, y, x: 3.0 * z, *limits)[0]

    assert mass(2.0) == pytest.approx(6.0)
    assert jvp(mass, (2.0,), (1.0,))[1] == pytest.approx(6.0)


def test_what_has_no_rule_is_an_error():
    for options in ({"weight": "cos", "wvar": 1.0}, {"complex_func": True}):
        with pytest.raises(rc.UnsupportedError, match="has no rule"):
            grad(
                lambda a, o=options: scipy.integrate.quad(lambda t: a, 0, 1, **o)[0]
            )(1.0)  # fmt: skip


def test_no_convergence_has_no_derivative():
    def area(a):
        return scipy.integrate.quad(lambda t: a * np.sin(1 / t), 0, 1, limit=2)[0]

    with (
        pytest.warns(scipy.integrate.IntegrationWarning),
        pytest.raises(rc.UnsupportedError, match="did not converge"),
    ):
        grad(area)(1.0)


Y = np.sin(np.arange(10.0).reshape(2, 5) ** 1.3)
X = np.cumsum(1.5 + np.cos(np.arange(5.0)))
SAMPLED = {
    "trapezoid": [(Y,), (Y, X), (Y.T, X, 1.0, 0)],
    "cumulative_trapezoid": [(Y,), (Y, X), (Y.T, X, 1.0, 0, 0)],
    "simpson": [(Y,), (Y, X), (Y[:, :4], X[:4]), (Y[:, :2], X[:2])],
    "romb": [(Y,), (Y.T, 0.5, 0), (Y[:, :2],)],
}


@pytest.mark.parametrize("name", SAMPLED)
def test_samples(name):
    ours, own = getattr(integrate, name), getattr(scipy.integrate, name)
    for args in SAMPLED[name]:
        value = own(*args)
        np.testing.assert_allclose(ours(*args), value, rtol=1e-12)
        arrays = [torch.as_tensor(a) if hasattr(a, "shape") else a for a in args]
        np.testing.assert_allclose(ours(*arrays), value, rtol=1e-12)
        for place, x in enumerate(args):
            if not hasattr(x, "shape"):
                continue
            step = np.cos(np.arange(x.size)).reshape(x.shape)

            def at(x, place=place, args=args, f=own):
                return f(*args[:place], x, *args[place + 1 :])

            found = jvp(at, (x,), (step,))[1]
            central = (at(x + 1e-6 * step) - at(x - 1e-6 * step)) / 2e-6
            np.testing.assert_allclose(found, central, rtol=1e-6, atol=1e-8)
            back = grad(lambda x, at=at: at(x).sum())(x)
            np.testing.assert_allclose((back * step).sum(), central.sum(), rtol=1e-6)


@pytest.mark.full
def test_samples_in_jax():
    with jax.enable_x64(True):
        for name, calls in SAMPLED.items():
            f = getattr(integrate, name)
            for args in calls:
                found = jax.jit(lambda y, f=f, rest=args[1:]: f(y, *rest))(args[0])
                own = getattr(scipy.integrate, name)(*args)
                np.testing.assert_allclose(found, own, rtol=1e-12)


def stepped(t, jump):
    """An integral of a function with a jump that quad is told of."""
    step = lambda x: np.where(x < jump, 1.0, 3.0) * x
    return scipy.integrate.quad(step, 0.0, t, points=[jump])[0]


@pytest.mark.parametrize("transform", [grad, jacfwd])
def test_points_that_move_are_refused_and_others_are_constants(transform):
    slope = transform(lambda t: stepped(t, 0.5))(0.8)
    np.testing.assert_allclose(slope, 2.4)
    with pytest.raises(rc.DerivativeNotImplemented, match="split the integral there"):
        transform(lambda t: stepped(1.0, t))(0.4)


def test_points_that_move_are_refused_in_jax():
    step = lambda x: jnp.where(x < 0.5, 1.0, 3.0) * x

    def to(t, jump):
        return integrate.quad(step, 0.0, t, points=[jump])[0]

    np.testing.assert_allclose(jax.grad(to)(0.8, 0.5), 2.4, rtol=1e-6)
    with pytest.raises(rc.DerivativeNotImplemented, match="split the integral there"):
        jax.grad(to, 1)(0.8, 0.5)


def test_numbers_in_scipys_report_have_no_derivative_in_silence():
    def whole(a):
        return scipy.integrate.quad(lambda t: a * t, 0.0, 1.0, full_output=1)

    assert grad(lambda a: whole(a)[0] * whole(a)[2]["last"])(2.0) == pytest.approx(0.5)
    assert jvp(lambda a: whole(a)[0] * whole(a)[2]["last"], (2.0,), (1.0,))[1] == 0.5
    with pytest.raises(
        rc.DerivativeNotImplemented, match="a field of what full_output"
    ):
        grad(lambda a: whole(a)[2]["rlist"][0])(2.0)
    assert np.isnan(jvp(lambda a: whole(a)[2]["rlist"][0], (2.0,), (1.0,))[1])


STEEP = {
    "finite": (lambda f, a: (f(a), 0.0, 1.0), 2.0),
    "turned": (lambda f, a: (f(a), 1.0, 0.0), -2.0),
    "half a line": (lambda f, a: (f(a), 0.0, np.inf), 2.0),
    "a line": (lambda f, a: (f(a), -np.inf, np.inf), 2.0),
}


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("name", STEEP)
def test_derivatives_are_resolved_where_the_function_is(name, mode):
    """Nearly a jump at a: its derivative is a peak that quad alone does not see."""
    given, height = STEEP[name]

    def step(a):
        return lambda x: np.tanh(1e4 * (a - x)) * np.exp(-x * x)

    def area(a):
        return scipy.integrate.quad(*given(step, a), limit=200)[0]

    expected = height * np.exp(-0.3 * 0.3)
    slope = grad(area)(0.3) if mode == "reverse" else jvp(area, (0.3,), (1.0,))[1]
    np.testing.assert_allclose(slope, expected, rtol=1e-6)


LIMITS_AT_INFINITY = {
    "quad": lambda b: scipy.integrate.quad(lambda t: np.exp(-t), 0.0, b)[0],
    "tanhsinh": lambda b: (
        scipy.integrate.tanhsinh(lambda t: np.exp(-t), 0.0, b).integral
    ),
    "quad_vec": lambda b: scipy.integrate.quad_vec(
        lambda t: np.array([np.exp(-t), np.exp(-2.0 * t)]), 0.0, b
    )[0].sum(),
}


@pytest.mark.parametrize("f", LIMITS_AT_INFINITY.values(), ids=LIMITS_AT_INFINITY)
def test_a_limit_that_moves_at_infinity(f):
    """With an infinite speed it is no number (the true slope is -1), else zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        for limit in (lambda x: 1.0 / x, lambda x: -np.log(x)):
            assert np.isnan(both_slopes(f, limit, np.float64(0.0))).all()
        for limit in (lambda x: x, lambda x: np.where(x > 0.0, x, 5.0)):
            assert both_slopes(f, limit, np.float64(np.inf)) == [0.0, 0.0]


def both_slopes(f, limit, x):
    def area(x):
        return f(limit(x))

    return [grad(area)(x), jvp(area, (x,), (1.0,))[1]]


CAPTURED = {
    "quad": lambda p, f: scipy.integrate.quad(f, p[1], p[2])[0],
    "quad_vec": lambda p, f: scipy.integrate.quad_vec(f, p[1], p[2])[0],
    "quad_vec of vectors": lambda p, f: scipy.integrate.quad_vec(
        lambda t: f(t) * np.array([0.25, 0.75]), p[1], p[2]
    )[0].sum(),
    "quad_vec of complex numbers": lambda p, f: (
        scipy.integrate.quad_vec(lambda t: f(t) * 1j, p[1], p[2])[0].imag
    ),
    "tanhsinh": lambda p, f: scipy.integrate.tanhsinh(f, p[1], p[2]).integral,
}


@pytest.mark.parametrize("f", CAPTURED.values(), ids=CAPTURED)
def test_an_array_that_the_integrand_captures(f):
    """∫ exp(-p₀ t) from p₁ to p₂."""

    def area(p):
        return f(p, lambda t: np.exp(-p[0] * t))

    r, a, b = p = np.array([0.7, 0.2, 1.1])
    lower, upper = np.exp(-r * a), np.exp(-r * b)
    by_rate = (b * upper - a * lower) / r - (lower - upper) / r**2
    want = [by_rate, -lower, upper]
    np.testing.assert_allclose(grad(area)(p), want, rtol=1e-7)
    slopes = [jvp(area, (p,), (d,))[1] for d in np.eye(3)]
    np.testing.assert_allclose(slopes, want, rtol=1e-7)
