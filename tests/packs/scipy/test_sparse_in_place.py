"""Operators and functions of sparse matrices that may write to their argument."""

import numpy as np
import pytest
import scipy.sparse as sp

from rules_autodiff import grad, jvp

X = np.array([3.0, 1.0, 0.5, 4.0])
DX = np.array([0.3, -0.7, 0.2, 0.1])
WIDE = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
TALL = WIDE.T


def square(x):
    return sp.csr_array((x, ([0, 0, 1, 1], [0, 1, 0, 1])))


def wide(x):
    return sp.coo_array((1 * x, ([0, 0, 1, 1], [0, 2, 1, 2])), shape=(2, 3))


def weighted(a, weights):
    return np.sum(a.toarray() * weights)


def subtracted(x):
    a = b = square(x)
    a -= 3 * square(x * x)  # a new matrix
    return weighted(a, WIDE[:, :2]) * b.sum()


def added(x):
    a = b = sp.csr_matrix(square(x))
    a += 2 * square(x * x)
    return weighted(a, WIDE[:, :2]) * b.sum()


def added_to_constant(x):
    a = 1.0 * square(X)
    a += 2 * square(x)
    return weighted(a, WIDE[:, :2])


def multiplied(x):
    a = b = square(x)
    a *= x[0]  # the matrix itself
    return weighted(a, WIDE[:, :2]) * b.sum()


def times_matrix(x):
    a = b = square(x)
    a @= square(x * x)
    return weighted(a, WIDE[:, :2]) * b.sum()


def turned(x):
    a = wide(x)
    b = sp.permute_dims(a, (1, 0))
    a.data[0] *= x[1]
    return weighted(b, TALL) + weighted(a, TALL**2)  # it is `a`, in SciPy too


def turned_copy(x):
    a = wide(x)
    b = sp.permute_dims(a, axes=(1, 0), copy=True)
    a.data[0] *= x[1]
    return weighted(b, TALL) + weighted(a, WIDE**2)


def turned_csr(x):
    return weighted(sp.permute_dims(wide(x).tocsr()), TALL)


def not_turned(x):
    return weighted(sp.permute_dims(wide(x), (0, 1)), WIDE)


def swapped(x):
    return weighted(sp.swapaxes(wide(x), 0, 1), TALL)


PROGRAMS = [
    subtracted, added, added_to_constant, multiplied, times_matrix, turned,
    turned_copy, turned_csr, not_turned, swapped,
]  # fmt: skip


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_matrices_are_those_of_the_program(f):
    if not hasattr(sp, "permute_dims") and ("turned" in f.__name__ or f is swapped):
        pytest.skip("this SciPy has no permute_dims")
    want = (f(X + 1e-6 * DX) - f(X - 1e-6 * DX)) / 2e-6
    assert grad(f)(X) @ DX == pytest.approx(want, rel=1e-6)
    value, slope = jvp(f, (X,), (DX,))
    assert (value, slope) == (pytest.approx(f(X)), pytest.approx(want, rel=1e-6))
