"""Constants beside numbers with a derivative: whole numbers, lists, every format."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import KDTree

from rules_autodiff import grad, jvp
from rules_core import UnsupportedError

X = np.array([3.0, 1.5, 0.5, 4.0])
DX = np.array([0.3, -0.7, 0.2, 0.1])
WEIGHTS = np.random.default_rng(7).normal(size=100)
EYE = np.eye(2, dtype=int)
CONSTANTS = {
    "whole": sp.csr_array(EYE),
    "small": sp.coo_array(2 * EYE.astype(np.int8)),
    "bool": sp.csc_array(EYE.astype(bool)),
    "dense": EYE - 2,
    "list": [[1, 1], [0, 2]],
    "lil": sp.lil_array(EYE),
    "dok": sp.dok_array(1.0 * EYE),
}
FUNCTIONS = {
    "hstack": lambda a, b: sp.hstack([a, b]),
    "vstack": lambda a, b: sp.vstack([b, a]),
    "block_array": lambda a, b: sp.block_array([[a, b], [None, a]]),
    "block_diag": lambda a, b: sp.block_diag([a, b, 1]),
    "kron": lambda a, b: sp.kron(b, a),
}
MADE = {
    "diags": lambda x: sp.diags([x, 1], [0, 1], shape=(4, 4)),
    "diags_array": lambda x: sp.diags_array([[1, 2, 1], x], offsets=[1, 0]),
    "spdiags": lambda x: sp.spdiags([x, np.ones(4, int)], [0, 1], 4, 4),
    "dia": lambda x: sp.dia_array(([x, np.arange(4)], [0, 1]), shape=(4, 4)),
    "coo": lambda x: sp.coo_array(([x[0], 1, x[1]], ([0, 1, 1], [0, 0, 1]))),
    "bool": lambda x: sp.coo_array(([x[0], True], ([0, 1], [0, 0]))),
}


def square(x):
    return sp.csr_array((x, ([0, 0, 1, 1], [0, 1, 0, 1])))


def weighted(a):
    return np.ravel(a.toarray()) @ WEIGHTS[: np.prod(a.shape)] + np.sum(a.data**2)


def compare(f):
    want = (f(X + 1e-6 * DX) - f(X - 1e-6 * DX)) / 2e-6
    assert grad(f)(X) @ DX == pytest.approx(want, rel=1e-6)
    value, slope = jvp(f, (X,), (DX,))
    assert (value, slope) == (pytest.approx(f(X)), pytest.approx(want, rel=1e-6))


@pytest.mark.covering(every=6)
@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_constants_stay_what_they_are(name, constant):
    compare(lambda x: weighted(FUNCTIONS[name](square(x), CONSTANTS[constant])))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", MADE)
def test_whole_numbers_among_others_are_constants(name):
    compare(lambda x: weighted(MADE[name](x)))


def test_places_are_not_sorted_for_the_program():
    """SciPy sorts the memory of a vector's numbers and places."""
    places, numbers = np.array([2, 0, 1, 3]), 1.0 * X

    def f(x):
        a = sp.coo_array((1 * x, (places,)), shape=(4,))
        return a.tocsr().toarray() @ WEIGHTS[:4]

    assert grad(f)(numbers).tolist() == WEIGHTS[places].tolist()
    assert places.tolist() == [2, 0, 1, 3]


def test_a_tree_has_no_derivatives_in_a_dict_of_keys():
    def f(x):
        points = np.reshape(x, (2, 2))
        return KDTree(points).sparse_distance_matrix(KDTree(points + 0.1), 1.0).sum()

    with pytest.raises(UnsupportedError, match="output_type='coo_matrix'"):
        grad(f)(X)
