"""Operators, exponentials, least squares, and results that are sparse by name."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as la
import torch

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_scipy.sparse import as_sparse, linalg

RNG = np.random.default_rng(3)
PLACES = RNG.random((5, 5)) < 0.5
D = RNG.normal(size=(5, 5)) * PLACES + np.diag([3.0, 4.0, 5.0, 6.0, 7.0])
ROWS, COLUMNS = np.nonzero(D)
X, W, B = D[ROWS, COLUMNS], RNG.normal(size=(5, 5)), np.arange(1.0, 6.0)
CONSTANT = la.LinearOperator((5, 5), lambda v: D @ v, lambda v: D.T @ v)
EXACT = {"atol": 1e-13, "btol": 1e-13}


def matrix(x):
    return sp.csr_array((x, (ROWS, COLUMNS)), shape=(5, 5))


def weighted(y):
    y = y.toarray() if sp.issparse(y) else y
    return np.sum(y * W.ravel()[: y.size].reshape(y.shape)) ** 2


def by_products(x):
    return la.LinearOperator((5, 5), lambda v: matrix(x) @ v)


def composed(x):
    a = la.aslinearoperator(matrix(x))
    return 2.0 * (a @ CONSTANT) + by_products(x) - a @ a


PROGRAMS = {
    "expm_multiply": lambda x: la.expm_multiply(0.3 * matrix(x), B * x[1]),
    "expm_multiply, columns": lambda x: la.expm_multiply(0.3 * matrix(x), W[:, :2]),
    "expm_multiply, complex": lambda x: np.abs(
        la.expm_multiply(0.3j * matrix(x), B + 0j)
    ),
    "expm_multiply, times": lambda x: la.expm_multiply(
        0.3 * matrix(x), B, 0.1, 0.2 * x[0], 4
    ),
    "expm": lambda x: la.expm(0.2 * matrix(x).tocsc()),
    "inv": lambda x: la.inv(matrix(x).tocsc()),
    "spsolve, sparse": lambda x: la.spsolve(
        matrix(x).tocsc(), (matrix(x) * 2.0 + sp.eye_array(5)).tocsc()
    ),
    "spsolve, sparse column": lambda x: la.spsolve(
        matrix(x).tocsc(), sp.csc_array((x[:2], ([0, 2], [0, 0])), shape=(5, 1))
    ),
    "lsqr, tall": lambda x: la.lsqr(matrix(x)[:, :3], B * x[1], **EXACT)[0],
    "lsqr, damped": lambda x: la.lsqr(matrix(x)[:3], B[:3], damp=0.5, **EXACT)[0],
    "lsmr, wide": lambda x: la.lsmr(matrix(x)[:3], B[:3] * x[1], **EXACT)[0],
    "gmres": lambda x: la.gmres(by_products(x), B * x[1], rtol=1e-13)[0],
    "gmres, a preconditioner that moves": lambda x: la.gmres(
        by_products(x), B, M=la.LinearOperator((5, 5), lambda v: v / x[0]), rtol=1e-13
    )[0],
    "gmres, such a matrix": lambda x: la.gmres(
        matrix(x), B, M=np.diag(1 / (3 + x[:5] ** 2)), rtol=1e-13
    )[0],
    "gmres, composed": lambda x: la.gmres(composed(x), B, rtol=1e-13)[0],
    "bicg": lambda x: la.bicg(la.aslinearoperator(matrix(x)), B, rtol=1e-13)[0],
    "constant operator": lambda x: la.gmres(CONSTANT, B * x[1], rtol=1e-13)[0],
    "operator of a constant matrix": lambda x: la.cg(
        la.aslinearoperator(sp.eye_array(5)), B * x[1]
    )[0],
    "products": lambda x: (
        CONSTANT @ (la.aslinearoperator(matrix(x)).rmatvec(CONSTANT.rmatvec(B * x[0])))
    ),
    "product of matrices": lambda x: by_products(x) @ W,
}


# Every day one program of each function, which its name begins with.
@pytest.mark.covering(each=lambda case: case["name"].partition(",")[0])
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_of_programs(name):
    """In both modes, and twice, against differences of the program."""

    def f(x):
        return weighted(PROGRAMS[name](x))

    move, h = np.cos(np.arange(X.size)), 1e-5
    known = (f(X + h * move) - f(X - h * move)) / (2 * h)
    np.testing.assert_allclose(grad(f)(X) @ move, known, rtol=2e-6)
    np.testing.assert_allclose(jvp(f, (X,), (move,))[1], known, rtol=2e-6)
    slope = lambda x: grad(f)(x) @ move
    known = (slope(X + h * move) - slope(X - h * move)) / (2 * h)
    np.testing.assert_allclose(grad(slope)(X) @ move, known, rtol=2e-5)


@pytest.mark.parametrize("name", ["inv", "expm", "spsolve, sparse"])
def test_the_entries_of_sparse_results_are_scipys(name):
    known = PROGRAMS[name](X)

    def f(x):
        y = PROGRAMS[name](x)
        if (y.format, y.nnz) != (known.format, known.nnz):
            raise AssertionError(y)
        return weighted(y)

    grad(f)(X)


MATRIX = as_sparse(matrix(X))
LOSSES = {
    "expm_multiply": lambda data, b: linalg.expm_multiply(
        MATRIX.with_data(0.2 * data), b
    ),
    "lsqr": lambda data, b: linalg.lsqr(MATRIX.with_data(data), b, **EXACT)[0],
    "lsmr": lambda data, b: linalg.lsmr(MATRIX.with_data(data), b, **EXACT)[0],
    "inv": lambda data, b: linalg.inv(MATRIX.with_data(data)) @ b,
    "expm": lambda data, b: linalg.expm(MATRIX.with_data(0.1 * data)) @ b,
    "gmres": lambda data, b: linalg.gmres(
        linalg.aslinearoperator(MATRIX.with_data(data)), b, rtol=1e-13
    )[0],
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", LOSSES)
def test_in_frameworks(name):
    """Gradients and second derivatives, compiled in JAX."""

    def loss(data, b):
        return (LOSSES[name](data, b) ** 2).sum()

    known = grad(loss, (0, 1))(X, B)
    found = jax.jit(jax.grad(loss, (0, 1)))(X, B)
    tensors = [torch.tensor(x, requires_grad=True) for x in (X, B)]
    loss(*tensors).backward()
    for one, two, three in zip(found, tensors, known, strict=True):
        np.testing.assert_allclose(one, three, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(two.grad, three, rtol=1e-6, atol=1e-9)
    move = np.cos(np.arange(X.size))
    slope = lambda x: grad(loss)(x, B)
    known = (slope(X + 1e-5 * move) - slope(X - 1e-5 * move)) / 2e-5
    found = jax.jit(jax.hessian(loss))(X, B) @ move
    np.testing.assert_allclose(found, known, rtol=1e-4, atol=1e-6)


@pytest.mark.full
def test_expm_multiply_as_jax_has_it():
    def loss(x, exponential):
        return (exponential(jnp.zeros((5, 5)).at[ROWS, COLUMNS].set(x)) ** 2).sum()

    known = jax.grad(lambda x: loss(x, lambda a: jax.scipy.linalg.expm(a) @ B))(X)
    found = jax.grad(
        lambda x: (linalg.expm_multiply(MATRIX.with_data(x), B) ** 2).sum()
    )(X)
    np.testing.assert_allclose(found, known, rtol=1e-8)


def test_many_unknowns():
    """Without a matrix: the derivative's equation is solved by GMRES."""
    n = 90

    def loss(d):
        A = la.LinearOperator((n, n), lambda v: d * v + 0.1 * np.roll(v, 1))
        return np.sum(la.gmres(A, np.ones(n), rtol=1e-12)[0] ** 2)

    d, move = 1 + RNG.random(n), RNG.normal(size=n)
    known = (loss(d + 1e-6 * move) - loss(d - 1e-6 * move)) / 2e-6
    assert np.isclose(grad(loss)(d) @ move, known, rtol=1e-6)


STIFF = 50.0 * sp.diags_array([np.ones(29), -2 * np.ones(30), np.ones(29)],
                              offsets=[-1, 0, 1]).tocsr()  # fmt: skip


def test_a_stiff_matrix():
    """Diffusion over many steps: a norm of 200."""

    def heat(c):
        return np.sum(la.expm_multiply(c * STIFF, np.sin(np.arange(30.0))) ** 2)

    known = (heat(1 + 1e-6) - heat(1 - 1e-6)) / 2e-6
    assert np.isclose(grad(heat)(1.0), known, rtol=1e-6)


def operator(x):
    return la.LinearOperator((5, 5), lambda v: x[0] * v)


WITHOUT_ADJOINT = la.LinearOperator((5, 5), lambda v: D @ v)
REFUSED = {
    "did not converge": lambda x: la.cg(by_products(x), B, maxiter=1)[0],
    "need the matrix": lambda x: la.eigsh(operator(x), k=2)[0],
    "norm from lsqr": lambda x: la.lsqr(matrix(x)[:, :3], B)[3],
    "rmatvec": lambda x: (
        la.LinearOperator((5, 5), lambda v: D @ v) @ B * 0
        + la.gmres(WITHOUT_ADJOINT, B * x[0])[0]
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_has_no_derivative_is_refused(message):
    errors = rc.UnsupportedError, rc.DerivativeNotImplemented
    with pytest.raises(errors, match=message):
        grad(lambda x: np.sum(REFUSED[message](x)))(X)


def test_the_operator_itself_has_no_derivative():
    """An error, not zero."""
    A = la.aslinearoperator(sp.eye_array(5).tocsr())

    def total(A):
        return np.sum(la.cg(A, B)[0])

    with pytest.raises(rc.RulesCoreError, match="is a constant"):
        grad(total)(A)


@pytest.mark.filterwarnings("ignore")
def test_a_matrix_without_full_rank_has_no_derivative():
    def total(x):
        a = sp.csr_array((x, ([0, 1], [0, 1])), shape=(3, 3))
        return np.sum(la.lsqr(a, B[:3] * x[0])[0])

    assert np.isnan(grad(total)(np.array([1.0, 2.0]))).all()
