"""Host functions of libraries that write each result into one buffer of their own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, rrule, shape_rule

ROWS = np.arange(6.0).reshape(3, 2)


def planned(*, host_rule):
    """`(x², 3x)`, in two buffers that the next call overwrites, as a plan has them."""
    first, second = np.empty(2), np.empty(2)

    @rc.primitive(host=True)
    def plan(x):
        np.multiply(x, x, out=first)
        np.multiply(x, 3.0, out=second)
        return first, second

    @shape_rule.define(plan)
    def plan_shapes(x):
        return x, x

    @rrule.define(plan, host=host_rule)
    def plan_rrule(x):
        def plan_pullback(dy):
            if host_rule:
                return NoTangent(), np.add(2 * x * dy[0], 3 * dy[1], out=second)
            return NoTangent(), 2 * x * dy[0] + 3 * dy[1]

        return plan(x), plan_pullback

    return plan


def plain(x):
    return x * x, 3 * x


def total(f):
    return lambda x: sum(y.sum() for y in f(x))


USES = {
    "vmap": jax.vmap,
    "jit vmap": lambda f: jax.jit(jax.vmap(f)),
    "vmap vmap": lambda f: lambda x: jax.vmap(jax.vmap(f))(jnp.stack([x, x + 1])),
    "two calls": lambda f: lambda x: (f(x[0]), f(x[1])),
    "jit two calls": lambda f: jax.jit(lambda x: (f(x[0]), f(x[1]))),
    "map": lambda f: lambda x: jax.lax.map(f, x),
    "vmap grad": lambda f: jax.vmap(jax.grad(total(f))),
    "jit vmap grad": lambda f: jax.jit(jax.vmap(jax.grad(total(f)))),
    "jacrev": lambda f: lambda x: jax.jacrev(lambda x: f(x)[0])(x[0]),
    "two pullbacks": lambda f: lambda x: [jax.grad(total(f))(row) for row in x],
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("host_rule", [False, True])
@pytest.mark.parametrize("use", USES)
def test_reused_buffer(use, host_rule):
    found = USES[use](planned(host_rule=host_rule))(jnp.asarray(ROWS))
    jax.tree.map(np.testing.assert_allclose, found, USES[use](plain)(jnp.asarray(ROWS)))


def test_one_array_as_two_results():
    @rc.primitive(host=True)
    def twice(x):
        y = x * 2.0
        return y, y

    shape_rule.define(twice)(lambda x: (x, x))
    for row, doubled in zip(
        zip(*jax.vmap(twice)(jnp.asarray(ROWS)), strict=True), 2 * ROWS, strict=True
    ):
        np.testing.assert_array_equal(row, [doubled, doubled])
