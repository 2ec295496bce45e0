"""`a.flat` indexed while it is iterated: NumPy starts again from the first entry."""

import itertools

import numpy as np
import pytest

from rules_autodiff import grad, jvp, vjp
from tests.engine.oracle_lifted import bits

KEYS = (0, 1, -1, slice(1, 3), [0, 2], np.array([True, False, True, False]), ...)
A = {
    "vector": np.array([1.0, 2.0, 3.0, 4.0]),
    "matrix": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "transposed": np.array([[1.0, 2.0], [3.0, 4.0]]).T,
}


def read(a, key):
    items = (a * 1.0).flat
    total = 0.0
    for count, item in enumerate(items, 1):
        total = total + item * count
        if count in (1, 3):
            total = total + np.sum(items[key])
        if count > 6:
            break
    return total


def written(a, key):
    own = a * 1.0
    items = own.flat
    total = next(items)
    total = total + next(items)
    items[key] = total
    return total * next(items) + np.sum(own * own) + items.index


def in_other_hands(a, key):
    own = a * 1.0
    items = iter(own.flat)
    found = [next(items), next(items)]
    found.append(np.sum(items[key]))
    found.extend(itertools.islice(items, 2))
    return found[0] * found[1] + found[2] * found[3] + found[-1]


@pytest.mark.parametrize("layout", A)
@pytest.mark.parametrize("program", [read, written, in_other_hands])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_it_starts_again(program, key, layout):
    a = A[layout]
    plain = program(a, key)

    def f(a):
        return program(a, key)

    rates = np.zeros(a.shape)
    for place in np.ndindex(a.shape):
        h = np.zeros(a.shape)
        h[place] = 1e-6
        rates[place] = (program(a + h, key) - program(a - h, key)) / 2e-6
    assert bits(vjp(f, a, tier="tape")[0]) == bits(plain)
    value, dy = jvp(f, (a,), (np.ones(a.shape),))
    assert bits(value) == bits(plain)
    assert np.isclose(dy, rates.sum(), rtol=1e-5)
    for _ in range(2):
        assert np.allclose(grad(f)(a), rates, rtol=1e-5, atol=1e-5)
