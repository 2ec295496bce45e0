"""What functions read is found by whatever way their code reads it."""

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
