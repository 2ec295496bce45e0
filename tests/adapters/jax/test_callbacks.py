"""Rules that call back into AD, the same text as in every host, under JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.interop.callbacks import fixed_point, map_

THETA = {"a": jnp.asarray(0.6), "b": jnp.array([0.3, -0.2])}
XS = [jnp.asarray(0.2), jnp.asarray(0.5), jnp.asarray(-1.0)]


def step(theta, x):
    return jnp.tanh(theta["a"] * x + theta["b"]) / 2


def fixed(theta):
    return fixed_point(step, theta, jnp.zeros(2))


def solved(theta):
    """The same by many plain iterations."""
    move = lambda x, _: (step(theta, x), None)
    return jax.lax.scan(move, jnp.zeros(2), None, length=60)[0]


def total(f):
    return lambda theta: (f(theta) ** 2).sum()


def close(found, want, tol=1e-9):
    def check(a, b):
        np.testing.assert_allclose(a, b, rtol=tol, atol=tol)

    jax.tree.map(check, found, want)


@pytest.mark.covering(every=3, start=1)
@pytest.mark.parametrize(
    "wrap", [lambda f: f, jax.jit, jax.checkpoint], ids=["eager", "jit", "remat"]
)
def test_fixed_point_first_order(wrap):
    f, g = wrap(fixed), solved
    close(f(THETA), g(THETA))
    for derivative in (jax.jacfwd, jax.jacrev):
        close(derivative(f)(THETA), derivative(g)(THETA))


def test_fixed_point_batched():
    batch = jax.tree.map(lambda x: jnp.stack([x, 0.5 * x]), THETA)
    close(jax.vmap(fixed)(batch), jax.vmap(solved)(batch))
    each = lambda f: jax.vmap(jax.grad(total(f)))
    close(each(fixed)(batch), each(solved)(batch))
    outer = lambda f: jax.grad(lambda t: jax.vmap(f)(t).sum())
    close(outer(fixed)(batch), outer(solved)(batch))


@pytest.mark.covering(every=4, start=1)
@pytest.mark.parametrize("outer", [jax.jacfwd, jax.jacrev])
@pytest.mark.parametrize("inner", [jax.jacfwd, jax.jacrev])
def test_fixed_point_hessian(outer, inner):
    """With respect to every leaf of a pytree of parameters, in all four mixtures."""
    found = jax.jit(outer(inner(total(fixed))))(THETA)
    close(found, outer(inner(total(solved)))(THETA), 1e-8)


@pytest.mark.full
def test_fixed_point_hessian_outside_jit():
    close(jax.hessian(total(fixed))(THETA), jax.hessian(total(solved))(THETA), 1e-8)


@pytest.mark.full
def test_fixed_point_hessian_batched():
    batch = jax.tree.map(lambda x: jnp.stack([x, 0.5 * x]), THETA)
    each = lambda f: jax.jit(jax.vmap(jax.hessian(total(f))))(batch)
    close(each(fixed), each(solved), 1e-8)


@pytest.mark.full
def test_fixed_point_third_order():
    def third(f):
        along = lambda a: total(f)({**THETA, "a": a})
        return jax.jit(jax.grad(jax.grad(jax.grad(along))))(THETA["a"])

    close(third(fixed), third(solved), 1e-7)


DERIVATIVES = {
    "grad": jax.grad,
    "jit(grad)": lambda f, n: jax.jit(jax.grad(f, n)),
    "grad of remat": lambda f, n: jax.grad(jax.checkpoint(f), n),
    "jacfwd": jax.jacfwd,
    "jit(hessian)": lambda f, n: jax.jit(jax.hessian(f, n)),
    "jit(jacrev(jacfwd))": lambda f, n: jax.jit(jax.jacrev(jax.jacfwd(f, n), n)),
}


@pytest.mark.covering(every=3, start=0)
@pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)
def test_fixed_point_of_a_function_that_closes_over_tracers(derivative):
    def solve(c, scale):
        move = lambda theta, x: scale * step(theta, x) + c
        return fixed_point(move, THETA, jnp.zeros(2)).sum()

    def plain(c, scale):
        move = lambda x, _: (scale * step(THETA, x) + c, None)
        return jax.lax.scan(move, jnp.zeros(2), None, length=80)[0].sum()

    at = jnp.asarray(0.1), jnp.asarray(0.8)
    close(derivative(solve, (0, 1))(*at), derivative(plain, (0, 1))(*at), 1e-8)


def plain_map(f, xs):
    return jnp.stack([f(x) for x in xs])


def mapped(m):
    """A program whose function closes over the tracer `c`."""
    return lambda c, xs: (m(lambda x: jnp.sin(c * x) * c, xs) ** 2).sum()


@pytest.mark.covering(every=3, start=1)
@pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)
def test_map(derivative):
    c = jnp.asarray(1.3)
    found = derivative(mapped(map_), (0, 1))(c, XS)
    close(found, derivative(mapped(plain_map), (0, 1))(c, XS))


def test_map_batched():
    batch = jnp.array([1.0, 2.0])
    for derivative in (jax.grad, jax.hessian):
        found, want = (
            jax.jit(jax.vmap(derivative(lambda c, m=m: mapped(m)(c, XS))))(batch)
            for m in (map_, plain_map)
        )
        close(found, want)


def test_map_over_pytrees():
    """Each entry may itself be a tree, and so may what the function captures."""
    xs = [{"u": x, "v": 2 * x} for x in XS]

    def program(m):
        def run(p, xs):
            return m(lambda x: p["k"] * x["u"] * jnp.cos(x["v"]) + p["m"], xs).sum()

        return jax.jit(jax.hessian(run, (0, 1)))

    p = {"k": jnp.asarray(1.5), "m": jnp.asarray(0.1)}
    close(program(map_)(p, xs), program(plain_map)(p, xs))


def test_a_pytree_callable_has_a_gradient():
    """An instance of a registered class is a function with parameters."""

    @jax.tree_util.register_pytree_node_class
    class Scale:
        def __init__(self, s):
            self.s = s

        def __call__(self, x):
            return self.s * x

        def tree_flatten(self):
            return (self.s,), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    found = jax.grad(lambda m: map_(m, XS).sum())(Scale(jnp.asarray(2.0)))
    close(found.s, sum(XS))
