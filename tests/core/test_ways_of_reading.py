"""What functions read is found by whatever way their code reads it."""

from functools import partial

import numpy as np
import pytest

from rules_core.extend import Reads
from tests.ways_of_reading import WAYS, program


@pytest.mark.parametrize(
    "captured", [True, pytest.param(False, marks=pytest.mark.full)]
)
@pytest.mark.parametrize("name", WAYS)
def test_a_change_is_seen(name, captured, tmp_path):
    with program(name, tmp_path) as (f, change):
        before = f(0.5, 1.3)
        reads = Reads([f], captured=captured)
        assert reads.changed() is None
        assert f(0.5, 1.3) == before
        reads.settle()
        assert reads.changed() is None
        change()
        assert f(0.5, 1.3) != before
        assert reads.changed() is not None


def with_defaults():
    def f(x, a=None, b=None, *, c=None, d=None):
        return a * x + b * c * d

    f.__defaults__ = np.ones(1), np.ones(1)
    f.__kwdefaults__ = {"c": np.ones(1), "d": 2.0}
    return f, {
        "first": lambda: f.__defaults__[0].fill(3.0),
        "last": lambda: f.__defaults__[1].fill(3.0),
        "by name": lambda: f.__kwdefaults__["c"].fill(3.0),
        "others": lambda: setattr(f, "__defaults__", (np.zeros(1), f.__defaults__[1])),
    }


def with_arguments():
    def f(a, b, x, *, c):
        return a * x + b * c

    given = np.ones(1), np.ones(1), np.ones(1)
    return partial(f, *given[:2], c=given[2]), {
        "first": lambda: given[0].fill(3.0),
        "last": lambda: given[1].fill(3.0),
        "by name": lambda: given[2].fill(3.0),
    }


def with_method():
    class Law:
        def rate(self, x, a=None, b=None):
            return self.k * x * a * b

        rate.__defaults__ = np.ones(1), np.ones(1)

    law = Law()
    law.k = 2.0
    return law.rate, {
        "instance": lambda: setattr(law, "k", 3.0),
        "first": lambda: Law.rate.__defaults__[0].fill(3.0),
        "last": lambda: Law.rate.__defaults__[1].fill(3.0),
    }


HOLDING = [
    (make, change)
    for make in (with_defaults, with_arguments, with_method)
    for change in make()[1]
]


@pytest.mark.parametrize(("make", "name"), HOLDING)
def test_functions_that_hold_several_values(make, name):
    f, changes = make()
    reads = Reads([f])
    assert reads.changed() is None
    changes[name]()
    assert reads.changed() is not None


class Counted:
    made = 0

    def __init__(self):
        Counted.made += 1

    def power(self, t, a):
        return (a * t) ** 2

    def unread(self):
        return self.rate

    rate = 2


counted, settings = Counted(), {"rate": 2, "other": 3}


def calls_counted(t, a):
    return counted.power(t, a)


def test_what_is_not_read_may_change():
    """Another instance, an attribute that no code names, and a new one."""
    reads = Reads([calls_counted])
    Counted()
    Counted.rate, Counted.new = 3, 1
    try:
        assert reads.changed() is None
    finally:
        Counted.rate = 2
        del Counted.new
