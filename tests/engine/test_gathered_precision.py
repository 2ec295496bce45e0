"""A Python number gathers its cotangents in double, also those in half precision."""

import numpy as np
import pytest

from rules_autodiff import grad, jacrev, vjp

N = 600


def by_numbers(x, small):
    total = 0.0
    for _ in range(N):
        total = total + float(small(0.1) * x)
    return total


def by_sums_of_small_ones(x, small):
    parts = [small(0.1) * x for _ in range(N)]
    return sum([float(part) for part in parts])


def by_writes(x, small):
    a = np.zeros(N, small)
    for i in range(N):
        a[i] = x * small(0.1)
    return float(np.sum(a.astype(float)))


def by_writes_of_the_number(x, small):
    a = np.zeros(N, small)
    for i in range(N):
        a[i] = x
    return float(np.sum(a.astype(float) * float(small(0.1))))


def by_views(x, small):
    a = np.zeros((N, 2), small)
    for i in range(N):
        a[i, :] = x * small(0.05)
    return float(np.sum(a.astype(float)))


PROGRAMS = (
    by_numbers, by_sums_of_small_ones, by_writes, by_writes_of_the_number, by_views,
)  # fmt: skip


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("small", [np.float16, np.float32])
@pytest.mark.parametrize("program", PROGRAMS)
def test_it_gathers_in_double(program, small):
    true = N * float(small(0.1))
    ways = (
        lambda f: vjp(f, 0.5, tier="tape")[1](1.0)[0],
        lambda f: [grad(f)(0.5) for _ in range(3)][-1],
        jacrev_of,
        second_order,
    )
    for way in ways:
        found = way(lambda x: program(x, small))
        assert np.asarray(found).dtype == float
        assert np.isclose(found, true, rtol=2e-3 if small is np.float16 else 1e-6)


def jacrev_of(f):
    return jacrev(f)(0.5)


def second_order(f):
    """d/dt of t f'(x)."""
    return grad(lambda t: grad(lambda x: t * f(x))(0.5))(1.0)
