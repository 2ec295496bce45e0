"""Copies of numbers carry their derivatives: older NumPy makes new objects of them."""

import copy

import numpy as np
import pytest

from rules_autodiff import grad, jvp

KINDS = [float, np.float64, np.float32, np.longdouble, complex, np.complex64]
COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "in a list": lambda x: copy.deepcopy([x])[0],
    "in a dict": lambda x: copy.deepcopy({"a": (x,)})["a"][0],
    "twice in one": lambda x: sum(copy.deepcopy([x, x])) / 2,
    "with a memo": lambda x: copy.deepcopy(x, {}),
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_carries_its_derivative(kind, copied):
    def program(x):
        return (copied(kind(x[1] * x[0])) * 2).real

    x = np.array([0.5, -1.25])
    assert program(x) == -1.25
    assert [program(x), grad(program)(x).tolist()] == [-1.25, [-2.5, 1.0]]
    assert jvp(program, (x,), (np.array([1.0, 2.0]),))[1] == -0.5
    assert grad(program)(x).tolist() == [-2.5, 1.0]  # by code that is written by then


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_the_object_itself_where_it_is_so_without_the_engine(kind, copied):
    def program(x):
        y = kind(x[1])
        return x[0] * (2.0 if copied(y) is y else 3.0)

    x = np.array([0.5, -1.25])
    assert grad(program)(x).tolist() == [program(x) / 0.5, 0.0]
