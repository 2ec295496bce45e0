"""Rules made by `scalar_rule`: their strong products are one bilinear operation.

Derivatives are compared with JAX's own, transposed pullbacks with the pushforward.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc

X = np.array([0.4, 1.3, 2.0])
V, W = np.array([0.3, -1.1, 0.7]), np.array([-0.4, 0.9, 2.5])


def of_one():
    @rc.primitive
    def root(x):
        return rc.array_namespace(x).sqrt(x)

    rc.scalar_rule(root, lambda y, x: (0.5 / y,))
    return root, jnp.sqrt


def of_two():
    @rc.primitive
    def power(x, k):
        return x**k

    rc.scalar_rule(power, lambda y, x, k: (k * x ** (k - 1), y * jnp.log(x)))
    return lambda x: power(x, 1.5 + x), lambda x: x ** (1.5 + x)


def complex_of_real():
    @rc.primitive
    def spiral(x):
        return rc.array_namespace(x).exp(1j * x)

    rc.scalar_rule(spiral, lambda y, x: (1j * y,))
    return lambda x: jnp.imag(spiral(x)), jnp.sin


CASES = {"one": of_one, "two": of_two, "complex": complex_of_real}


def twice_transposed(f, x):
    """The transposition of the pullback, which is the pushforward again."""
    return jax.linear_transpose(jax.vjp(f, x)[1], x)((V,))[0]


USES = {
    "transposed pullback": twice_transposed,
    "jit": lambda f, x: jax.jit(lambda x: twice_transposed(f, x))(x),
    "vmap": lambda f, x: jax.vmap(
        lambda x, v: jax.linear_transpose(jax.vjp(f, x)[1], x)((v,))[0]
    )(x, V),
    "of linearize": lambda f, x: jax.linear_transpose(jax.linearize(f, x)[1], x)(W)[0],
    "derivative of it": lambda f, x: jax.jacfwd(lambda x: twice_transposed(f, x))(x),
    "grad": lambda f, x: jax.grad(lambda x: (W * f(x)).sum())(x),
    "hessian": lambda f, x: jax.hessian(lambda x: (W * f(x)).sum())(x),
    "third": lambda f, x: jax.jacrev(jax.jacfwd(jax.jacrev(f)))(x),
}


@pytest.mark.covering(every=17)
@pytest.mark.parametrize("start", [np.asarray, jnp.asarray], ids=["numpy", "jax"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("use", USES)
def test_scalar_rules_can_be_transposed(use, case, start):
    found, expected = (USES[use](f, start(X)) for f in CASES[case]())
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, jax.vmap])
def test_zero_is_strong(wrap):
    """At zero the partial of the root is infinite: nothing flows where nothing came."""
    root, _ = of_one()
    at = jnp.zeros(2)
    assert wrap(jax.grad(lambda x: (0.0 * root(x)).sum()))(at).tolist() == [0, 0]
    pushed = wrap(lambda x, dx: jax.jvp(root, (x,), (dx,))[1])(at, jnp.array([0.0, 1]))
    assert pushed.tolist() == [0, np.inf]
