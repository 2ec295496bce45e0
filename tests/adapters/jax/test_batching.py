"""vmap over some arguments: which axes, what is unbatched, and its gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent

RNG = np.random.default_rng(0)
X, Y = jnp.asarray(RNG.normal(size=(2, 3))), jnp.asarray(RNG.normal(size=(2, 3)))
AXES = [(0, 0), (0, None), (None, 0), (1, 0), (1, None), (1, 1), (None, 1)]


def reference(x, y):
    return jnp.exp(x) * y


def make(kind, rules):
    flags = {"host": True, "elementwise": True} if kind == "host" else {}

    @rc.primitive(**flags)
    def f(x, y):
        xp = rc.array_namespace(x, y)
        return xp.exp(x) * y

    if rules != "frule":

        @rc.rrule.define(f)
        def f_rrule(x, y):
            xp = rc.array_namespace(x, y)
            z = f(x, y)
            return z, lambda dz: (NoTangent(), dz * z, dz * xp.exp(x))

    if rules != "rrule":

        @rc.frule.define(f)
        def f_frule(tangents, x, y):
            xp = rc.array_namespace(x, y)
            z = f(x, y)
            return z, z * tangents[1] + xp.exp(x) * tangents[2]

    return f


def shaped(axes):
    """Arguments of which one element is a vector of length 3 (or 2)."""
    size = 3 if axes in ((1, None), (1, 1), (None, 1)) else 2
    length = 5 - size
    rows = [jnp.asarray(RNG.normal(size=(size, length))) for _ in range(2)]
    return [
        (row if axis == 0 else row.T) if axis is not None else row[0]
        for row, axis in zip(rows, axes, strict=True)
    ]


def weighted(f, axes):
    def total(x, y):
        z = jax.vmap(f, in_axes=axes)(x, y)
        return jnp.sum(z * jnp.arange(1.0, z.size + 1).reshape(z.shape))

    return total


USES = {
    "value": lambda f, axes: jax.vmap(f, axes),
    "out_axes": lambda f, axes: jax.vmap(f, axes, 1),
    "grad": lambda f, axes: jax.grad(weighted(f, axes), (0, 1)),
    "jit(grad)": lambda f, axes: jax.jit(jax.grad(weighted(f, axes), (0, 1))),
    "jacfwd": lambda f, axes: jax.jacfwd(weighted(f, axes), (0, 1)),
    "hessian": lambda f, axes: jax.hessian(weighted(f, axes), (0, 1)),
    "jacrev(jacfwd)": lambda f, axes: jax.jacrev(
        jax.jacfwd(weighted(f, axes), (0, 1)), (0, 1)
    ),
    "vmap(grad)": lambda f, axes: jax.vmap(
        jax.grad(lambda x, y: f(x, y).sum(), (0, 1)), axes
    ),
    "vmap(hessian)": lambda f, axes: jax.vmap(
        jax.hessian(lambda x, y: f(x, y).sum()), axes
    ),
}


@pytest.mark.covering(every=13)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("rules", ["both", "rrule", "frule"])
@pytest.mark.parametrize("kind", ["generic", "host"])
def test_axes(kind, rules, use):
    f = make(kind, rules)
    short = [(1, None)] if "jac" in use or "hess" in use else [(0, 0), (None, 1)]
    for axes in AXES if use in ("value", "grad") else short:
        args = shaped(axes)
        found, want = USES[use](f, axes)(*args), USES[use](reference, axes)(*args)
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, atol=1e-12), found, want
        )


def outer(f):
    return jax.vmap(jax.vmap(f, (0, None)), (None, 0))


def outer_total(f):
    return lambda x, y: (outer(f)(x, y) ** 2).sum()


@pytest.mark.covering(every=2, start=1)
@pytest.mark.parametrize("kind", ["generic", "host"])
def test_nested_over_different_arguments(kind):
    f, x, y = make(kind, "both"), X[0], Y[:, 0]
    np.testing.assert_allclose(outer(f)(x, y), outer(reference)(x, y))
    for derivative in (jax.grad, jax.hessian):
        found = derivative(outer_total(f), (0, 1))(x, y)
        want = derivative(outer_total(reference), (0, 1))(x, y)
        jax.tree.map(np.testing.assert_allclose, found, want)


def test_collectives_in_a_batched_function():
    @rc.primitive
    def centred(x):
        return x - jax.lax.pmean(x, "i")

    @rc.rrule.define(centred)
    def centred_rrule(x):
        return centred(x), lambda dy: (NoTangent(), dy - jax.lax.pmean(dy, "i"))

    run = lambda x: jax.vmap(centred, axis_name="i")(x)
    plain = lambda x: x - x.mean()
    x = jnp.array([1.0, 2.0, 6.0])
    np.testing.assert_allclose(run(x), plain(x))
    weights = jnp.array([1.0, -2.0, 0.5])
    for derivative in (jax.grad, jax.jacfwd, lambda f: jax.jit(jax.grad(f))):
        found = derivative(lambda x: jnp.dot(weights, run(x) ** 2))(x)
        want = derivative(lambda x: jnp.dot(weights, plain(x) ** 2))(x)
        np.testing.assert_allclose(found, want)
