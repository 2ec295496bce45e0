"""`out=`, `vectorized=`, `copy_in=` and `copy_out=` in both frameworks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_core.testing import isolated_rules
from rules_jax import to_jax
from rules_torch import to_torch

A = np.random.default_rng(5).normal(size=(4, 3, 2))
V = np.array([0.5, -2.0])


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_rules():
        yield


def stretched(calls=None):
    def stretch(a, v, n):
        if calls is not None:
            calls.append(a.shape)
        product = np.einsum("...ij,...j->...i", a, v)
        return product, np.repeat(product[..., :1], n, -1)

    return stretch


OUT = "(m,k),(k)->(m),(n)"


def check(ys, n=2):
    want = np.einsum("...ij,j->...i", A[: len(ys[0])], V)
    np.testing.assert_allclose(ys[0], want)
    np.testing.assert_allclose(ys[1], np.repeat(want[..., :1], n, -1))


@pytest.mark.parametrize("vectorized", [False, True])
def test_jax(vectorized):
    calls = []
    f = rc.primitive(stretched(calls), host=True, out=OUT, vectorized=vectorized)
    batched = jax.jit(jax.vmap(lambda a: f(a, jnp.asarray(V), 2)))
    check(batched(jnp.asarray(A)))
    assert len(calls) == (1 if vectorized else 4)


@pytest.mark.parametrize("vectorized", [False, True])
def test_torch(vectorized):
    calls = []
    f = rc.primitive(stretched(calls), host=True, out=OUT, vectorized=vectorized)
    check(torch.vmap(lambda a: f(a, torch.asarray(V), 2))(torch.asarray(A)))
    assert len(calls) == (1 if vectorized else 4)

    @torch.compile(backend="aot_eager", fullgraph=True)
    def compiled(a, v):
        return f(a, v, 2)

    check([y[None] for y in compiled(torch.asarray(A[0]), torch.asarray(V))])


def test_wrappers_take_the_same_forms():
    own = to_jax(stretched(), host=True, out=OUT)
    check([y[None] for y in jax.jit(own, static_argnums=2)(A[0], V, 2)])
    number = to_torch(np.sum, host=True, out=torch.float64)
    compiled = torch.compile(lambda x: number(x), backend="aot_eager")
    assert compiled(torch.ones(3, dtype=torch.float64)) == 3.0


def test_a_false_promise():
    f = rc.primitive(stretched(), host=True, out="(m,k),(k)->(k),(n)")
    with pytest.raises(Exception, match=r"shape rule .*\(2,\)|\(2,\).*\(3,\)"):
        f(jnp.asarray(A[0]), jnp.asarray(V), 2)


@pytest.mark.parametrize(
    "as_array", [np.array, jnp.array, torch.tensor], ids=["numpy", "jax", "torch"]
)
def test_copies(as_array):
    """A library that writes to its arguments and returns its own work array."""
    work = np.zeros(2)

    def library(x):
        x.flags.writeable = True  # raises for memory that is only lent
        x += 1.0
        work[:] = x
        return work

    f = rc.primitive(library, host=True, out="x", copy_in=True, copy_out=True)
    rc.non_differentiable(f)  # a rule: arrays would be lent without the flags
    x = as_array([1.0, 2.0])
    y, z = f(x), f(x * 2)
    assert (x.tolist(), y.tolist(), z.tolist()) == ([1, 2], [2, 3], [3, 5])
