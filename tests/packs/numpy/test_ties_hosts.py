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


def whole(decompose, weights):
    """A² + 1 by its vectors, of any kind of tensor: right in reverse mode."""

    def g(a):
        w, v = decompose(a)
        return (((v * (w**2 + 1)) @ v.T) * weights).sum()

    return g


@pytest.mark.parametrize("make", [leading, inner, alone, whole])
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


def test_torch_is_right_of_functions_of_matrices():
    """At one, where the derivative of A² + 1 along da is 2 da."""
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    eigh = rules_torch.to_torch(np.linalg.eigh, host=True)
    x = torch.eye(3, dtype=torch.float64, requires_grad=True)
    whole(lambda a: eigh((a + a.T) / 2), torch.as_tensor(W))(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), W + W.T, atol=1e-12)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("make", [leading, inner, entry, whole])
def test_jax_refuses(make, eigh):
    """The pullback would be of other vectors than the program's."""
    import jax

    def decompose(a):
        return eigh(a)

    with pytest.raises(rc.UnsupportedError, match="goes on with the function's own"):
        jax.grad(make(decompose, W))(jax.numpy.asarray(A))


@pytest.mark.parametrize("make", [leading, inner, entry, alone, whole])
def test_jax_is_right_where_values_differ(make, eigh):
    import jax

    def decompose(a):
        return eigh(a)

    a = np.diag([0.0, 1.0, 3.0])
    found = jax.grad(make(decompose, W))(jax.numpy.asarray(a))
    expected = ad.grad(make(np.linalg.eigh, W))(a)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def decomposed(a):
    """A program without rules of its own, which hands its vectors to the host."""
    w, v = np.linalg.eigh((a + a.T) / 2)
    return w * 1.0, v * 1.0


def largest(a):
    """One that keeps them to itself."""
    _, v = np.linalg.eigh((a + a.T) / 2)
    return np.sum(np.outer(v[:, -1], v[:, -1]) * W)


def test_derived_rules_refuse_to_hand_vectors_to_torch():
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    program = rules_torch.to_torch(decomposed, host=True)
    g = entry(program, None)
    with pytest.raises(rc.UnsupportedError, match="must not depend on the choice of"):
        g(torch.tensor(A, requires_grad=True)).backward()
    apart = torch.tensor(np.diag([0.0, 1.0, 3.0]), requires_grad=True)
    g(apart).backward()
    np.testing.assert_allclose(apart.grad[0, 1], 0.5, atol=1e-12)


def test_derived_rules_refuse_to_hand_vectors_to_jax():
    jax = pytest.importorskip("jax")
    rules_jax = pytest.importorskip("rules_jax")

    def out(a):
        parts = (a.shape[-1:], a.shape)
        return tuple(jax.ShapeDtypeStruct(shape, a.dtype) for shape in parts)

    program = rules_jax.to_jax(decomposed, host=True, out=out)
    g = entry(lambda a: program(a), None)
    with pytest.raises(Exception, match="must not depend on the choice of"):
        jax.grad(g)(jax.numpy.asarray(A))


def test_derived_rules_of_what_keeps_them_to_itself():
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    x = torch.tensor(A, requires_grad=True)
    rules_torch.to_torch(largest, host=True)(x).backward()
    np.testing.assert_allclose(x.grad, ad.grad(largest)(A), atol=1e-12)
