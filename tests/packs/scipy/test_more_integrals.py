"""Integrals of vectors, over boxes and by fixed places: closed forms in each system."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import torch
from scipy.stats import qmc

import rules_core as rc
from rules_autodiff import grad, jacfwd, jacrev, jvp
from rules_scipy import integrate

from .frameworks import HOSTS

P = np.array([0.7, 1.3, 2.0, 1.5])


def space(p):
    return rc.array_namespace(p)


def vector(m, p):
    """∫ over a half line of exp(-p₀ t), t exp(-p₀ t), with a factor p₁."""

    def moments(t, factor):
        xp = space(p)
        falls = xp.exp(-p[0] * t)
        return factor * xp.stack([falls, t * falls]).reshape((2, 1))

    return m.quad_vec(moments, 0.0, np.inf, args=(p[1],))[0]


def vector_form(p):
    return p[1] * np.array([[1.0 / p[0]], [1.0 / p[0] ** 2]])


def waves(m, p):
    """Complex: ∫ exp(i p₀ t) from p₁ to p₂, real and imaginary part."""
    y = m.quad_vec(lambda t: space(p).exp(1j * p[0] * t), p[1], p[2])[0]
    return space(p).stack([y.real, y.imag])


def waves_form(p):
    y = (np.exp(1j * p[0] * p[2]) - np.exp(1j * p[0] * p[1])) / (1j * p[0])
    return np.array([y.real, y.imag])


def nested(m, p):
    """Inner limits depend on the outer variable, on an argument and on a capture."""

    def inner(x, factor):
        return p[1] * x, factor * x

    return m.nquad(lambda y, x, q: p[0] * x * y, [inner, (0.0, p[3])], args=(p[2],))[0]


def nested_form(p):
    return p[0] * (p[2] ** 2 - p[1] ** 2) * p[3] ** 4 / 8.0


def gauss(m, p):
    """Gauss's rule of order 7 integrates polynomials of degree 13."""
    return m.fixed_quad(lambda x: p[0] * x**3, p[1], p[2], n=7)[0]


def gauss_form(p):
    return p[0] * (p[2] ** 4 - p[1] ** 4) / 4.0


def box(m, p):
    low = space(p).stack([0.0 * p[0], p[1]])
    high = space(p).stack([p[2], p[3]])
    return m.cubature(
        lambda x, q: q * x[:, 0] * x[:, 1] ** 2, low, high, rule="gk15", args=(p[0],)
    ).estimate


def box_form(p):
    return p[0] * p[2] ** 2 * (p[3] ** 3 - p[1] ** 3) / 6.0


def plane(m, p):
    """A vector over half a plane, of which one axis is infinite to the left."""
    xp = space(p)
    low = xp.stack([p[0] * 0.0 - np.inf, p[0] * 0.0])
    high = xp.stack([p[1], p[0] * 0.0 + np.inf])

    def falls(x):
        y = xp.exp(p[2] * x[:, 0] - p[3] * x[:, 1])
        return xp.stack([y, x[:, 1] * y]).T

    return m.cubature(falls, low, high, rtol=1e-9).estimate


def plane_form(p):
    y = np.exp(p[2] * p[1]) / p[2]
    return np.array([y / p[3], y / p[3] ** 2])


def singular(m, p):
    """∫ p₁ x^(p₀ - 1) from 0 to p₂, which is infinite at 0."""
    return m.tanhsinh(lambda x: p[1] * x ** (p[0] - 1.0), 0.0, p[2]).integral


def singular_form(p):
    return p[1] * p[2] ** p[0] / p[0]


def elements(m, p):
    """Two integrals, of exp(-p₀ x) from p₁ and of exp(-p₃ x) from p₂."""
    xp = space(p)
    low, rates = xp.stack([p[1], p[2]]), xp.stack([p[0], p[3]])
    return m.tanhsinh(lambda x, r: xp.exp(-r * x), low, np.inf, args=(rates,)).integral


def elements_form(p):
    rates = np.array([p[0], p[3]])
    return np.exp(-rates * np.array([p[1], p[2]])) / rates


CASES = {
    "quad_vec": (vector, vector_form),
    "quad_vec of complex numbers": (waves, waves_form),
    "fixed_quad": (gauss, gauss_form),
    "cubature": (box, box_form),
    "cubature of an infinite box": (plane, plane_form),
}
# These take many places, each of which calls a rule in a rule.
SLOW_TWICE = {
    "tanhsinh": (singular, singular_form),
    "tanhsinh of elements": (elements, elements_form),
}
WEIGHTS = np.array([1.0, -0.6])


def number_of(y):
    """A number that depends on each entry of a result, and not linearly."""
    y = y.reshape((-1,)) if hasattr(y, "shape") else [y]
    total = y[0] * y[0] if len(y) == 1 else 1.0 * y[0] - 0.6 * y[1] * y[1]
    return total + 0.5 * y[0]


def expected(form):
    """The gradient and the Hessian by complex steps and differences of the form."""

    def f(p):
        return number_of(np.asarray(form(p)))

    steps = np.eye(4) * 1e-3

    def slope(p):
        ends = [[f(p + k * h) - f(p - k * h) for k in (1, 2, 3)] for h in steps]
        return np.array([(45 * a - 9 * b + c) / 60e-3 for a, b, c in ends])

    second = [
        (45 * (slope(P + h) - slope(P - h)) - 9 * (slope(P + 2 * h) - slope(P - 2 * h))
         + slope(P + 3 * h) - slope(P - 3 * h)) / 60e-3
        for h in steps
    ]  # fmt: skip
    return f(P), slope(P), np.array(second)


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", CASES | SLOW_TWICE)
def test_values_and_slopes(name, host):
    f, form = (CASES | SLOW_TWICE)[name]
    # The engine takes no active argument that SciPy has by its name alone.
    by_place = name in ("fixed_quad", "quad_vec of complex numbers", "tanhsinh")
    module = scipy.integrate if host == "engine" and by_place else integrate
    system, (value, slope, _) = HOSTS[host](), expected(form)

    def loss(p):
        return number_of(f(module, p))

    moves = np.array([0.3, -0.5, 0.8, 0.2])
    p = system.array(P)
    np.testing.assert_allclose(float(loss(p)), value, rtol=1e-8)
    back = system.reverse(loss, [moves])(p)
    np.testing.assert_allclose(float(back), slope @ moves, rtol=1e-6)
    forth = system.forward(loss, [moves])(p)
    np.testing.assert_allclose(float(forth), slope @ moves, rtol=1e-6)


@pytest.mark.parametrize("host", [
    "jax",
    *[pytest.param(name, marks=pytest.mark.full) for name in ("engine", "torch")],
])  # fmt: skip
def test_nested_integrals(host):
    system, slope = HOSTS[host](), expected(nested_form)[1]
    moves = np.array([0.3, -0.5, 0.8, 0.2])
    back = system.reverse(lambda p: number_of(nested(integrate, p)), [moves])
    np.testing.assert_allclose(float(back(system.array(P))), slope @ moves, rtol=1e-6)


@pytest.mark.covering(every=6)
@pytest.mark.parametrize("name", CASES)
def test_hessians_in_jax(name):
    f, form = CASES[name]
    second = jax.jit(jax.hessian(lambda p: number_of(f(integrate, p))))(P)
    np.testing.assert_allclose(second, expected(form)[2], rtol=1e-5, atol=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_hessians_in_torch_and_the_engine(name):
    f, form = CASES[name]
    want = expected(form)[2]
    own = torch.func.hessian(lambda p: number_of(f(integrate, p)))(torch.tensor(P))
    np.testing.assert_allclose(own, want, rtol=1e-5, atol=1e-6)
    mixed = jacfwd(grad(lambda p: number_of(f(integrate, p))))(P)
    np.testing.assert_allclose(mixed, want, rtol=1e-5, atol=1e-6)
    other = jacrev(lambda p: jacfwd(lambda p: number_of(f(integrate, p)))(p))(P)
    np.testing.assert_allclose(other, want, rtol=1e-5, atol=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_batches_in_jax(name):
    f, _ = CASES[name]
    slope = jax.grad(lambda p: number_of(f(integrate, p)))
    found = jax.jit(jax.vmap(slope))(np.stack([P, 1.1 * P]))
    np.testing.assert_allclose(found[1], slope(1.1 * P), rtol=1e-9, atol=1e-12)


# what moves a jump


def stepped(m, xp, name):
    """Integrals of a function that jumps at p, in a vector, a box, a sum."""
    one = np.zeros(2), np.ones(2)
    return {
        "quad_vec": lambda p: m.quad_vec(
            lambda t: xp.stack([t * 1.0, xp.where(t < p, 1.0, 3.0) * t]),
            0.0,
            1.0,
            epsrel=1e-3,
        )[0].sum(),
        "cubature": lambda p: (
            m.cubature(
                lambda x: xp.where(x[:, 0] + x[:, 1] < p, 1.0, 3.0), *one, rtol=1e-2
            ).estimate
        ),
        "fixed_quad": lambda p: m.fixed_quad(
            lambda x: xp.where(x < p, 1.0, 3.0) * x, 0.0, 1.0
        )[0],
        "qmc_quad": lambda p: m.qmc_quad(
            lambda x: xp.where(x[0] * x[1] < p, 1.0, 3.0), *one, n_points=16
        )[0],
    }[name]


STEPPED = ("quad_vec", "cubature", "fixed_quad", "qmc_quad")


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mode", ["reverse", "forward", "jax", "torch"])
@pytest.mark.parametrize("name", STEPPED)
def test_what_moves_a_jump_has_no_derivative(name, mode):
    own, one = stepped(scipy.integrate, np, name), torch.tensor(0.3)
    programs = {
        "reverse": lambda: grad(own)(0.3),
        "forward": lambda: jvp(own, (0.3,), (1.0,)),
        "jax": lambda: jax.grad(stepped(integrate, jnp, name))(0.3),
        "torch": lambda: torch.func.grad(stepped(integrate, torch, name))(one),
    }
    with pytest.raises(rc.DerivativeNotImplemented, match="moves a jump"):
        programs[mode]()


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("name", STEPPED[::-1])
def test_it_is_not_a_number_in_compiled_code(name):
    f = stepped(integrate, jnp, name)
    assert np.isnan(jax.jit(jax.grad(f))(0.3))
    assert np.isnan(jax.jit(jax.hessian(f))(0.3))


# other options and forms


@pytest.mark.full
def test_components_that_are_steep_are_resolved():
    """Of a vector the second entry is steep at p; its slope is a peak."""

    def area(p):
        def f(x):
            return np.stack([np.cos(x), np.tanh(1e3 * (p - x))])

        return scipy.integrate.quad_vec(f, 0.0, 1.0)[0][1]

    np.testing.assert_allclose(grad(area)(0.3), 2.0, rtol=1e-6)


def test_complex_parameters_in_frameworks():
    """Of ∫ |c|² x dx the gradient is c, and the conjugate in JAX."""
    c = 1.0 + 2.0j

    def area(c):
        return integrate.quad(lambda x: (c.real**2 + c.imag**2) * x, 0.0, 1.0)[0]

    np.testing.assert_allclose(jax.jit(jax.grad(area))(c), np.conj(c))
    own = torch.tensor(c, dtype=torch.complex128, requires_grad=True)
    area(own).backward()
    np.testing.assert_allclose(own.grad, c)
    np.testing.assert_allclose(grad(area)(c), c)


@pytest.mark.parametrize("host", ["jax", pytest.param("torch", marks=pytest.mark.full)])
def test_numbers_in_args_are_constants_of_frameworks(host):
    system = HOSTS[host]()

    def area(t):
        inner = lambda x, k: integrate.quad(lambda y, k: k * t * y, 0.0, x, (k,))[0]
        return integrate.quad(inner, 0.0, t, args=(2.0,))[0]

    slope = system.reverse(area, [np.asarray(1.0)])(system.array(np.asarray(1.5)))
    np.testing.assert_allclose(float(slope), 4 * 1.5**3 / 3)  # of t⁴ / 3


def test_points():
    """They are places where a function jumps, as an array or a list."""

    def step(x):
        return np.where(x < 0.5, 1.0, 3.0) * x

    def line(t, points):
        quad = scipy.integrate.quad(step, 0.0, t, points=points)[0]
        return quad + scipy.integrate.quad_vec(step, 0.0, t, points=points)[0]

    for points in ([0.5], np.array([0.2, 0.5])):
        np.testing.assert_allclose(grad(lambda t, q=points: line(t, q))(0.8), 4.8)

    def square(t):
        f = lambda x: step(x[:, 0]) * t
        ends = np.zeros(2), np.array([1.0, t])
        return scipy.integrate.cubature(
            f, *ends, points=[np.array([0.5, 0.0])]
        ).estimate

    np.testing.assert_allclose(grad(square)(0.8), 1.25 * 1.6, rtol=1e-6)  # of 1.25 t²
    for name in ("quad_vec", "cubature"):
        with pytest.raises(rc.DerivativeNotImplemented, match="split the integral"):
            grad(lambda t, n=name: moving_points(scipy.integrate, n, t))(0.4)
        with pytest.raises(rc.DerivativeNotImplemented, match="split the integral"):
            jax.grad(lambda t, n=name: moving_points(integrate, n, t))(0.4)


def moving_points(m, name, t):
    if name == "quad_vec":
        return m.quad_vec(lambda x: x * x, 0.0, 1.0, points=[t])[0]
    points = [space(t).stack([t])] if hasattr(t, "shape") else [[t]]
    return m.cubature(lambda x: x[:, 0], [0.0], [1.0], points=points).estimate


def test_reports():
    found = integrate.quad_vec(lambda x: x * np.ones(2), 0.0, 1.0, full_output=True)
    own = scipy.integrate.quad_vec(lambda x: x * np.ones(2), 0.0, 1.0, full_output=True)
    np.testing.assert_array_equal(found[2].intervals, own[2].intervals)
    assert found[1] == own[1]
    f = lambda x: np.exp(x).prod(axis=1)
    ours, theirs = (
        m.cubature(f, [0.0, 1.0], [1.0, 0.0]) for m in (integrate, scipy.integrate)
    )
    np.testing.assert_allclose(ours.estimate, theirs.estimate, rtol=1e-14)
    assert (ours.status, ours.subdivisions) == (theirs.status, theirs.subdivisions)
    with pytest.raises(rc.UnsupportedError, match="full_output"):
        integrate.nquad(lambda x: x, [(0.0, 1.0)], full_output=True)


def test_random_points_are_those_of_scipy():
    def mean(p, m):
        top = space(p).stack([1.0 + 0.0 * p, p])
        return m.qmc_quad(
            lambda x: space(p).exp(-p * x[0]) * x[1], np.zeros(2), top,
            qrng=qmc.Halton(2, rng=7), n_points=64,
        )[0]  # fmt: skip

    own = mean(np.asarray(1.3), scipy.integrate)
    np.testing.assert_allclose(mean(np.asarray(1.3), integrate), own, rtol=1e-14)
    ends = [mean(np.asarray(1.3 + h), scipy.integrate) for h in (1e-5, -1e-5)]
    slope = (ends[0] - ends[1]) / 2e-5
    np.testing.assert_allclose(grad(lambda p: mean(p, scipy.integrate))(1.3), slope)
    np.testing.assert_allclose(jax.grad(lambda p: mean(p, integrate))(1.3), slope)


def test_an_integral_that_is_not_reached_has_no_derivative():
    def vector(a):
        return scipy.integrate.quad_vec(lambda t: a * np.sin(1 / t), 0, 1, limit=3)[0]

    def square(a):
        f = lambda x: a * np.sin(1 / x[:, 0])
        return scipy.integrate.cubature(f, [0.0], [1.0], max_subdivisions=2).estimate

    for f in (vector, square):
        with pytest.raises(rc.UnsupportedError, match="did not converge"):
            grad(f)(1.0)


def test_integrals_that_are_zero():
    """Their tolerance is that of their size."""

    def odd(a):
        found = scipy.integrate.cubature(
            lambda x: 1.0 + a * x[:, 0] ** 3, [-1.0], [1.0]
        )
        return found.estimate

    np.testing.assert_allclose(grad(odd)(1.0), 0.0, atol=1e-12)


Y = np.sin(np.arange(12.0).reshape(2, 6) ** 1.3)
X = np.cumsum(1.5 + np.cos(np.arange(6.0)))
CUMULATIVE = [
    (Y, {}), (Y, {"x": X}), (Y.T, {"x": X, "axis": 0, "initial": 2.0}), (Y[:, :2], {}),
    (Y[:, :5], {"dx": np.array([[0.3], [0.2]]), "initial": np.ones((2, 1))}),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(CUMULATIVE)))
def test_cumulative_simpson(case):
    y, given = CUMULATIVE[case]
    own, step = scipy.integrate.cumulative_simpson, np.cos(y)
    value = own(y, **given)
    np.testing.assert_allclose(
        integrate.cumulative_simpson(y, **given), value, rtol=1e-13
    )
    moved = jvp(lambda y: own(y, **given), (y,), (step,))[1]
    np.testing.assert_allclose(
        moved, (own(y + step, **given) - own(y - step, **given)) / 2
    )
    tensors = {k: torch.as_tensor(x) if k != "axis" else x for k, x in given.items()}
    found = integrate.cumulative_simpson(torch.as_tensor(y), **tensors)
    np.testing.assert_allclose(found, value, rtol=1e-13)
