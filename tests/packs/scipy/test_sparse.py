"""Sparse matrices in every framework, against dense matrices of JAX."""

import itertools
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from jax.experimental import sparse as jsparse

import rules_autodiff
from rules_core.testing import check_rule
from rules_scipy.sparse import Pattern, SparseArray, as_sparse, linalg
from rules_scipy.sparse._products import Places, _gathered, _summed, product, sampled
from rules_scipy.sparse.linalg._direct import solved

RNG = np.random.default_rng(3)
N = 5
# Unsorted, with a repeated place, a stored zero and an empty row.
PATTERN = Pattern([3, 0, 0, 1, 3, 0, 1], [1, 2, 0, 4, 1, 3, 1], (4, N))
DATA = RNG.normal(size=PATTERN.nnz)
X = RNG.normal(size=N)


def _system():
    band = sp.diags_array(
        [RNG.normal(size=N - 1), RNG.uniform(4, 5, N), RNG.normal(size=N - 1)],
        offsets=[-1, 0, 1],
    )
    return as_sparse((band @ band.T).tocsr())


SYSTEM = _system()


def dense(data, pattern):
    return jnp.zeros(pattern.shape).at[pattern.rows, pattern.columns].add(data)


def solution(name):
    def f(data, b):
        A = SYSTEM.with_data(data)
        if name == "splu":
            return (linalg.splu(A).solve(b, "T") ** 2).sum()
        if name in ("spsolve", "factorized"):
            x = linalg.spsolve(A, b) if name == "spsolve" else linalg.factorized(A)(b)
            return (x**2).sum()
        return (getattr(linalg, name)(A, b, rtol=1e-12)[0] ** 2).sum()

    return f


def reference(name):
    def f(data, b):
        A = dense(data, SYSTEM.pattern)
        return (jnp.linalg.solve(A.T if name == "splu" else A, b) ** 2).sum()

    return f


def products(data, x):
    A = SparseArray(data, PATTERN)
    y = A @ x
    z = (y @ A) * x + (A.T @ (A * 2.0 - A.conj() / 3.0) @ x) + A.sum(0)
    return (z**2).sum() + A.diagonal().sum() ** 2 + (A * A).toarray().sum()


def dense_products(data, x):
    A = dense(data, PATTERN)
    y = A @ x
    z = (y @ A) * x + (A.T @ (A * 2.0 - A / 3.0) @ x) + A.sum(0)
    return (z**2).sum() + jnp.diagonal(A).sum() ** 2 + (A * A).sum()


PAIRS = {"products": (products, dense_products, DATA, X)} | {
    name: (solution(name), reference(name), SYSTEM.data, X)
    for name in (
        "spsolve splu factorized cg gmres minres bicg bicgstab cgs qmr lgmres gcrotmk "
        "tfqmr"
    ).split()
}


def gradients(host, f, *args):
    if host == "numpy":
        return rules_autodiff.grad(f, argnums=(0, 1))(*args)
    if host == "jax":
        return jax.grad(f, argnums=(0, 1))(*args)
    if host == "jit":
        return jax.jit(jax.grad(f, argnums=(0, 1)))(*args)
    xs = [torch.tensor(x, requires_grad=True) for x in args]
    f(*xs).backward()
    return [x.grad.numpy() for x in xs]


def curvature(host, f, *args):
    if host == "numpy":
        return rules_autodiff.hessian(f)(*args)
    if host in ("jax", "jit"):
        return jax.hessian(f)(*args)
    return torch.func.hessian(f)(*map(torch.tensor, args)).numpy()


HOSTS = ("numpy", "jax", "jit", "torch")


SAMPLE = (("spsolve", "torch"), ("gmres", "jax"), ("cg", "numpy"))


@pytest.mark.parametrize(("name", "host"), SAMPLE)
def test_gradients(name, host):
    f, g, *args = PAIRS[name]
    found = gradients(host, f, *args)
    want = jax.grad(g, argnums=(0, 1))(*args)
    for one, other in zip(found, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


@pytest.mark.full
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", PAIRS)
def test_two_orders(name, host):
    f, g, *args = PAIRS[name]
    test_gradients(name, host)
    want = jax.hessian(g)(*args)
    np.testing.assert_allclose(curvature(host, f, *args), want, rtol=1e-7, atol=1e-9)


MATRIX = SYSTEM.pattern
COMPLEX = SYSTEM.data + 0.3j * RNG.normal(size=MATRIX.nnz)
RULES = {
    "product": (product, DATA, X, PATTERN),
    "product of a matrix": (product, DATA, RNG.normal(size=(N, 2)), PATTERN),
    "sampled": (sampled, RNG.normal(size=4), X, PATTERN),
    "gathered": (_gathered, X, Places([3, -1, 3, 0]), N),
    "summed": (_summed, X, Places([3, -1, 3, 0, 1]), 4),
    "solved": (solved, SYSTEM.data, X, MATRIX, False),
    "adjoint": (solved, SYSTEM.data, RNG.normal(size=(N, 2)), MATRIX, True),
    "complex": (solved, COMPLEX, X + 0.5j, MATRIX, False),
    "complex adjoint": (solved, COMPLEX, X + 0.5j, MATRIX, True),
    "complex product": (product, DATA + 1j * DATA[::-1], X - 0.2j, PATTERN),
}


@pytest.mark.full
@pytest.mark.parametrize("name", RULES)
def test_rules(name):
    check_rule(*RULES[name])


@pytest.mark.covering(every=5)
@pytest.mark.parametrize("name", RULES)
def test_rules_quickly(name):
    check_rule(*RULES[name], level="quick", hosts=())


def coo_tensor(places, data, shape):
    return torch.sparse_coo_tensor(
        places, torch.tensor(data), shape, check_invariants=True
    )


def test_matrices_of_frameworks():
    A = sp.coo_array((DATA, (PATTERN.rows, PATTERN.columns)), shape=PATTERN.shape)
    places = np.stack([PATTERN.rows, PATTERN.columns])
    bcoo = jsparse.BCOO((jnp.asarray(DATA), jnp.asarray(places.T)), shape=A.shape)
    coo = coo_tensor(places, DATA, A.shape)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
        csr = coo.to_sparse_csr()
    for given in (A, A.tocsc(), A.todia(), bcoo, coo, csr, A.toarray()):
        found = as_sparse(given)
        np.testing.assert_allclose(np.asarray(found.toarray()), A.toarray())
    with pytest.raises(TypeError, match="two dimensions"):
        as_sparse(X)


def test_a_tensor_of_torch_receives_a_gradient():
    places = np.stack([SYSTEM.pattern.rows, SYSTEM.pattern.columns])
    A = coo_tensor(places, SYSTEM.data, SYSTEM.shape)
    A = A.coalesce().requires_grad_()
    linalg.spsolve(A, torch.tensor(X)).sum().backward()
    want = jax.grad(lambda d: jnp.linalg.solve(dense(d, MATRIX), X).sum())(SYSTEM.data)
    np.testing.assert_allclose(A.grad.coalesce().values().numpy(), want)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.complex64])
def test_dtypes_are_kept(dtype):
    A, b = SYSTEM.with_data(SYSTEM.data.astype(dtype)), X.astype(dtype)
    assert linalg.spsolve(A, b).dtype == (A @ b).dtype == dtype
    y, pullback = jax.vjp(
        lambda d: linalg.spsolve(A.with_data(d), b), jnp.asarray(A.data)
    )
    assert pullback(y)[0].dtype == y.dtype == dtype


@pytest.mark.full
def test_iterations_that_do_not_converge():
    def f(data):
        return linalg.cg(SYSTEM.with_data(data), X, maxiter=1)[0].sum()

    assert np.isfinite(f(SYSTEM.data))
    for grad, make in (
        (rules_autodiff.grad, np.asarray),
        (jax.grad, jnp.asarray),
        (torch.func.grad, torch.tensor),
    ):
        with pytest.raises(linalg.NotConverged, match="did not converge"):
            grad(f)(make(SYSTEM.data))


def test_patterns_are_compared_by_their_places():
    again = Pattern(PATTERN.rows.copy(), PATTERN.columns, PATTERN.shape)
    assert again == PATTERN
    assert hash(again) == hash(PATTERN)
    assert PATTERN.transposed != PATTERN
    assert PATTERN.transposed.transposed is PATTERN
    with pytest.raises(ValueError, match="outside"):
        Pattern([4], [0], (4, 4))


def test_both_orders_of_sum_are_one():
    """Every entry of the matrix in its place, whatever the order of the pattern."""
    A = SparseArray(DATA, PATTERN)
    for i, j in itertools.product(range(4), range(N)):
        unit = np.eye(4)[i] @ A
        assert np.isclose(unit[j], A.toarray()[i, j])
