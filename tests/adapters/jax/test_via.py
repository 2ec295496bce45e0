"""The back ends: each does what it can, and refuses the rest in words."""

import jax
import jax.numpy as jnp
import pytest

import rules_core as rc
from rules_core import UnsupportedError
from rules_jax import _call, to_jax

X = jnp.asarray(0.7)
COS, SIN = float(jnp.cos(X)), float(jnp.sin(X))
BOTH = ["primitive", "linear"]


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("via", BOTH)
@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda f: f,
        jax.jit,
        jax.checkpoint,
        lambda f: lambda x: jax.vmap(f)(x[None])[0],
        lambda f: lambda x: jax.lax.cond(x > 0, f, jnp.cos, x),
    ],
    ids=["plain", "jit", "checkpoint", "vmap", "cond"],
)
def test_both_rules(marked, via, host, wrap):
    f = wrap(to_jax(marked(host=host).f, via=via))
    assert float(f(X)) == pytest.approx(SIN)
    assert float(jax.grad(f)(X)) == pytest.approx(3 * COS)
    assert float(jax.jvp(f, (X,), (X,))[1]) == pytest.approx(2 * COS * 0.7)
    assert float(jax.jit(jax.grad(f))(X)) == pytest.approx(3 * COS)
    assert float(jax.grad(jax.grad(f))(X)) == pytest.approx(-3 * SIN)
    assert float(jax.jacfwd(jax.jacrev(f))(X)) == pytest.approx(-3 * SIN)
    assert float(jax.jacrev(jax.jacfwd(f))(X)) == pytest.approx(-2 * SIN)
    assert float(jax.jacfwd(jax.jacfwd(f))(X)) == pytest.approx(-2 * SIN)
    _, linear = jax.linearize(f, X)
    assert float(linear(1.0)) == pytest.approx(2 * COS)
    assert float(jax.linear_transpose(linear, X)(1.0)[0]) == pytest.approx(3 * COS)


@pytest.mark.parametrize("via", BOTH)
def test_an_rrule_alone(marked, via):
    f = to_jax(marked(frule=False).f, via=via)
    assert float(jax.grad(f)(X)) == pytest.approx(3 * COS)
    assert float(jax.jacfwd(f)(X)) == pytest.approx(3 * COS)
    assert float(jax.hessian(f)(X)) == pytest.approx(-3 * SIN)


@pytest.mark.parametrize("via", ["primitive", "custom_jvp"])
def test_an_frule_alone(marked, via):
    f = to_jax(marked(rrule=False).f, via=via)
    assert float(jax.grad(f)(X)) == pytest.approx(2 * COS)
    assert float(jax.jacfwd(f)(X)) == pytest.approx(2 * COS)
    assert float(jax.hessian(f)(X)) == pytest.approx(-2 * SIN)


def test_custom_vjp(marked):
    f = to_jax(marked().f, via="custom_vjp")
    for run in (jax.grad(f), jax.jit(jax.grad(f)), jax.grad(jax.checkpoint(f))):
        assert float(run(X)) == pytest.approx(3 * COS)
    assert float(jax.vmap(jax.grad(f))(X[None])[0]) == pytest.approx(3 * COS)
    assert float(jax.grad(jax.grad(f))(X)) == pytest.approx(-3 * SIN)
    with pytest.raises(UnsupportedError) as error:
        jax.jvp(f, (X,), (X,))
    assert str(error.value) == (
        "marked is differentiated in forward mode, but via='custom_vjp' has none. "
        "Leave via out, or use via='linear'."
    )
    with pytest.raises(TypeError, match="can't apply forward-mode"):  # JAX's own words
        jax.jvp(jax.jit(f), (X,), (X,))


def test_custom_jvp_ignores_the_rrule(marked):
    f = to_jax(marked().f, via="custom_jvp")
    assert float(jax.grad(f)(X)) == pytest.approx(2 * COS)
    assert float(jax.hessian(f)(X)) == pytest.approx(-2 * SIN)


def test_linear_runs_the_rrule_again_in_the_backward_pass(marked):
    made = marked()
    jax.grad(to_jax(made.f, via="linear"))(X)
    found = made.count()
    assert (found["frule"], found["rrule"]) == (1, 1)
    jax.grad(to_jax(made.f, via="primitive"))(X)
    found = made.count()
    assert (found["frule"], found["rrule"]) == (0, 1)


@pytest.mark.parametrize("via", ["linear", "custom_vjp"])
def test_needs_an_rrule(marked, via):
    f = to_jax(marked(rrule=False).f, via=via)
    with pytest.raises(UnsupportedError) as error:
        jax.grad(f)(X)
    assert str(error.value) == (
        f"via={via!r} needs an rrule of marked, which has none for these arguments. "
        "Define one, or leave via out."
    )


def test_needs_an_frule(marked):
    f = to_jax(marked(frule=False).f, via="custom_jvp")
    with pytest.raises(UnsupportedError) as error:
        jax.grad(f)(X)
    assert str(error.value) == (
        "via='custom_jvp' needs an frule of marked, which has none for these "
        "arguments. Define one, or leave via out."
    )


def test_unknown_back_end(marked):
    with pytest.raises(UnsupportedError) as error:
        to_jax(marked().f, via="magic")
    assert str(error.value) == (
        "via must be one of primitive, linear, custom_vjp, custom_jvp, but got 'magic'."
    )


def test_without_linearisation_rules(marked, monkeypatch):
    """On a JAX version without it the stable back end is the default."""
    monkeypatch.setattr(_call._compat, "HAS_LINEARIZATIONS", False)
    f = marked().f
    assert "rule_linear" in str(jax.make_jaxpr(jax.jacfwd(f))(X))
    assert float(jax.grad(f)(X)) == pytest.approx(3 * COS)
    with pytest.raises(UnsupportedError) as error:
        jax.grad(to_jax(f, via="primitive"))(X)
    assert str(error.value) == (
        "via='primitive' needs what JAX has had since 0.9.1 and this JAX "
        f"{jax.__version__} has not: rules of primitives for linearisation. Leave via "
        "out, or use via='linear'."
    )
    g = marked(rrule=False).f
    assert float(jax.grad(g)(X)) == pytest.approx(2 * COS)


def test_conflicting_flags(marked):
    with pytest.raises(rc.PrimitiveError, match="host"):
        to_jax(marked().f, host=True)


def test_to_jax_promotes_numpy():
    f = to_jax(lambda x, n: x * n)
    assert isinstance(f(2.0, 3), jax.Array)
    assert repr(f).startswith("to_jax(<primitive")
