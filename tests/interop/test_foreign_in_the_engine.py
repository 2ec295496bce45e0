"""Functions of JAX and PyTorch in NumPy programs: any order, from the first call on."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, hessian, hvp, jacfwd, jacrev, vjp
from rules_jax import from_jax
from rules_torch import from_torch

X = np.array([1.0, 2.0])
# Made anew for each test, so that the engine is the first to ask for derivatives.
ONE = {
    "jax": lambda: from_jax(lambda x: jnp.sin(x) * x),
    "jax.jit": lambda: from_jax(jax.jit(lambda x: jnp.sin(x) * x)),
    "torch": lambda: from_torch(lambda x: torch.sin(x) * x),
}
NESTED = {
    "jax": lambda: from_jax(lambda d, p: d["b"] * jnp.sin(d["a"]) + p[0] * p[1][0]),
    "torch": lambda: from_torch(
        lambda d, p: d["b"] * torch.sin(d["a"]) + p[0] * p[1][0]
    ),
}


def first(x):
    return np.sin(x) + x * np.cos(x)


def second(x):
    return 2 * np.cos(x) - x * np.sin(x)


def third(x):
    return -3 * np.sin(x) - x * np.cos(x)


@pytest.mark.parametrize("made", ONE)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_orders(made, order):
    f, x = ONE[made](), np.asarray(0.7)
    slope = f
    for _ in range(order):
        slope = grad(slope)
    known = (first, second, third)[order - 1](x)
    np.testing.assert_allclose(slope(x), known, rtol=1e-12)


@pytest.mark.parametrize("made", ONE)
def test_cotangents_and_arguments_that_are_broadcast(made):
    f = ONE[made]()
    found = hessian(lambda x: f(x).sum())(X)
    np.testing.assert_allclose(found, np.diag(second(X)), rtol=1e-12)
    g, ones = ONE[made](), np.ones(2)
    found = hvp(lambda x: g(x).sum(), (X,), (ones,))
    np.testing.assert_allclose(found, second(X), rtol=1e-12)
    wide = np.broadcast_to(2.0, (3,))
    _, dy = rc.frule((rc.NoTangent(), wide), ONE[made](), wide)
    np.testing.assert_allclose(dy, 2.0 * first(wide), rtol=1e-12)


@pytest.mark.parametrize("made", ONE)
def test_numbers_of_numpy(made):
    f = ONE[made]()
    np.testing.assert_allclose(grad(f)(np.float64(0.7)), first(0.7), rtol=1e-12)
    np.testing.assert_allclose(
        grad(lambda x: f(x[0]) * x[1])(X), [first(1.0) * 2.0, np.sin(1.0)], rtol=1e-12
    )


@pytest.mark.parametrize("made", ["jax", "torch"])
def test_constants_in_containers(made):
    wrap, xp = {"jax": (from_jax, jnp), "torch": (from_torch, torch)}[made]
    f = wrap(lambda t, n: (xp.sin(t[0]) * t[2]["n"] * n, None))

    def value(x):
        return f((x[0], None, {"n": 2, "b": True}), 1.5)[0]

    np.testing.assert_allclose(grad(value)(X), [3 * np.cos(1.0), 0.0], rtol=1e-12)
    np.testing.assert_allclose(hessian(value)(X)[0, 0], -3 * np.sin(1.0), rtol=1e-12)


@pytest.mark.parametrize("made", NESTED)
def test_containers(made):
    """Also dicts, whose keys JAX sorts."""
    f = NESTED[made]()

    def value(x):
        return f({"b": x[0], "a": x[1]}, (x[2], [x[3], 0.0 * x[0]]))

    def known(x):
        return x[0] * np.sin(x[1]) + x[2] * x[3]

    x = np.array([0.3, 0.9, -0.4, 1.2])
    y, pullback = vjp(value, x)
    np.testing.assert_allclose(y, known(x), rtol=1e-14)
    np.testing.assert_allclose(pullback(1.0)[0], grad(known)(x), rtol=1e-12)
    np.testing.assert_allclose(jacfwd(value)(x), grad(known)(x), rtol=1e-12)
    np.testing.assert_allclose(hessian(value)(x), hessian(known)(x), atol=1e-12)


class Wave:
    """Functions of both libraries, by `made`."""

    def __init__(self, scale):
        self.scale = scale

    def jax(self, x):
        return jnp.sin(x) * self.scale

    def torch(self, x):
        return torch.sin(x) * self.scale


WRAPS = {"jax": from_jax, "torch": from_torch}


@pytest.mark.parametrize("made", WRAPS)
def test_methods(made):
    f = WRAPS[made](getattr(Wave(2.0), made))
    np.testing.assert_allclose(rc.rrule(f, X)[1](X)[1], 2.0 * X * np.cos(X))
    np.testing.assert_allclose(jacfwd(f)(X), np.diag(2.0 * np.cos(X)))
    found = hessian(lambda x: f(x).sum())(X)
    np.testing.assert_allclose(found, np.diag(-2.0 * np.sin(X)))


@pytest.mark.parametrize("derivative", [grad, hessian])
@pytest.mark.parametrize("made", WRAPS)
def test_made_in_the_program(made, derivative):
    xp = {"jax": jnp, "torch": torch}[made]

    def program(x):
        local = WRAPS[made](lambda t: xp.sin(t) * t)
        method = WRAPS[made](getattr(Wave(2.0), made))
        return local(x).sum() + method(x).sum()

    first_known = first(X) + 2.0 * np.cos(X)
    known = {grad: first_known, hessian: np.diag(second(X) - 2.0 * np.sin(X))}
    np.testing.assert_allclose(derivative(program)(X), known[derivative], atol=1e-12)


@pytest.mark.parametrize("derivative", [grad, jacfwd])
@pytest.mark.parametrize("made", WRAPS)
def test_made_of_values_with_a_derivative_names_the_line_of_the_program(
    made, derivative
):
    convert = {"jax": jnp.asarray, "torch": torch.as_tensor}[made]

    def program(x):
        return WRAPS[made](lambda t: t * convert(x))(x).sum()

    with pytest.raises(UnsupportedProgram, match=r"test_foreign_in_the_engine\.py"):
        derivative(program)(X)


def total(f):
    return lambda x: f(x).sum()


# What makes an array, and the slopes of an elementwise function.
SLOPES = {
    "engine, forward": (np.asarray, lambda f, x: jacfwd(f)(x).diagonal()),
    "engine, reverse": (np.asarray, lambda f, x: grad(total(f))(x)),
    "JAX, forward": (jnp.asarray, lambda f, x: jax.jacfwd(f)(x).diagonal()),
    "JAX, reverse": (jnp.asarray, lambda f, x: jax.jit(jax.grad(total(f)))(x)),
    "PyTorch, forward": (torch.tensor, lambda f, x: torch.func.jacfwd(f)(x).diag()),
    "PyTorch, reverse": (torch.tensor, lambda f, x: torch.func.grad(total(f))(x)),
}


@pytest.mark.parametrize("slopes", SLOPES)
@pytest.mark.parametrize("made", WRAPS)
def test_constants_and_results_that_do_not_count_may_have_infinite_slopes(made, slopes):
    """Zeros are left out: a zero times an infinity would be no number."""
    xp = {"jax": jnp, "torch": torch}[made]
    array, run = SLOPES[slopes]
    x, zero, infinite = array(X), array(0 * X), array(np.array([np.inf, 1.0]))
    f = WRAPS[made](lambda x, c: x * 2.0 + xp.sqrt(c))
    np.testing.assert_allclose(run(lambda x: f(x, zero), x), [2.0, 2.0])
    g = WRAPS[made](lambda x, c: (x * 2.0, c * x))
    np.testing.assert_allclose(run(lambda x: g(x, infinite)[0], x), [2.0, 2.0])


SECOND = {
    "hessian": lambda f: hessian(total(f))(X),
    "reverse over reverse": lambda f: jacrev(grad(total(f)))(X),
    "forward over forward": lambda f: jacfwd(lambda x: jacfwd(f)(x).diagonal())(X),
}


@pytest.mark.parametrize("way", SECOND)
@pytest.mark.parametrize("made", WRAPS)
def test_second_derivatives_beside_constants_of_infinite_slope(made, way):
    xp = {"jax": jnp, "torch": torch}[made]
    f = WRAPS[made](lambda x, held: x**3 * (1.0 + xp.sqrt(held["c"])))
    found = SECOND[way](lambda x: f(x, {"c": 0.0 * X}))
    np.testing.assert_allclose(found, np.diag(6.0 * X))


@pytest.mark.parametrize("made", WRAPS)
def test_zero_tangents(made):
    f = WRAPS[made](lambda x, c: (x * c, c))
    zero = rc.ZeroTangent()
    c = np.array([np.inf, 2.0])
    _, pullback = rc.rrule(f, X, c)
    np.testing.assert_allclose(pullback(rc.Tangent(tuple, zero, X))[2], X)
    assert isinstance(pullback(rc.Tangent(tuple, zero, zero))[1], rc.AbstractZero)
    none = rc.NoTangent()
    _, dy = rc.frule((none, X, zero), f, X, c)
    np.testing.assert_allclose(dy[0], [np.inf, 4.0])
    _, dy = rc.frule((none, zero, zero), f, X, c)
    assert isinstance(dy[0], rc.AbstractZero)
