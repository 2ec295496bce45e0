"""Second derivatives while results are learned: what notes them is not a program."""

import numpy as np
import pytest

from rules_autodiff import grad, jvp
from rules_autodiff.straight._runtime.learned import LEARNED

scipy_linalg = pytest.importorskip("scipy.linalg")
A = np.array([[2.0, 0.3], [0.1, 1.0]])


def x_exp_x(x):
    return np.exp(x) * x


def of_matrix(t):
    return scipy_linalg.funm(A * t, x_exp_x).real.sum()


def test_forward_over_reverse_through_a_function_of_a_rule():
    slope, h = grad(of_matrix), 1e-4
    LEARNED.start()
    _, bend = jvp(slope, (1.0,), (1.0,))
    assert np.isclose(bend, (slope(1 + h) - slope(1 - h)) / (2 * h), rtol=1e-6)
