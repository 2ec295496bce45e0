"""Numbers in arrays of objects and records: every rule refuses them."""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad
from tests.packs.numpy.of_objects import mistake, of_rrule
from tests.packs.numpy.reports import reported

OBJECTS = np.array([0.5, 0.7], object)
RECORDS = np.array([(1.0, 2.0)], dtype=[("a", float), ("b", float)])
NAMES = np.array(["a", None, 2], object)


@pytest.mark.full
def test_every_checked_call_with_arrays_of_objects():
    """Neither a zero nor an error about something else: see of_objects.py."""
    *mistakes, looked = reported("of_objects", after="mistakes")
    assert mistakes == []
    assert int(looked.split()[0]) > 1000


def dropped(x):
    return x * 1.0


def test_a_rule_that_drops_them_is_found():
    with rc.testing.isolated_rules():

        @rc.rrule.define(dropped)
        def dropped_rrule(x):
            return dropped(x), lambda dy: (rc.NoTangent(), rc.NoTangent())

        assert "NoTangent" in mistake(of_rrule, dropped, (OBJECTS,), {})


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (operator.add, (OBJECTS, OBJECTS)),
        (operator.matmul, (OBJECTS, OBJECTS)),
        (operator.getitem, (OBJECTS, 0)),
        (np.ndarray.__getitem__, (OBJECTS, 0)),
        (np.ndarray.item, (OBJECTS, 0)),
        (np.concatenate, ([OBJECTS, OBJECTS],)),
        (np.array, ([OBJECTS, OBJECTS],)),
        (np.take, (RECORDS, [0])),
        (np.copy, (RECORDS,)),
        (builtins.sum, (OBJECTS,)),
        (builtins.sum, ([OBJECTS, OBJECTS],)),
        (builtins.max, (OBJECTS,)),
        (builtins.abs, (OBJECTS,)),
        (builtins.pow, (OBJECTS, 2)),
        (math.fsum, (OBJECTS,)),
        (math.dist, (OBJECTS, OBJECTS)),
        (np.random.permutation, (OBJECTS,)),
    ],
)
def test_what_check_rule_is_not_asked_about(f, args):
    with pytest.raises(rc.UnsupportedError, match=r"numbers"):
        rc.rrule(f, *args)[1](np.ones(np.shape(f(*args))))


@pytest.mark.parametrize("f", [np.dot, np.multiply, np.take])
def test_the_error_names_function_and_cure(f):
    args = (OBJECTS, 0) if f is np.take else (OBJECTS, OBJECTS)
    with pytest.raises(rc.UnsupportedError) as caught:
        rc.rrule(f, *args)
    assert str(caught.value) == (
        f"the derivative of numpy.{f.__name__} must be given arrays of numbers, but "
        "got objects. Convert it by .astype(float) first."
    )


def test_names_have_no_tangent():
    for f, args in [(np.take, (NAMES, [0, 1])), (np.ravel, (NAMES,))]:
        y, pullback = rc.rrule(f, *args)
        assert list(y) == list(f(*args))
        assert set(pullback(rc.ZeroTangent())) == {rc.NoTangent()}


def test_names_beside_numbers_in_a_program():
    def program(x):
        chosen = np.take(NAMES, 0)
        return x * 3.0 if chosen == "a" else x

    assert grad(program)(2.0) == 3.0


def test_records_in_forward_mode():
    x, pair = np.ones(2), np.dtype([("p", float), ("q", float)])
    tangents = rc.ZeroTangent(), np.ones(2), rc.NoTangent()
    _, dy = rc.frule(tangents, np.ndarray.astype, x, pair)
    assert isinstance(dy, rc.NotImplementedTangent)
