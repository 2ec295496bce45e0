"""Eigenvalues and singular values of sparse matrices, against dense ones of JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as la
import torch

import rules_autodiff
from rules_core import RulesCoreError
from rules_scipy.sparse import as_sparse
from rules_scipy.sparse.linalg import eigs, eigsh, norm, svds

RNG = np.random.default_rng(11)
N = 7
ROWS = np.array([*range(N), 0, 1, 2, 3, 1, 4])
COLUMNS = np.array([*range(N), 3, 2, 5, 6, 6, 5])
LOWER = np.array([*RNG.uniform(1, 9, N), *RNG.normal(size=6)])
WEIGHTS = RNG.normal(size=(N, 2))
TALL = sp.csr_array(RNG.normal(size=(6, 4)) * (RNG.uniform(size=(6, 4)) < 0.8))


def like(x, constant):
    return torch.tensor(constant) if isinstance(x, torch.Tensor) else constant


def symmetric(x):
    """A symmetric matrix of both triangles, of entries in any framework."""
    off = as_sparse(sp.coo_array((np.ones(6), (ROWS[N:], COLUMNS[N:])), shape=(N, N)))
    own = as_sparse(sp.eye_array(N, format="csr"))
    upper = off.with_data(x[N:])
    return own.with_data(x[:N]) + upper + upper.T


def dense_symmetric(x):
    upper = jnp.zeros((N, N)).at[ROWS[N:], COLUMNS[N:]].set(x[N:])
    return jnp.diag(x[:N]) + upper + upper.T


def of_pairs(w, v):
    return (w**2).sum() + ((v * like(v, WEIGHTS)) ** 2).sum()


def of_triplets(u, s, vh):
    left, right = like(u, WEIGHTS[:6, 0]), like(u, WEIGHTS[:4, 1])
    return (s**3).sum() + ((left @ u) * (vh @ right)).sum()


def by_eigsh(x):
    return of_pairs(*eigsh(symmetric(x), k=2, which="LA"))


def by_eigh(x):
    w, v = jnp.linalg.eigh(dense_symmetric(x))
    return of_pairs(w[-2:], v[:, -2:])


def by_svds(x):
    return of_triplets(*svds(as_sparse(TALL).with_data(x), k=2))


def by_svd(x):
    places = as_sparse(TALL).pattern
    a = jnp.zeros(TALL.shape).at[places.rows, places.columns].set(x)
    u, s, vh = jnp.linalg.svd(a, full_matrices=False)
    return of_triplets(u[:, 1::-1], s[1::-1], vh[1::-1])


CASES = {
    "eigsh": (by_eigsh, by_eigh, LOWER),
    "svds": (by_svds, by_svd, TALL.data),
}


def close(found, want):
    np.testing.assert_allclose(np.asarray(found), want, rtol=1e-7, atol=1e-9)


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_gradients_for_numpy(name):
    f, g, x = CASES[name]
    close(f(x), g(x))
    close(rules_autodiff.grad(f)(x), jax.grad(g)(x))


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_frameworks_and_second_order(name):
    f, g, x = CASES[name]
    want = jax.grad(g)(x)
    close(jax.jit(jax.grad(f))(x), want)
    close(torch.func.grad(f)(torch.tensor(x)), want)
    dx = RNG.normal(size=x.shape)
    close(rules_autodiff.jvp(f, (x,), (dx,))[1], want @ dx)
    close(jax.jvp(f, (x,), (dx,))[1], want @ dx)
    want = jax.hessian(g)(x)
    close(rules_autodiff.hessian(f)(x), want)
    close(jax.hessian(f)(x), want)
    close(torch.func.hessian(f)(torch.tensor(x)), want)


@pytest.mark.full
def test_eigs_of_a_matrix_that_is_not_symmetric():
    a = as_sparse(sp.csr_array(np.diag(LOWER[:N]) + np.triu(WEIGHTS @ WEIGHTS.T)))

    def f(x):
        w, v = eigs(a.with_data(x), k=2)
        return (abs(w) ** 2).sum() + (abs(v) ** 4).sum()

    def reference(x):
        w, v = np.linalg.eig(a.with_data(x).toarray())
        two = np.argsort(-abs(w))[:2]
        return (abs(w[two]) ** 2).sum() + (abs(v[:, two]) ** 4).sum()

    x = a.data
    steps = 1e-6 * np.eye(len(x))
    want = [(reference(x + h) - reference(x - h)) / 2e-6 for h in steps]
    for found in (rules_autodiff.grad(f)(x), jax.grad(f)(x)):
        np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-6)


@pytest.mark.full
def test_programs_for_numpy():
    def f(x):
        a = sp.csr_array((x, (ROWS, COLUMNS)), shape=(N, N))
        a = a + sp.triu(a, 1).T
        return of_pairs(*la.eigsh(a, k=2, which="LA")) + la.norm(a) + la.norm(a, 1)

    def g(x):
        a = dense_symmetric(x)
        return by_eigh(x) + jnp.linalg.norm(a) + jnp.linalg.norm(a, 1)

    close(rules_autodiff.grad(f)(LOWER), jax.grad(g)(LOWER))


@pytest.mark.full
@pytest.mark.parametrize("k", [1, 2])
def test_equal_values_have_no_derivative(k):
    """Also where the other one is not computed."""
    a = as_sparse(sp.csr_array(np.kron(np.diag([1.0, 2.0, 3.0]), np.eye(2))))

    def f(x):
        return eigsh(a.with_data(x), k=k, which="LA")[0].sum()

    with pytest.raises(RulesCoreError, match="simple values"):
        rules_autodiff.grad(f)(a.data)
    assert np.isnan(jax.jit(jax.grad(f))(a.data)).any()


def test_a_phase_has_no_derivative():
    a = as_sparse(sp.csr_array(np.diag(LOWER[:N]) + np.diag(1j * np.ones(N - 1), 1)
                               - np.diag(1j * np.ones(N - 1), -1)))  # fmt: skip

    def f(x, part):
        return part(eigsh(a.with_data(x), k=2)[1] ** 2).sum()

    assert np.isfinite(rules_autodiff.grad(lambda x: f(x, abs))(a.data)).all()
    with pytest.raises(RulesCoreError, match="phase"):
        rules_autodiff.grad(lambda x: f(x, np.real))(a.data)


@pytest.mark.full
@pytest.mark.parametrize("ord", [None, "fro", 1, -1, np.inf, -np.inf])
def test_norms(ord):
    a = as_sparse(TALL)
    close(norm(a, ord), la.norm(TALL, ord))
    found = rules_autodiff.grad(lambda x: norm(a.with_data(x), ord))(a.data)
    close(found, jax.grad(lambda x: norm(a.with_data(x), ord))(jnp.asarray(a.data)))


def test_options_without_a_rule_are_errors():
    with pytest.raises(RulesCoreError, match="M= has no rule"):
        eigsh(TALL, M=np.eye(6))
    with pytest.raises(RulesCoreError, match="use svds"):
        norm(TALL, 2)
