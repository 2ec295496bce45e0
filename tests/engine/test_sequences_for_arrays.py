"""Lists, flat iterators and sequences of users, given for arrays and iterables."""

import cmath
import collections
import itertools
import math

import numpy as np
import pytest

from rules_autodiff import grad, jvp, value_and_grad

X = np.array([0.5, 1.5])


class Sequence:
    """Read by `__getitem__` alone."""

    def __init__(self, v):
        self.v = v

    def __getitem__(self, i):
        if i > 1:
            raise IndexError(i)
        return self.v[i] ** (i + 2)

    def __len__(self):
        return 2


class WithArray:
    def __init__(self, v):
        self.v = v

    def __array__(self, dtype=None, copy=None):
        return self.v * 2.0


class Complex:
    def __init__(self, v):
        self.v = v

    def __float__(self):
        return self.v * 5.0

    def __complex__(self):
        return complex(self.v, 1.0)


class Number:
    def __init__(self, v):
        self.v = v

    def __pow__(self, a, m=None):
        return self.v**a * m


def splits(make):
    def program(x):
        parts = np.array_split(make(x), 2)
        more = np.split(make(x), [1])
        return parts[0][0] * 3.0 + parts[1][0] * more[0][0]

    return program


def reduced(x):
    return np.add.reduce(x.flat) + np.multiply.reduce(x.flat) * 2.0


def accumulated(x):
    return np.add.accumulate(x.flat)[1] + np.multiply.outer(x.flat, x)[0, 1]


def summed(x):
    return math.fsum(x.flat) * math.dist(x.flat, [0.0, 0.1])


def added_at(x):
    y = np.zeros(2)
    np.add.at(y, [0, 1], x.flat)
    np.subtract.at(y, [1, 1], x.flat)
    return y[0] * y[1]


def backwards(x):
    total = 0.0
    for value in reversed(Sequence(x)):
        total = 10.0 * total + value
    return total


def by_weights(items):
    """A number of a row of rows, to which each entry adds in its way."""
    total, k = 0.0, 1.0
    for item in items:
        for value in item if isinstance(item, tuple) else (item,):
            total = total + k * value
            k = k * 1.3
    return total


def iterating(f):
    return lambda x: by_weights(f(Sequence(x)))


def masked(make):
    def program(x):
        y = np.zeros((2, 2))
        rows = make([x, 2.0 * x])
        np.multiply(rows, 1.5, out=y, where=[[True, False], [True, False]])
        return y[1, 0] * y[0, 0] + y[0, 1]

    return program


def reduced_objects(x):
    return np.add.reduce([WithArray(x), WithArray(x)]).sum()


PROGRAMS = {
    "split list": splits(lambda x: [x[0], x[1]]),
    "split tuple": splits(lambda x: (x[0], x[1])),
    "split deque": splits(lambda x: collections.deque([x[0], x[1]])),
    "split sequence": splits(Sequence),
    "split flat": splits(lambda x: x.flat),
    "reduce": reduced,
    "accumulate and outer": accumulated,
    "fsum and dist": summed,
    "add.at": added_at,
    "reversed": backwards,
    "cycle": iterating(lambda q: itertools.islice(itertools.cycle(q), 3)),
    "product": iterating(lambda q: itertools.product(q, repeat=2)),
    "tee": iterating(lambda q: itertools.chain(*itertools.tee(q))),
    "pairwise": iterating(itertools.pairwise),
    "combinations": iterating(lambda q: itertools.combinations(q, 2)),
    "with replacement": iterating(
        lambda q: itertools.combinations_with_replacement(q, 2)
    ),
    "permutations": iterating(itertools.permutations),
    "zip_longest": iterating(lambda q: itertools.zip_longest(q, [1.0, 2.0])),
    "chain": iterating(lambda q: itertools.chain(q, q)),
    "masked lists": masked(list),
    "masked tuples": masked(tuple),
    "objects with __array__": reduced_objects,
    "cmath": lambda x: cmath.phase(Complex(x[0])) + cmath.exp(Complex(x[1])).real,
    "pow of three": lambda x: pow(Number(x[0]), 2, x[1]),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("tier", ["tape", "auto", "forward"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_finite_differences_say(name, tier):
    f = PROGRAMS[name]
    at = (lambda x: f(x[0]) * x[1]) if name.startswith("masked") else f
    steps = 1e-6 * np.eye(2)
    expected = [(at(X + h) - at(X - h)) / 2e-6 for h in steps]
    for _ in range(3):
        if tier == "forward":
            found = [jvp(at, (X,), (e,))[1] for e in np.eye(2)]
        else:
            value, found = value_and_grad(at, tier=tier)(X)
            assert value == at(X)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


def test_a_list_subclass_is_reversed_by_its_own_class():
    class Rows(list):
        def __getitem__(self, i):
            return 0.0

    assert grad(lambda x: sum(reversed(Rows([x, 2.0 * x]))))(1.5) == 3.0


def twice_least(x):
    return min(x[0], x[0], 0.5) + max(x[1], 1.5, x[1], x[1])


@pytest.mark.parametrize("tier", ["tape", "straight", "auto", "forward"])
def test_a_number_that_is_given_twice_counts_twice(tier):
    if tier == "forward":
        found = [jvp(twice_least, (X,), (e,))[1] for e in np.eye(2)]
    else:
        found = grad(twice_least, tier=tier)(X)
    np.testing.assert_allclose(found, [2.0 / 3.0, 0.75], rtol=1e-15)
