"""Tuples of numbers and arrays: passed, returned, carried through loops."""

import numpy as np
import pytest

from tests.engine.straight.programs import check_refused, check_written

X = np.array([0.5, -1.0, 2.0])


def advanced(state, dt):
    x, v = state
    return x + dt * v, v - dt * x


def nested(state):
    (x, v), t = state
    return ((v, x * v), t + x)


def oscillator(x, v):
    state = (x, v)
    for _ in range(5):
        state = advanced(state, 0.1)
    return state[0] * state[1]


def swapped(x, y):
    s = (x, y)
    s = (s[1], s[0])
    return s[0] - 3.0 * s[1]


def swapped_in_a_loop(x, y):
    s = (x, y, 1.0)
    for _ in range(4):
        s = (s[1], s[2] * x, s[0])
    return s[0] + 2.0 * s[1] + 3.0 * s[2]


def turned(x, y):
    state = ((x, y), 0)
    for _ in range(3):
        state = nested(state)
    (a, b), t = state
    return a * b + t * x


def whole(x, y):
    s = (x, y) if x > y else (y, 2.0 * x)
    return s[0] * s[0] * s[1]


def by_branches(x, y):
    if x > y:
        s = (x, (y, 1))
    else:
        z = 2.0 * y
        s = (z, (x, 2.0))
    return s[0] * s[1][0] * s[1][1]


def split(x):
    return x[1:], x[:-1]


def of_arrays(x):
    a, b = split(x)
    pair = (a * b, (a + b, x))
    return np.sum(pair[0]) + np.sum(pair[1][0] * pair[1][1][1:])


def energies(x):
    def both(v):
        return np.sum(v * v), (np.sum(v), 3.0)

    kinetic, (linear, factor) = both(x)
    return kinetic * linear * factor


@pytest.mark.parametrize(
    "f", [oscillator, swapped, swapped_in_a_loop, turned, whole, by_branches]
)
@pytest.mark.parametrize("args", [(1.5, 0.5), (0.5, 1.5)])
def test_numbers(f, args):
    check_written(f, *args)


@pytest.mark.parametrize("f", [of_arrays, energies])
def test_arrays(f):
    check_written(f, X)


def of_two_lengths(x):
    s = (x,) if x > 0.0 else (x, x)
    return s[0]


def grown(x):
    s = (x,)
    for _ in range(3):
        s = (s, x)
    return s[1]


@pytest.mark.parametrize("f", [of_two_lengths, grown])
def test_rows_of_other_forms_are_left_to_the_tape(f):
    check_refused(f, 1.5, reason="different kinds|the kind of s")
