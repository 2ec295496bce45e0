"""Calls in forms that rules do not name: options, integers, the order of entries."""

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, jvp, vjp

X = np.array([1.0, 2.0, 3.0])
S = np.array([[3.0, 1.0], [0.0, 2.0]])


def forwards(f, x):
    """The gradient by forward mode."""
    return np.array([jvp(f, (x,), (unit,))[1] for unit in np.eye(len(x))])


@pytest.mark.parametrize("ord", [1, 1.5, 2, 2.5, 3, -1.5])
def test_norms_of_any_order(ord):
    f = lambda x: scipy.linalg.norm(x, ord)
    expected = X ** (ord - 1) * np.sum(X**ord) ** (1 / ord - 1)
    np.testing.assert_allclose(grad(f)(X), expected)
    np.testing.assert_allclose(forwards(f, X), expected)


def test_the_function_of_funm_stores_nothing():
    def stored(c):
        seen = []
        scipy.linalg.funm(S * c, lambda z: (seen.append(z), np.exp(z))[1])
        return seen[0].real.sum()

    for slope in (grad(stored), lambda c: jvp(stored, (c,), (1.0,))):
        with pytest.raises(UnsupportedProgram, match="must not write"):
            slope(1.0)


@pytest.mark.parametrize("name", ["expm", "logm", "sqrtm"])
def test_estimates_of_errors_are_refused(name):
    f = getattr(scipy.linalg, name)
    if name == "expm":
        assert np.isfinite(grad(lambda c: f(S * c).sum())(0.5))
        return
    with pytest.raises(rc.UnsupportedError, match="disp=False"):
        grad(lambda c: f(S * c, disp=False)[0].sum().real)(0.5)


ROWS, COLUMNS = np.array([0, 1, 1]), np.array([1, 1, 0])  # row 1 is not in order


def made(data, form):
    coo = scipy.sparse.coo_array((data, (ROWS, COLUMNS)), shape=(2, 2))
    if form == "coo":
        return coo
    kind = getattr(scipy.sparse, f"{form}_array")
    if form == "csr":
        return kind((data.copy(), COLUMNS.copy(), [0, 1, 3]), shape=(2, 2))
    return kind((data[[1, 0, 2]], [1, 0, 1], [0, 0, 3]), shape=(2, 2))


BY_ENTRY = {
    "abs": abs,
    "power": lambda a: a.power(2),
    "expm1": lambda a: a.expm1(),
    "sin": lambda a: a.sin(),
    "astype": lambda a: a.astype(np.float32).astype(np.float64),
}


@pytest.mark.parametrize("form", ["coo", "csr"])
@pytest.mark.parametrize("name", BY_ENTRY)
def test_numbers_stand_in_scipys_order(name, form):
    def numbers(data):
        return BY_ENTRY[name](made(data, form)).data

    value, pull = vjp(numbers, X)
    np.testing.assert_array_equal(value, numbers(X))
    h = 1e-3
    jacobian = np.array(
        [(numbers(X + h * e) - numbers(X - h * e)) / (2 * h) for e in np.eye(3)]
    )
    for i, unit in enumerate(np.eye(3)):
        np.testing.assert_allclose(pull(unit)[0], jacobian[:, i], rtol=2e-3, atol=1e-6)


SOLVERS = {
    "spsolve": lambda A, b: scipy.sparse.linalg.spsolve(A, b),
    "splu": lambda A, b: scipy.sparse.linalg.splu(A).solve(b),
    "factorized": lambda A, b: scipy.sparse.linalg.factorized(A)(b),
    "spsolve_triangular": lambda A, b: scipy.sparse.linalg.spsolve_triangular(
        A.tocsr(), b, lower=False
    ),
    "cg": lambda A, b: scipy.sparse.linalg.cg(A @ A.T, b, rtol=1e-12)[0],
    "product": lambda A, b: A @ b,
}


@pytest.mark.filterwarnings("ignore:splu converted its input")
@pytest.mark.parametrize("name", SOLVERS)
def test_matrices_of_integers(name):
    A, b = scipy.sparse.csc_array(np.array([[2, 1], [0, 3]])), np.array([1.0, 2.0])
    f = lambda b: SOLVERS[name](A, b).sum()
    plain = np.array([f(e) for e in np.eye(2)])  # it is linear
    np.testing.assert_allclose(grad(f)(b), plain, rtol=1e-6)
    np.testing.assert_allclose(forwards(f, b), plain, rtol=1e-6)


def preconditioned(name, c, matvec):
    A = scipy.sparse.csr_array(S @ S.T)
    M = scipy.sparse.linalg.LinearOperator((2, 2), matvec=matvec)
    solve = getattr(scipy.sparse.linalg, name)
    return solve(A, c * np.ones(2), M=M, rtol=1e-12)[0].sum()


@pytest.mark.parametrize("name", ["bicgstab", "cg", "gmres", "minres"])
def test_preconditioners_without_an_adjoint(name):
    f = lambda c: preconditioned(name, c, lambda r: r / np.array([10.0, 4.0]))
    expected = np.linalg.solve(S @ S.T, np.ones(2)).sum()
    np.testing.assert_allclose(grad(f)(0.7), expected)
    np.testing.assert_allclose(jvp(f, (0.7,), (1.0,))[1], expected)


STORING = {
    "preconditioner": lambda c, f: preconditioned("cg", c, f),
    "schur": lambda c, f: scipy.linalg.schur(S * c, sort=lambda x, y=0: f(x) > 0),
    "detrend": lambda c, f: scipy.signal.welch(np.arange(300.0) * c, detrend=f),
}


@pytest.mark.parametrize("name", STORING)
def test_functions_among_options_store_nothing(name):
    def stored(c):
        seen = []
        STORING[name](c, lambda x: (seen.append(np.sum(x)), x)[1])
        return np.real(seen[-1])

    for slope in (grad(stored), lambda c: jvp(stored, (c,), (1.0,))):
        with pytest.raises(UnsupportedProgram, match="must not write"):
            slope(0.7)
