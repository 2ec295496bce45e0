"""Which numbers a sparse matrix stores, in what order: as SciPy, or an error."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as la
from scipy.linalg import expm as dense_expm

from rules_autodiff import grad, jvp, vjp
from rules_core import UnsupportedError

# SciPy's own calls warn of the formats that they choose.
pytestmark = pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
V = np.array([2.0, 3.0, 0.5, 1.5, 4.0, 7.0])
DV = np.array([0.3, 0.7, 0.2, -0.1, 0.4, 0.9])
WEIGHTS = np.random.default_rng(7).normal(size=400)
EYE = np.eye(3)


def matrix(v, format="csr"):
    return sp.csr_array((v * 1.0, [0, 2, 1, 0, 2, 1], [0, 2, 3, 6])).asformat(format)


def dense(v):
    return np.reshape(v, (2, 3))


def stored(y):
    """A number that depends on the count and the order of the stored numbers."""
    data = np.ravel(y.data if sp.issparse(y) else y)
    return data @ WEIGHTS[: data.size] + 100 * data.size


STORED = {
    "dense": lambda v: sp.csr_array(dense(v)),
    "dense dia": lambda v: sp.dia_array(dense(v)),
    "dense bsr": lambda v: sp.bsr_array(dense(v)),
    "constant dense": lambda v: sp.csr_array(EYE).data * v[0],
    "product": lambda v: matrix(v) @ matrix(v),
    "csc product": lambda v: matrix(v, "csc") @ matrix(v),
    "coo product": lambda v: matrix(v, "coo") @ matrix(v),
    "plus": lambda v: matrix(v) + matrix(v).T,
    "minus": lambda v: matrix(v) - 2 * matrix(v),
    "bsr plus": lambda v: matrix(v, "bsr") + matrix(v, "bsr"),
    "times": lambda v: matrix(v) * matrix(v).T,
    "times dense": lambda v: matrix(v).multiply(np.arange(9.0).reshape(3, 3)),
    "hstack": lambda v: sp.hstack([matrix(v), EYE]),
    "block_array": lambda v: sp.block_array([[matrix(v), EYE], [None, matrix(v)]]),
    "block_diag": lambda v: sp.block_diag([matrix(v), EYE]),
    "kron": lambda v: sp.kron(matrix(v), EYE),
    "kron of constant": lambda v: sp.kron(EYE, matrix(v)),
    "kron of dense": lambda v: sp.kron(dense(v), EYE),
    "kron as csr": lambda v: sp.kron(matrix(v), matrix(v), "csr"),
    "kronsum": lambda v: sp.kronsum(matrix(v), matrix(v)),
    "kronsum of constant": lambda v: sp.kronsum(matrix(v), EYE),
    "tril": lambda v: sp.tril(dense(v)),
    "find": lambda v: sp.find(matrix(v))[2],
    "zeros": lambda v: matrix(v - 2.0).tocsc(),
    "product with zeros": lambda v: matrix(v - 2.0) @ matrix(v),
    "diagonal with zeros": lambda v: diagonal(v) @ np.ones(3),
    "sum of zeros": lambda v: diagonal(v).sum(axis=0) + diagonal(v).sum(),
    "inv of a triangle": lambda v: la.inv(triangle(v)),
    "expm of a triangle": lambda v: la.expm(triangle(v)),
    "spsolve of a triangle": lambda v: la.spsolve(triangle(v), triangle(v[::-1])),
    "zeros plus": lambda v: diagonal(v) + sp.eye_array(3),
}


def triangle(v, format="csc"):
    rows, columns = [0, 1, 2, 0, 3], [0, 1, 2, 2, 3]
    return sp.coo_array((v[[0, 1, 3, 4, 5]], (rows, columns))).asformat(format)


def diagonal(v, **options):
    return sp.diags_array([v[:3] - 2.0], offsets=[0], **options)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", STORED)
def test_the_stored_numbers_are_those_of_scipy(name):
    def f(v):
        return stored(STORED[name](v))

    want = (f(V + 1e-6 * DV) - f(V - 1e-6 * DV)) / 2e-6
    value, pullback = vjp(f, V)
    assert value == pytest.approx(f(V), rel=1e-12)
    assert pullback(1.0)[0] @ DV == pytest.approx(want, rel=1e-6, abs=1e-6)
    assert jvp(f, (V,), (DV,))[1] == pytest.approx(want, rel=1e-6, abs=1e-6)


DROPPED = {
    "dense": lambda v: sp.csr_array(np.diag(v)),
    "matrix": lambda v: sp.csc_matrix(np.diag(v)),
    "list": lambda v: sp.csr_array([[v[0], 0.0], [0.0, v[1]]]),
    "hstack": lambda v: sp.hstack([matrix(v), np.diag(v[:3])]),
    "kron": lambda v: sp.kron(np.diag(v), EYE),
    "tril": lambda v: sp.tril(np.diag(v)),
    "find": lambda v: sp.find(matrix(v - 2.0))[2],
    "minus itself": lambda v: matrix(v) - matrix(v),
    "sum of zeros": lambda v: matrix(v - 2.0) + matrix(v - 2.0),
    "inv": lambda v: la.inv(triangle(v - V * at(4))),
    "expm": lambda v: la.expm(triangle(v - V * at(4))),
    "expm of csr": lambda v: la.expm(triangle(v - V * at(4), "csr")),
    "expm of coo": lambda v: la.expm(triangle(1e-3 * (v - V * at(4)), "coo")),
    "spsolve": lambda v: la.spsolve(triangle(v - V * at(4)), sp.eye_array(4)),
    "spsolve for zeros": lambda v: la.spsolve(triangle(v), triangle(v - V * at(1))),
    "inv of ones": lambda v: la.inv(sp.csc_array(np.tril(np.ones((3, 3))) * v[:3])),
    "diagonal": lambda v: diagonal(v).tocsr(),
    "format": lambda v: diagonal(v, format="csr"),
}


def at(i):
    return np.eye(6)[i]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", DROPPED)
def test_zeros_that_scipy_drops_are_refused(name):
    def f(v):
        return stored(DROPPED[name](v))

    with pytest.raises(UnsupportedError, match="drops numbers that are zero"):
        grad(f)(V)
    with pytest.raises(UnsupportedError, match="drops numbers that are zero"):
        jvp(f, (V,), (DV,))


@pytest.mark.full
def test_numbers_that_are_too_small_to_be_stored_are_no_loss():
    ones = np.ones(150)

    def chain(v):
        return sp.diags_array([ones * v[0], ones * v[1]], offsets=[1, -1]).tocsc()

    v = np.array([1e-3, 2e-3])
    assert la.expm(chain(v)).nnz < 151**2
    want = grad(lambda v: dense_expm(chain(v).toarray()).sum())(v)
    np.testing.assert_allclose(grad(lambda v: la.expm(chain(v)).sum())(v), want)


@pytest.mark.parametrize("format", ["csc", "coo"])
def test_scipy_does_not_change_the_matrix(format):
    """It sorts and adds up entries in place, where numbers would lose derivatives."""

    def f(v):
        a = sp.coo_array((v[:4] / 9, ([1, 0, 1, 1], [1, 1, 0, 0]))).asformat(format)
        return stored(la.expm(a))

    def g(v):
        a = sp.csc_array((v[:4] / 9, [1, 1, 0, 1], [0, 2, 4]))
        return stored(la.expm(a))

    for program in (f, g):
        want = (program(V + 1e-6 * DV) - program(V - 1e-6 * DV)) / 2e-6
        assert grad(program)(V) @ DV == pytest.approx(want, rel=1e-6)
