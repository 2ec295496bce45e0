"""Captured variables that are bound to earlier contents for a while."""

import numpy as np
import pytest

from rules_core import UnsupportedError
from rules_core.extend import Reads, bound_to, check_expected, content


def program():
    k = 2.0

    def read(x):
        return k * x

    def assign(value):
        nonlocal k
        k = value

    def delete():
        nonlocal k
        del k

    return read, assign, delete


def cell_of(read):
    (cell,) = read.__closure__
    return cell


def test_a_variable_that_was_assigned_since():
    read, assign, _ = program()
    then = content(cell_of(read))
    assign(5.0)
    with bound_to([(cell_of(read), then)]):
        assert read(1.0) == 2.0
    assert read(1.0) == 5.0


def test_a_variable_that_was_deleted_since_is_unbound_again():
    read, _, delete = program()
    reads = Reads([read])
    delete()
    with reads.held("rule"):
        assert read(1.0) == 2.0
    with pytest.raises(NameError):
        read(1.0)


def test_a_variable_that_was_unbound_is_bound_again_also_after_an_error():
    read, assign, delete = program()
    delete()
    then = content(cell_of(read))
    assign(5.0)

    def run():
        with bound_to([(cell_of(read), then)]):
            read(1.0)

    with pytest.raises(NameError):
        run()
    assert read(1.0) == 5.0


def test_results_of_functions_that_run_again():
    def f(x):
        return x

    equal = np.array_equal
    reads = Reads([f], own=True)
    reads.note([np.ones(3), np.zeros((2, 2))])
    with reads.held("rule"):
        check_expected(f, [np.zeros((2, 2)), np.ones(3)], equal)
        check_expected(len, [np.full(3, 2.0)], equal)
        with pytest.raises(UnsupportedError, match="another one"):
            check_expected(f, [np.full(3, 2.0), np.zeros((2, 2))], equal)
    check_expected(f, [np.full(3, 2.0)], equal)
