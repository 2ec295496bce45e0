"""Captured variables that are bound to earlier contents for a while."""

import pytest

from rules_core.extend import Reads, bound_to, content


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
