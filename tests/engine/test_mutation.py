"""Mutation and aliasing: programs in both modes, with state and finite differences."""

import numpy as np
import pytest

from rules_autodiff import vjp
from rules_autodiff.testing import check_program
from tests.engine.mutations import PROGRAMS

IDS = [f"{number}-{f.__name__}" for number, (f, _) in enumerate(PROGRAMS)]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=IDS)
def test_program(f, args):
    check_program(f, *args, second=True)


# The state of arguments after each call, the first and later ones


def scaled_in_place(x):
    x[0] = x[0] * 3.0
    x += 1.0
    return np.sum(x * x)


def scaled_entries(x):
    for i in range(x.size):
        x[i] *= 2.0
    return np.sum(np.sin(x))


def scaled_by_out(x):
    np.multiply(x, 2.0, out=x)
    return np.sum(x * x)


@pytest.mark.parametrize("tier", ["auto", "tape"])
@pytest.mark.parametrize("f", [scaled_in_place, scaled_entries, scaled_by_out])
def test_vjp_leaves_each_time_what_the_program_leaves(f, tier):
    written = np.array([1.0, 2.0])
    f(written)
    for _ in range(4):
        x = np.array([1.0, 2.0])
        _, pullback = vjp(f, x, tier=tier)
        np.testing.assert_array_equal(x, written)
        for _ in range(2):
            pullback(1.0)
            np.testing.assert_array_equal(x, [1.0, 2.0])


def test_the_straight_tier_leaves_arguments_as_they_are():
    x = np.array([1.0, 2.0])
    for _ in range(3):
        _, pullback = vjp(scaled_in_place, x, tier="straight")
        np.testing.assert_array_equal(pullback(1.0)[0], [24.0, 6.0])
        np.testing.assert_array_equal(x, [1.0, 2.0])
