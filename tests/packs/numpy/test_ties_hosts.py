"""Equal eigenvalues in hosts: PyTorch goes on with the rule's vectors, JAX does not."""

from __future__ import annotations

import numpy as np
import pytest

import rules_autodiff as ad
import rules_core as rc

A = np.diag([0.0, 0.0, 3.0])
W = np.random.default_rng(0).normal(size=(3, 3))


def leading(decompose, weights):
    def g(a):
        v = decompose(a)[1][:, -1:]
        return ((v @ v.T) * weights).sum()

    return g


def inner(decompose, weights):
    def g(a):
        v = decompose(a)[1][:, :2]
        return ((v @ v.T) * weights).sum()

    return g


def entry(decompose, weights):
    def g(a):
        w, v = decompose(a)
        return ((v * w) @ v.T)[0, 1]

    return g


def alone(decompose, weights):
    return lambda a: (decompose(a)[0] ** 3).sum()


@pytest.mark.parametrize("make", [leading, inner, alone])
@pytest.mark.parametrize("way", ["backward", "func"])
def test_torch_is_right(make, way):
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    g = make(rules_torch.to_torch(np.linalg.eigh, host=True), torch.as_tensor(W))
    x = torch.tensor(A, requires_grad=way == "backward")
    if way == "func":
        found = torch.func.grad(g)(x)
    else:
        g(x).backward()
        found = x.grad
    expected = ad.grad(make(np.linalg.eigh, W))(A)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


def test_torch_refuses():
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    g = entry(rules_torch.to_torch(np.linalg.eigh, host=True), None)
    with pytest.raises(NotImplementedError, match="that treats them alike"):
        g(torch.tensor(A, requires_grad=True)).backward()


@pytest.fixture(name="eigh")
def eigh_in_jax():
    jax = pytest.importorskip("jax")
    rules_jax = pytest.importorskip("rules_jax")

    def out(a, *_options):
        parts = (a.shape[-1:], a.shape)
        return tuple(jax.ShapeDtypeStruct(shape, a.dtype) for shape in parts)

    return rules_jax.to_jax(np.linalg.eigh, host=True, out=out)


@pytest.mark.parametrize("make", [leading, inner, entry, alone])
def test_jax_refuses(make, eigh):
    """The pullback would be of other vectors than the program's."""
    import jax

    def decompose(a):
        return eigh(a)

    with pytest.raises(rc.UnsupportedError, match="goes on with the function's own"):
        jax.grad(make(decompose, W))(jax.numpy.asarray(A))


@pytest.mark.parametrize("make", [leading, inner, entry, alone])
def test_jax_is_right_where_values_differ(make, eigh):
    import jax

    def decompose(a):
        return eigh(a)

    a = np.diag([0.0, 1.0, 3.0])
    found = jax.grad(make(decompose, W))(jax.numpy.asarray(a))
    expected = ad.grad(make(np.linalg.eigh, W))(a)
    np.testing.assert_allclose(found, expected, atol=1e-12)
