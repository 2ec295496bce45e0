"""JAX functions as primitives for everybody else."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, Tangent
from rules_jax import from_jax


def f(x, p, n=2):
    return {"y": jnp.sin(x) * p["w"] ** n, "k": jnp.asarray(n)}


X, P = np.array([0.1, 0.2]), {"w": np.array(1.5)}


def test_rrule_and_frule_on_numpy():
    g = from_jax(f)
    assert isinstance(g(X, P)["y"], np.ndarray)
    y, pullback = rc.rrule(g, X, P)
    np.testing.assert_allclose(y["y"], np.sin(X) * 1.5**2)
    dself, dx, dp, *rest = pullback(Tangent(dict, {"y": np.ones(2)}))
    assert isinstance(dself, NoTangent)
    np.testing.assert_allclose(dx, np.cos(X) * 1.5**2)
    np.testing.assert_allclose(dp["w"], np.sum(np.sin(X)) * 3)
    assert all(isinstance(r, NoTangent) for r in rest)
    dp = Tangent(dict, {"w": np.array(1.0)})
    _, dy = rc.frule((NoTangent(), X, dp, NoTangent()), g, X, P, 2)
    np.testing.assert_allclose(dy["y"], np.cos(X) * X * 2.25 + np.sin(X) * 3)


def test_any_order_on_numpy():
    """The pullback is a primitive with rules, and so is its own pullback."""
    x, one = np.asarray(0.5), np.asarray(1.0)
    g = from_jax(lambda x: jnp.exp(2 * x))
    pull = g.fun.foreign.pull
    assert float(pull((one,), (x,), {})[0]) == pytest.approx(2 * np.exp(1))
    _, second = rc.rrule(pull, (one,), (x,), {})
    _, dct, dx, _ = second(Tangent(tuple, one))
    assert float(dx[0]) == pytest.approx(4 * np.exp(1))
    assert float(dct[0]) == pytest.approx(2 * np.exp(1))
    third = pull.fun.foreign.pull
    _, back = rc.rrule(third, (one,), ((one,), (x,), {}), {})
    found = back(Tangent(tuple, 0 * one, one))
    assert float(found[2][1][0]) == pytest.approx(8 * np.exp(1))


def test_inside_jax_it_is_the_function():
    g = from_jax(jnp.sin)
    x = jnp.asarray(0.3)
    assert jax.make_jaxpr(g)(x).jaxpr.eqns[0].primitive.name == "sin"
    assert float(jax.grad(jax.grad(g))(x)) == pytest.approx(-np.sin(0.3))
    assert jax.jit(jax.vmap(g))(jnp.ones(3)).shape == (3,)


def test_shapes_and_batches():
    g = from_jax(lambda A: A.T @ A)
    assert g.shape_rule(rc.ShapeDtype((5, 2), np.dtype("float32"))) == rc.ShapeDtype(
        (2, 2), np.dtype("float32")
    )
    A = np.ones((3, 5, 2))
    out, batched = g.batch_rule(3, (True,), A)
    assert out.shape == (3, 2, 2)
    assert batched is True


def test_complex_convention():
    g = from_jax(lambda z: z**2)
    _, pull = rc.rrule(g, np.asarray(1 + 2j))
    assert complex(pull(np.asarray(1j))[1]) == np.conj(2 * (1 + 2j)) * 1j


@pytest.mark.usefixtures("x32")
def test_precision_of_the_arguments():
    g = from_jax(jnp.sin)
    assert g(np.ones(2)).dtype == np.float64
    assert g(np.ones(2, "float32")).dtype == np.float32
