"""Sparse arrays of one dimension."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as la

from rules_autodiff import grad, jvp
from rules_core import UnsupportedError

X = np.array([1.0, 2.0, 0.7])
DX = np.array([0.3, -0.7, 0.2])
V = np.array([1.5, -2.0, 3.0])
WIDE = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
SQUARE = sp.csr_array(np.arange(9.0).reshape(3, 3) + 1)
WEIGHTS = np.random.default_rng(7).normal(size=30)

MAKERS = {
    "csr": lambda x: sp.csr_array(x),
    "coo": lambda x: sp.coo_array((x, ([2, 0, 1],)), shape=(3,)),
    "repeated": lambda x: sp.coo_array((x, ([2, 2, 0],)), shape=(3,)),
    "row": lambda x: sp.csr_array((x, ([0, 0, 0], [0, 1, 2])))[0],
}
METHODS = {
    "times vector": lambda a: a @ V,
    "times matrix": lambda a: a @ WIDE.T,
    "times sparse": lambda a: a @ SQUARE,
    "vector times": lambda a: V @ a,
    "matrix times": lambda a: WIDE @ a,
    "sparse times": lambda a: SQUARE @ a,
    "dot": lambda a: a.dot(V),
    "plus": lambda a: a + 2 * a,
    "minus": lambda a: a - 3 * a,
    "from dense": lambda a: V - a,
    "entries": lambda a: a * V,
    "divided": lambda a: a / V,
    "power": lambda a: a.power(2),
    "abs": lambda a: abs(a),
    "tanh": lambda a: a.tanh(),
    "sum": lambda a: a.sum(axis=0),
    "mean": lambda a: a.mean(),
    "entry": lambda a: a[1],
    "reshaped": lambda a: a.reshape((1, 3)),
    "converted": lambda a: a.tocoo().tocsr(),
    "stacked": lambda a: sp.vstack([a, a]),
    "kron": lambda a: sp.kron(a, SQUARE),
    "norm": lambda a: la.norm(a),
}


def weighted(y):
    y = np.ravel(y.toarray() if sp.issparse(y) else y)
    return y @ WEIGHTS[: y.size] + np.sum(y**2)


@pytest.mark.covering(every=8)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", METHODS)
def test_vectors(name, maker):
    def f(x):
        return weighted(METHODS[name](MAKERS[maker](1 * x)))

    want = (f(X + 1e-6 * DX) - f(X - 1e-6 * DX)) / 2e-6
    assert grad(f)(X) @ DX == pytest.approx(want, rel=1e-6)
    assert jvp(f, (X,), (DX,))[1] == pytest.approx(want, rel=1e-6)


def test_products_of_two_vectors():
    assert grad(lambda x: sp.csr_array(x) @ sp.csr_array(x))(X).tolist() == [2, 4, 1.4]


def test_repeated_places_that_scipy_multiplies_apart_are_an_error():
    for f in (lambda a: a @ a, lambda a: (a * a).sum()):
        with pytest.raises(UnsupportedError, match="stand in one place"):
            grad(lambda x, f=f: f(MAKERS["repeated"](x)))(X)
