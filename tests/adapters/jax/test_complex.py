"""Complex derivatives: the rules' convention is the adjoint, JAX's the transpose."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent

Z = jnp.asarray(0.3 + 0.8j)
W = jnp.asarray(-0.5 + 0.2j)


def holomorphic(rules, host):
    """z -> exp(z) with a rule in terms of itself."""
    flags = {"host": True, "elementwise": True} if host else {}

    @rc.primitive(**flags)
    def f(z):
        return np.exp(z) if host else jnp.exp(z)

    if rules != "frule":

        @rc.rrule.define(f)
        def f_rrule(z):
            y = f(z)
            return y, lambda dy: (NoTangent(), rc.array_namespace(y).conj(y) * dy)

    if rules != "rrule":

        @rc.frule.define(f)
        def f_frule(tangents, z):
            y = f(z)
            return y, y * tangents[1]

    return f


def absolute2():
    """z -> |z|**2, real: not holomorphic."""

    @rc.primitive
    def f(z):
        xp = rc.array_namespace(z)
        return xp.real(xp.conj(z) * z)

    @rc.rrule.define(f)
    def f_rrule(z):
        return f(z), lambda dy: (NoTangent(), 2 * dy * z)

    return f


def second(f):
    """Derivatives of first and second order in the three mixtures, along Z and W."""

    def real(z):
        return jnp.real(f(z) * W)

    along = lambda z: jax.jvp(real, (z,), (W,))[1]
    back = lambda z: jnp.real(jax.grad(real)(z) * jnp.conj(W))
    return [
        jax.vjp(f, Z)[1](jnp.asarray(W, f(Z).dtype))[0]
        if f(Z).dtype == W.dtype
        else jax.grad(f)(Z),
        jax.jvp(f, (Z,), (W,))[1],
        jax.grad(along)(Z),
        jax.grad(back)(Z),
        jax.jvp(jax.grad(real), (Z,), (W,))[1],
        jax.grad(jax.checkpoint(real))(Z),
        jax.vmap(jax.grad(real))(jnp.stack([Z, W])),
        jax.jit(
            jax.grad(lambda z: jax.grad(lambda z: jnp.real(jax.grad(real)(z)))(z).real)
        )(Z),
    ]


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("rules", ["both", "rrule", "frule"])
@pytest.mark.parametrize("host", [False, True])
def test_holomorphic(rules, host):
    for found, want in zip(
        second(holomorphic(rules, host)), second(jnp.exp), strict=True
    ):
        np.testing.assert_allclose(found, want, rtol=1e-12)
    f = holomorphic(rules, host)
    for order in (
        lambda f: jax.grad(f, holomorphic=True),
        lambda f: jax.jacfwd(f, holomorphic=True),
    ):
        np.testing.assert_allclose(order(order(order(f)))(Z), jnp.exp(Z))


def test_real_result_of_a_complex_argument():
    want = second(lambda z: jnp.real(jnp.conj(z) * z))
    for found, expected in zip(second(absolute2()), want, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_author_sees_the_convention_of_rules_core():
    """For f(z) = 1j z and cotangent c, the pullback is conj(1j) c; JAX's is 1j c."""
    seen = []

    @rc.primitive
    def turn(z):
        return 1j * z

    @rc.rrule.define(turn)
    def turn_rrule(z):
        def turn_pullback(dy):
            seen.append(complex(dy))
            return NoTangent(), -1j * dy

        return turn(z), turn_pullback

    _, pullback = jax.vjp(turn, Z)
    assert complex(pullback(jnp.asarray(2 + 3j))[0]) == 1j * (2 + 3j)
    assert seen == [2 - 3j]


def test_real_argument_of_a_complex_result():
    @rc.primitive
    def turn(x):
        return 1j * x

    @rc.rrule.define(turn)
    def turn_rrule(x):
        return turn(x), lambda dy: (NoTangent(), -1j * dy)

    _, pullback = jax.vjp(turn, jnp.asarray(2.0))
    _, plain = jax.vjp(lambda x: 1j * x, jnp.asarray(2.0))
    for ct in (1.0 + 0j, 1j, 2 - 3j):
        (found,), (want,) = pullback(jnp.asarray(ct)), plain(jnp.asarray(ct))
        assert found.dtype == jnp.float64
        assert found == want


def test_mixed_arguments():
    def plain(a, z):
        return jnp.exp(a * z)

    @rc.primitive
    def f(a, z):
        return rc.array_namespace(a, z).exp(a * z)

    @rc.rrule.define(f)
    def f_rrule(a, z):
        y, conj = f(a, z), jnp.conj
        return y, lambda dy: (NoTangent(), dy * conj(z * y), dy * conj(a * y))

    def total(g, a, z):
        return jnp.abs(g(a, z)) ** 2

    a = jnp.asarray(1.5)
    for derivative in (jax.grad, lambda f, n: jax.jit(jax.grad(f, n)), jax.hessian):
        if derivative is jax.hessian:
            found = jax.hessian(lambda a: total(f, a, Z))(a)
            want = jax.hessian(lambda a: total(plain, a, Z))(a)
        else:
            found = derivative(lambda a, z: total(f, a, z), (0, 1))(a, Z)
            want = derivative(lambda a, z: total(plain, a, z), (0, 1))(a, Z)
        jax.tree.map(np.testing.assert_allclose, found, want)
