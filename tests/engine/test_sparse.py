"""Numbers written into a sparse matrix carry their derivative."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu, spsolve

from rules_autodiff import UnsupportedProgram, jvp, vjp

X = np.array([1.0, 2.0, 3.0])
DX = np.array([0.3, -0.2, 0.7])
ONES = np.ones(3)
FORMATS = ("csr", "csc", "coo", "dia", "bsr")


def by_slice(m, x):
    m.data[...] = x.reshape(m.data.shape)


def by_name(m, x):
    m.data = x.reshape(m.data.shape)


def by_product(m, x):
    m.data *= x.reshape(m.data.shape)


USES = {
    "matmul": lambda m: np.sum(m @ ONES),
    "reflected": lambda m: np.sum(ONES @ m),
    "dot": lambda m: np.sum(m.dot(ONES)),
    "dense": lambda m: np.sum(m.toarray()),
    "spsolve": lambda m: np.sum(spsolve(m.tocsc(), ONES)),
    "splu": lambda m: np.sum(splu(m.tocsc()).solve(ONES)),
    "transposed": lambda m: np.sum(m.T @ ONES),
    "diagonal": lambda m: np.sum(m.diagonal()),
    "sum": lambda m: m.sum(),
    "scaled": lambda m: (2.0 * m).sum(),
    "negative": lambda m: (-m).sum(),
    "added": lambda m: (m + m).sum(),
    "power": lambda m: (m**2).sum(),
    "copy": lambda m: np.sum(m.copy().data),
    "in a list": lambda m: next(m @ ONES for m in [m]).sum(),
    "data": lambda m: np.sum(m.data * 2.0),
}


def compare(f):
    """Compare a program with differences, in both modes."""
    want = (f(X + 1e-6 * DX) - f(X - 1e-6 * DX)) / 2e-6
    value, pullback = vjp(f, X)
    slopes = pullback(1.0)[0] @ DX, jvp(f, (X,), (DX,))[1]
    np.testing.assert_allclose(value, f(X))
    np.testing.assert_allclose(slopes, want, rtol=1e-5)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("write", [by_slice, by_name, by_product])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("use", USES)
def test_numbers_written_into_a_matrix(use, format, write):
    def f(x):
        m = sp.eye_array(3, format=format)
        write(m, x)
        return USES[use](m)

    compare(f)


def test_a_matrix_of_constants_beside_values_with_derivatives():
    m = sp.eye_array(3, format="csr")
    with pytest.raises(UnsupportedProgram):
        vjp(lambda x: np.multiply(x[0], m).sum(), X)
    compare(lambda x: np.sum(m @ x))
    compare(lambda x: np.sum(x * m.sum()))


def test_a_sum_by_numpy_is_refused():
    """NumPy would ask the matrix for its own method, unseen."""

    def f(x):
        m = sp.eye_array(3, format="csr")
        m.data = x
        return np.sum(m)

    with pytest.raises(UnsupportedProgram, match="operands of an array"):
        vjp(f, X)


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "power", "maximum"])
def test_a_sparse_operand_of_a_ufunc_is_refused(name):
    """Also where ufuncs do not say that they are NumPy's, as those of 2.1."""
    f, m = getattr(np, name), sp.eye_array(3, format="csr")
    for program in (lambda x: f(x[0], m), lambda x: f(m, x[0])):
        for transform in (vjp, lambda f, x: jvp(f, (x,), (x,))):
            with pytest.raises(UnsupportedProgram, match="operands of an array"):
                transform(program, X)
