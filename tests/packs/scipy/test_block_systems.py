"""Systems between neighbouring nodes: their matrix is found, and solved with."""

import itertools

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_scipy.integrate._block_systems import solved_adjoint, solved_forwards

SIZES = list(itertools.product((1, 2, 3), (2, 3, 4, 7), (0, 1, 2)))


def matrix(n, m, k, seed=0):
    """A matrix with entries where they may stand, and far from singular."""
    A = np.zeros((n * m + k, n * m + k))
    made = np.random.default_rng(seed)
    node = np.arange(n) * m
    for i in range(m - 1):
        rows = np.arange(n) * (m - 1) + i
        A[np.ix_(rows, node + i)] = made.normal(size=(n, n)) - 2.0 * np.eye(n)
        A[np.ix_(rows, node + i + 1)] = made.normal(size=(n, n)) + 2.0 * np.eye(n)
    ends = n * (m - 1) + np.arange(n + k)
    for place in (0, m - 1):
        A[np.ix_(ends, node + place)] = made.normal(size=(n + k, n))
    A[:, n * m :] = made.normal(size=(n * m + k, k))
    return A


@pytest.mark.parametrize("sizes", SIZES)
def test_solutions(sizes):
    A = matrix(*sizes)
    b = np.cos(np.arange(len(A)))
    found = solved_forwards(lambda v: A @ v, b, sizes)
    np.testing.assert_allclose(found, np.linalg.solve(A, b), rtol=1e-8, atol=1e-8)
    found = solved_adjoint(lambda w: A.T @ w, b, sizes)
    np.testing.assert_allclose(found, np.linalg.solve(A.T, b), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("solve", [solved_forwards, solved_adjoint])
@pytest.mark.parametrize("k", [0, 2])
def test_derivatives_are_those_of_the_whole_matrix(solve, k):
    """In the matrix and in the right-hand side, in both modes."""
    sizes, A, dA = (2, 4, k), matrix(2, 4, k), matrix(2, 4, k, seed=1)
    b, db = np.cos(np.arange(len(A))), np.sin(np.arange(len(A)))
    if solve is solved_adjoint:
        A, dA = A.T, dA.T

    def along(t):
        return solve(lambda v: (A + t * dA) @ v, b + t * db, sizes)

    wanted = np.linalg.solve(A, db - dA @ np.linalg.solve(A, b))
    np.testing.assert_allclose(jvp(along, (0.0,), (1.0,))[1], wanted, rtol=1e-7)
    weights = np.sqrt(np.arange(1.0, 1.0 + len(A)))
    found = grad(lambda t: weights @ along(t))(0.0)
    np.testing.assert_allclose(found, weights @ wanted, rtol=1e-7)


@pytest.mark.parametrize("solve", [solved_forwards, solved_adjoint])
@pytest.mark.parametrize("size", [1e-5, 1.0])
@pytest.mark.parametrize("place", [(0, 3), (4, 2), (1, 4)])
def test_an_entry_elsewhere_is_an_error(solve, size, place):
    A = matrix(1, 5, 1)
    assert A[place] == 0.0
    A[place] = size
    A = A.T if solve is solved_adjoint else A

    def solved(b):
        return solve(lambda v: A @ v, b, (1, 5, 1)).sum()

    with pytest.raises(rc.UnsupportedError, match="depends on another node"):
        grad(solved)(np.ones(6))


@pytest.mark.parametrize("solve", [solved_forwards, solved_adjoint])
@pytest.mark.filterwarnings("ignore:Matrix is exactly singular")
def test_a_singular_matrix_has_no_solution(solve):
    A = matrix(1, 4, 0)
    A[:, 1] = 0.0
    A = A.T if solve is solved_adjoint else A

    def solved(b):
        return solve(lambda v: A @ v, b, (1, 4, 0)).sum()

    with pytest.raises(rc.UnsupportedError, match="not isolated"):
        grad(solved)(np.ones(4))
