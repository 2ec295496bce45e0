"""Rules declared `host=True`: by callback, at first order, with an error beyond."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, ShapeDtype, UnsupportedError


def matrix_function(*, frule=True, rrule=True):
    """A -> A @ A on the host, with NumPy-only rules."""
    calls = []

    @rc.primitive(host=True)
    def square(A):
        calls.append("primal")
        return A @ A

    @rc.shape_rule.define(square)
    def square_shape(A):
        return ShapeDtype(A.shape, A.dtype)

    if frule:

        @rc.frule.define(square, host=True)
        def square_frule(tangents, A: rc.Array):
            assert isinstance(A, np.ndarray)
            calls.append("frule")
            _, dA = tangents
            return A @ A, np.add(dA @ A, A @ dA)

    if rrule:

        @rc.rrule.define(square, host=True)
        def square_rrule(A: rc.Array):
            assert isinstance(A, np.ndarray)
            calls.append("rrule")

            def square_pullback(dy):
                assert isinstance(dy, np.ndarray)
                H = np.conj(A).T
                return NoTangent(), np.add(dy @ H, H @ dy)

            return A @ A, square_pullback

    return square, calls


def reference(A):
    return A @ A


RNG = np.random.default_rng(0)
REAL = jnp.asarray(RNG.normal(size=(3, 3)))
COMPLEX = REAL + 1j * jnp.asarray(RNG.normal(size=(3, 3)))


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("A", [REAL, COMPLEX], ids=["real", "complex"])
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, jax.checkpoint])
def test_first_order_in_both_modes(A, wrap):
    f, _ = matrix_function()
    f, plain = wrap(f), wrap(reference)
    y, pullback = jax.vjp(f, A)
    np.testing.assert_allclose(y, reference(A))
    np.testing.assert_allclose(pullback(A)[0], jax.vjp(plain, A)[1](A)[0])
    np.testing.assert_allclose(jax.jvp(f, (A,), (A,))[1], jax.jvp(plain, (A,), (A,))[1])
    np.testing.assert_allclose(jax.linearize(f, A)[1](A), 2 * reference(A))


def test_batches_and_jacobians():
    f, _ = matrix_function()
    batch = jnp.stack([REAL, 2 * REAL])
    total = lambda A: (f(A) ** 2).sum()
    plain = lambda A: (reference(A) ** 2).sum()
    np.testing.assert_allclose(
        jax.jit(jax.vmap(jax.grad(total)))(batch), jax.vmap(jax.grad(plain))(batch)
    )
    for jacobian in (jax.jacrev, jax.jacfwd):
        np.testing.assert_allclose(jacobian(f)(REAL), jacobian(reference)(REAL))
    scanned = lambda A: jax.lax.scan(lambda c, _: (f(c), None), A, None, length=2)[0]
    found = jax.grad(lambda A: scanned(A).sum())(REAL)
    np.testing.assert_allclose(
        found, jax.grad(lambda A: reference(reference(A)).sum())(REAL)
    )


def test_the_value_alone_runs_no_rule():
    f, calls = matrix_function()
    jax.jit(f)(REAL).block_until_ready()
    assert calls == ["primal"]


def test_second_derivative_is_refused():
    f, _ = matrix_function()
    total = lambda A: f(A).sum()
    text = (
        r"rrule .*square_rrule for .*square at test_host_rules.py:\d+ is NumPy-only "
        r"\(host=True\), so its result cannot be differentiated again. Write the "
        r"rule's body with array_namespace and primitives that have rules, and drop "
        r"host=True."
    )
    for second in (jax.grad(lambda A: jax.grad(total)(A).sum()), jax.hessian(total)):
        with pytest.raises(UnsupportedError, match=text):
            second(REAL)
    with pytest.raises(UnsupportedError, match=r"frule .* is NumPy-only"):
        jax.jacfwd(jax.jacfwd(total))(REAL)


def test_linear_second_derivatives_are_covered():
    """The pullback is linear in its cotangent, so that direction needs no rule."""
    f, _ = matrix_function()
    _, pullback = jax.vjp(f, REAL)
    _, moved = jax.jvp(lambda ct: pullback(ct)[0], (REAL,), (REAL,))
    np.testing.assert_allclose(moved, pullback(REAL)[0])


def test_one_rule_does_not_give_the_other_mode():
    f, _ = matrix_function(frule=False)
    with pytest.raises(UnsupportedError, match="so forward mode cannot be derived"):
        jax.jvp(f, (REAL,), (REAL,))
    assert jax.grad(lambda A: f(A).sum())(REAL).shape == (3, 3)
    f, _ = matrix_function(rrule=False)
    with pytest.raises(UnsupportedError, match="so reverse mode cannot be derived"):
        jax.grad(lambda A: f(A).sum())(REAL)
    assert jax.jvp(f, (REAL,), (REAL,))[1].shape == (3, 3)


def test_host_rule_of_a_generic_primal():
    @rc.primitive
    def double(x):
        return 2 * x

    @rc.rrule.define(double, host=True)
    def double_rrule(x):
        return 2 * x, lambda dy: (NoTangent(), np.multiply(7, dy))

    assert jax.jit(jax.grad(double))(jnp.asarray(1.0)) == 7


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("flag", [True, False], ids=["symbolic", "materialised"])
@pytest.mark.parametrize(
    "wrap",
    [lambda f: f, jax.jit, jax.checkpoint, lambda f: lambda x: jax.vmap(f)(x[None])[0]],
    ids=["eager", "jit", "checkpoint", "vmap"],
)
def test_zeros_of_numpy_rules(wrap, flag):
    """Which cotangents and tangents are zero is known when the callback is made."""
    seen = []

    @rc.primitive
    def both(x, y):
        return x * y, 3 * x

    @rc.rrule.define(both, host=True, symbolic_zeros=flag)
    def both_rrule(x, y):
        def both_pullback(dy):
            seen.append([isinstance(d, rc.ZeroTangent) for d in dy])
            first, second = (0 if isinstance(d, rc.ZeroTangent) else d for d in dy)
            return NoTangent(), np.asarray(first * y + 3 * second), first * x

        return (x * y, 3 * x), both_pullback

    @rc.frule.define(both, host=True, symbolic_zeros=flag)
    def both_frule(tangents, x, y):
        seen.append([isinstance(d, rc.ZeroTangent) for d in tangents[1:]])
        dx, dy = (0 if isinstance(d, rc.ZeroTangent) else d for d in tangents[1:])
        return (x * y, 3 * x), (dx * y + x * dy, np.asarray(3 * dx + 0 * x))

    x, y = jnp.asarray(1.5), jnp.asarray(2.0)
    assert jax.grad(wrap(lambda x: both(x, y)[1]))(x) == 3
    assert seen == [[flag, False]]
    assert jax.grad(wrap(lambda x: both(x, y)[0]))(x) == 2
    assert seen[1:] == [[False, flag]]
    _, moved = jax.jvp(wrap(lambda x: both(x, y)[0]), (x,), (x,))
    assert moved == 3
    assert seen[2:] == [[False, flag]]
    pull = jax.vjp(lambda x: both(x, y)[1], x)[1]  # forward mode of a pullback of one
    assert jax.jvp(lambda ct: pull(ct)[0], (x,), (x,))[1] == 4.5
