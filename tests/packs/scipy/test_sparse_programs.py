"""Every method and function of sparse matrices in programs for NumPy.

The reference is the dense matrix: differences of the program itself.
"""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as la

from rules_autodiff import UnsupportedProgram, grad, hessian, jvp, vjp
from rules_core import RulesCoreError

RNG = np.random.default_rng(7)
D = np.array([[2.0, 0.0, 0.5, 0.0], [0.0, 0.3, 0.0, 0.7], [0.4, 0.0, 0.9, 0.0]])
ROWS, COLUMNS = np.nonzero(D)
X = D[ROWS, COLUMNS]
FORMATS = ("csr", "csc", "coo", "bsr", "dia")
WEIGHTS = RNG.normal(size=(12, 12))


def weighted(y):
    """A number that depends on every entry, dense or sparse."""
    if sp.issparse(y):
        y = y.toarray()
    y = np.asarray(y)
    w = WEIGHTS.ravel()[: y.size].reshape(y.shape)
    return np.sum(np.real(y * w))


def matrix(x, format="csr"):
    return sp.coo_array((x, (ROWS, COLUMNS)), shape=D.shape).asformat(format)


def square(a):
    return a @ a.T + 2.0 * sp.eye_array(3)


METHODS = {
    "matvec": lambda a: a @ np.arange(4.0),
    "matmat": lambda a: a @ WEIGHTS[:4, :2],
    "reflected": lambda a: np.arange(3.0) @ a,
    "sparse product": lambda a: a @ a.T,
    "dot": lambda a: a.dot(np.arange(4.0)),
    "sum": lambda a: a.sum(),
    "sum of columns": lambda a: a.sum(axis=0),
    "sum of rows": lambda a: a.sum(axis=1),
    "mean": lambda a: a.mean(),
    "mean of rows": lambda a: a.mean(axis=1),
    "trace": lambda a: a.trace(),
    "diagonal": lambda a: a.diagonal(),
    "upper diagonal": lambda a: a.diagonal(k=2),
    "toarray": lambda a: a.toarray(),
    "transposed": lambda a: a.T,
    "plus sparse": lambda a: a + 2.0 * a,
    "minus": lambda a: a - 0.5 * a,
    "minus dense": lambda a: a - D * D,
    "dense minus": lambda a: D - a,
    "scaled": lambda a: 3.0 * a,
    "divided": lambda a: a / 3.0,
    "negative": lambda a: -a,
    "multiply sparse": lambda a: a.multiply(a),
    "multiply dense": lambda a: a.multiply(WEIGHTS[:3, :4]),
    "multiply row": lambda a: a.multiply(np.arange(4.0)),
    "power": lambda a: a.power(3),
    "abs": lambda a: abs(a),
    "sqrt": lambda a: a.sqrt(),
    "tanh": lambda a: a.tanh(),
    "log1p": lambda a: a.log1p(),
    "conj": lambda a: a.conj(),
    "real": lambda a: a.real,
    "astype": lambda a: a.astype(np.float64),
    "copy": lambda a: a.copy(),
    "reshape": lambda a: a.reshape((4, 3)),
    "row": lambda a: a.tocsr()[1],
    "rows": lambda a: a.tocsr()[[2, 0], :],
    "columns": lambda a: a.tocsc()[:, 1:3],
    "entry": lambda a: a.tocsr()[0, 2],
    "to csr": lambda a: a.tocsr(),
    "to csc": lambda a: a.tocsc(),
    "to coo": lambda a: a.tocoo(),
    "to dia": lambda a: a.todia(),
    "to bsr": lambda a: a.tobsr(),
    "hstack": lambda a: sp.hstack([a, 2.0 * a]),
    "vstack": lambda a: sp.vstack([a, a]),
    "block": lambda a: sp.block_array([[a, None], [None, a.T]]),
    "block_diag": lambda a: sp.block_diag([a, np.ones((1, 1))]),
    "kron": lambda a: sp.kron(a, np.ones((2, 2))),
    "kron of two": lambda a: sp.kron(a, a),
    "kronsum": lambda a: sp.kronsum(a @ a.T, a @ a.T),
    "tril": lambda a: sp.tril(a),
    "triu": lambda a: sp.triu(a, 1),
    "find": lambda a: sp.find(a)[2],
    "matrix_power": lambda a: la.matrix_power(a @ a.T, 3),
    "spsolve": lambda a: la.spsolve(square(a).tocsc(), np.ones(3)),
    "splu": lambda a: la.splu(square(a).tocsc()).solve(np.ones(3), "T"),
    "factorized": lambda a: la.factorized(square(a).tocsc())(np.ones(3)),
    "cg": lambda a: la.cg(square(a), np.ones(3), rtol=1e-12)[0],
    "gmres": lambda a: la.gmres(square(a), np.ones(3), rtol=1e-12)[0],
    "minres": lambda a: la.minres(square(a), np.ones(3), rtol=1e-12)[0],
    "after argmax": lambda a: (
        a.tocoo().argmax() * a.sum() + a.nonzero()[0].sum() * a.sum()
    ),
    "questions": lambda a: a.sum() * a.nnz * a.shape[0] * (a.format != "none"),
}
MAKERS = {
    "csr": lambda x: sp.csr_array((x, COLUMNS, [0, 2, 4, 6]), shape=D.shape),
    "csc of csr": lambda x: sp.csc_array(sp.csr_array((x, (ROWS, COLUMNS)))),
    "coo": lambda x: sp.coo_array((x, (ROWS, COLUMNS))),
    "repeated": lambda x: sp.coo_array((x, (ROWS, [0] * 6)), shape=(3, 2)).tocsr(),
    "repeated csr": lambda x: sp.csr_array((x, (ROWS, [1] * 6)), shape=(3, 2)),
    "unsorted": lambda x: sp.csr_array((x, [2, 0, 3, 1, 2, 0], [0, 2, 2, 6])),
    "dense": lambda x: sp.csr_array(np.reshape(x, (2, 3))),
    "list": lambda x: sp.csr_array([[x[0], x[3]], [x[4], x[1] * x[2]]]),
    "dia": lambda x: sp.dia_array((np.reshape(x, (2, 3)), [0, 1]), shape=(3, 3)),
    "diags_array": lambda x: sp.diags_array([x[:3], x[3:5]], offsets=[0, 1]),
    "diags": lambda x: sp.diags([x[0], x[1:3]], [0, 1], shape=(3, 3)),
    "spdiags": lambda x: sp.spdiags(np.reshape(x, (2, 3)), [0, -1], 3, 3),
    "bsr": lambda x: sp.bsr_array((np.reshape(x, (1, 2, 3)), [0], [0, 1])),
    "matrix": lambda x: sp.csr_matrix((x, (ROWS, COLUMNS))) * np.arange(4.0),
    "zeros kept": lambda x: sp.csr_array((x - X, COLUMNS, [0, 2, 4, 6])),
    "in place": lambda x: scaled_in_place(matrix(x), x[0]),
    "complex": lambda x: sp.csr_array((x + 1j, (ROWS, COLUMNS))) @ np.ones(4),
}


def scaled_in_place(a, factor):
    a *= factor
    a.data[1:] *= factor
    return a


def compare(f, x, rtol=1e-6):
    dx = RNG.normal(size=x.shape)
    h = 1e-6
    want = (f(x + h * dx) - f(x - h * dx)) / (2 * h)
    value, pullback = vjp(f, x)
    np.testing.assert_allclose(value, f(x), rtol=1e-10)
    np.testing.assert_allclose(pullback(1.0)[0] @ dx, want, rtol=rtol, atol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (dx,))[1], want, rtol=rtol, atol=1e-7)


@pytest.mark.covering(every=16)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", METHODS)
def test_methods(name, format):
    compare(lambda x: weighted(METHODS[name](matrix(x, format))), X)


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("name", MAKERS)
def test_constructors(name):
    compare(lambda x: weighted(MAKERS[name](x)), X)


@pytest.mark.full
def test_second_order():
    def f(x):
        a = matrix(x)
        return np.sum(la.spsolve(square(a).tocsc(), np.ones(3)) ** 2) + (a @ a.T).sum()

    want = [(grad(f)(X + h) - grad(f)(X - h)) / 2e-6 for h in 1e-6 * np.eye(len(X))]
    np.testing.assert_allclose(hessian(f)(X), want, rtol=1e-6, atol=1e-8)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("format", FORMATS)
def test_a_matrix_as_argument(format):
    """Its gradient and its directions are matrices of its pattern."""
    a = matrix(X, format)
    found = grad(lambda a: (a @ np.arange(4.0)).sum())(a)
    assert type(found) is type(a)
    want = np.broadcast_to(np.arange(4.0), D.shape)
    stored = matrix(np.ones(6), format).toarray() != 0
    np.testing.assert_allclose(found.toarray()[stored], want[stored])
    value, slope = jvp(lambda a: a.multiply(a).sum(), (a,), (a,))
    np.testing.assert_allclose([value, slope], [np.sum(D * D), 2 * np.sum(D * D)])


def test_repeated_places_keep_their_numbers():
    a = sp.coo_array((np.ones(3), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    found = grad(lambda a: a.toarray()[0, 1] ** 2)(a)
    np.testing.assert_allclose(found.data, [4.0, 4.0, 0.0])


def item_assigned(a):
    a[0, 0] = 1.0
    return a


REFUSED = {
    "maximum": lambda a: a.maximum(0.5),
    "max": lambda a: a.max(),
    "lil": lambda a: a.tolil()[0, 0],
    "dok": lambda a: a.todok()[0, 0],
    "item assigned": item_assigned,
    "diagonal assigned": lambda a: a.setdiag(1.0),
    "sum_duplicates": lambda a: a.sum_duplicates(),
    "eliminate_zeros": lambda a: a.eliminate_zeros(),
    "factors": lambda a: la.splu(square(a).tocsc()).L,
    "spilu": lambda a: la.spilu(square(a).tocsc()).solve(np.ones(3)),
    "whole numbers": lambda a: sp.csr_array(a, dtype=int),
    "sparse right-hand side": lambda a: la.spsolve(square(a).tocsc(), a.tocsc()),
    "quotient": lambda a: a / a,
    "axis of a matrix": lambda a: sp.csr_matrix(a).sum(axis=0),
    "numpy": lambda a: np.sum(a),
    "iteration": lambda a: next(row.sum() for row in a),
    "minus itself": lambda a: a - a,
    "not converged": lambda a: la.cg(square(a), np.ones(3), maxiter=1)[0],
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_an_error(name):
    errors = (UnsupportedProgram, RulesCoreError, TypeError, AttributeError)
    with pytest.raises(errors, match=r"derivative|differentiated|rule"):
        grad(lambda x: weighted(REFUSED[name](matrix(x))))(X)


def test_a_singular_matrix_gives_no_number():
    def f(x):
        return np.sum(
            la.spsolve(sp.csc_array((x[:2] * 0.0, [0, 1], [0, 1, 2])), np.ones(2))
        )

    with pytest.warns(la.MatrixRankWarning):
        assert np.isnan(grad(f)(X)).any()
