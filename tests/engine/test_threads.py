"""Linear maps that runs leave behind, called from several threads at once."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rules_autodiff import derive_rrule, linearize, vjp

X = np.array([1.0, 2.0, 3.0])
SEEDS = [np.cos(np.arange(3.0) + k) for k in range(60)]


@pytest.fixture(autouse=True)
def often():
    """Threads that change after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def writes(x):
    x[0] = x[1] * x[2]
    for i in range(3):
        x[i] = x[i] * x[0]
    return x * 2.0


def writes_to_its_own(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] * x[0]
    y *= y
    return y


def appends(x):
    rows = []
    rows.extend(v * v for v in x)
    rows.append(rows[1] * x[0])
    rows[0] = rows[1] * 2.0
    return np.array(rows[:3])


def numbers(x):
    total = 0.0
    for v in x:
        total = total + v * v
    return total * x


def arrays(x):
    return np.sin(x) * np.sum(x * x) + x


PROGRAMS = [writes, writes_to_its_own, appends, numbers, arrays]
MAPS = {
    "vjp": lambda f, x: vjp(f, x)[1],
    "tape": lambda f, x: vjp(f, x, tier="tape")[1],
    "linearize": lambda f, x: linearize(f, x)[1],
    "rrule": lambda f, x: derive_rrule(f)(x)[1],
    "second": lambda f, x: vjp(lambda u: vjp(f, u * 1.0)[1](SEEDS[1])[0], x)[1],
}


def called(linear, direction):
    found = linear(direction)
    return found[-1] if isinstance(found, tuple) else found


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_one_map_in_several_threads(f, name):
    x = X.copy()
    linear = MAPS[name](f, x)
    expected = [called(linear, seed) for seed in SEEDS]
    state = x.copy()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda seed: called(linear, seed), SEEDS))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(x, state)


@pytest.mark.parametrize("f", PROGRAMS)
def test_runs_of_their_own_in_several_threads(f):
    def once(seed):
        return called(vjp(f, X.copy())[1], seed)

    expected = [once(seed) for seed in SEEDS]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(once, SEEDS))
    np.testing.assert_array_equal(found, expected)
