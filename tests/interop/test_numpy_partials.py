"""Partials that are constants of NumPy, beside the arrays of a host."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_core as rc

C = 1.75
PARTIALS = {
    "number": lambda dtype: dtype(C),
    "array without axes": lambda dtype: np.asarray(C, dtype),
    "array": lambda dtype: np.asarray([C, -C, 2 * C], dtype),
    "infinite": lambda dtype: dtype(np.inf),
}


def weighed(partial):
    """A function of which only the derivative is looked at."""

    @rc.primitive
    def weigh(x):
        return x * 0 + 1

    rc.scalar_rule(weigh, lambda y, x: (partial,))
    return weigh


def in_torch(f, way, x, dx):
    x, dx = torch.tensor(x), torch.tensor(dx)
    ways = {
        "backward": lambda: torch.autograd.grad(f(x.requires_grad_()), x, dx)[0],
        "vjp": lambda: torch.func.vjp(f, x)[1](dx)[0],
        "jvp": lambda: torch.func.jvp(f, (x,), (dx,))[1],
        "vmap": lambda: torch.func.vmap(
            lambda x, dx: torch.func.jvp(f, (x,), (dx,))[1]
        )(x[None], dx[None])[0],
    }
    return ways[way]().numpy()


def in_jax(f, way, x, dx):
    x, dx = jnp.asarray(x), jnp.asarray(dx)
    ways = {
        "backward": lambda: jax.vjp(f, x)[1](dx)[0],
        "vjp": lambda: jax.jit(lambda dx: jax.vjp(f, x)[1](dx)[0])(dx),
        "jvp": lambda: jax.jvp(f, (x,), (dx,))[1],
        "vmap": lambda: jax.vmap(lambda x, dx: jax.jvp(f, (x,), (dx,))[1])(
            x[None], dx[None]
        )[0],
    }
    return np.asarray(ways[way]())


@pytest.mark.covering
@pytest.mark.parametrize("host", [in_torch, in_jax])
@pytest.mark.parametrize("way", ["backward", "vjp", "jvp", "vmap"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("of", [np.float32, np.float64])
@pytest.mark.parametrize("kind", PARTIALS)
def test_a_partial_of_numpy_is_a_constant(kind, of, dtype, way, host):
    partial = PARTIALS[kind](of)
    dx = np.asarray([1.0, 0.0, -3.0], dtype)
    found = host(weighed(partial), way, np.ones(3, dtype), dx)
    expected = np.asarray([1.0, 0.0, -3.0]) * np.where(dx == 0, 1.0, partial)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    if host is in_torch:
        assert found.dtype == dtype


@pytest.mark.parametrize("of", [np.float64, np.float32, np.int64, float, int])
def test_a_number_of_numpy_beside_a_tensor(of):
    w = of(C)

    @rc.primitive
    def scale(x, w):
        return x * w

    rc.scalar_rule(scale, lambda y, x, w: (w * 1, x))
    x = torch.ones(3, requires_grad=True)
    (dx,) = torch.autograd.grad(scale(x, w).sum(), x)
    assert dx.tolist() == [float(w)] * 3
    assert torch.func.jvp(lambda x: scale(x, w), (x,), (x,))[1].tolist() == dx.tolist()
