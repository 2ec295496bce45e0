"""NumPy's functions inside JAX and PyTorch: opaque calls, at first order."""

from __future__ import annotations

import numpy as np
import pytest

A = np.eye(3) * 2.0 + np.arange(9.0).reshape(3, 3) / 9.0
FUNCTIONS = [np.linalg.inv, np.cumsum, np.sort, np.linalg.cholesky]
POSITIVE = A @ A.T


def expected(f):
    """The gradient of Σ f², by the rule itself."""
    import rules_core as rc

    y, pullback = rc.rrule(f, POSITIVE)
    return pullback(2.0 * y)[1]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_jax(f):
    jax = pytest.importorskip("jax")
    import rules_jax

    def out(a, *_options):
        shape = np.shape(f(np.eye(3)))
        return jax.ShapeDtypeStruct(shape, a.dtype)

    g = rules_jax.to_jax(f, host=True, out=out)
    gradient = jax.grad(lambda x: (g(x) ** 2).sum())
    x = jax.numpy.asarray(POSITIVE)
    np.testing.assert_allclose(gradient(x), expected(f), rtol=1e-10)
    np.testing.assert_allclose(jax.jit(gradient)(x), expected(f), rtol=1e-10)
    both = jax.vmap(gradient)(jax.numpy.stack([x, x]))
    np.testing.assert_allclose(both[1], expected(f), rtol=1e-10)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_torch(f):
    torch = pytest.importorskip("torch")
    import rules_torch

    g = rules_torch.to_torch(f, host=True)
    x = torch.tensor(POSITIVE, requires_grad=True)
    (g(x) ** 2).sum().backward()
    np.testing.assert_allclose(x.grad, expected(f), rtol=1e-10)
