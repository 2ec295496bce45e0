"""Ways to a value that are seldom gone: right, or an error that says what to do."""

import itertools
import math
import sys
from typing import Any

import numpy as np
import pytest

from rules_autodiff import grad, jvp
from tests.engine.refusing import assert_refused

X = 1.5


class Number:
    def __init__(self, x):
        self.x = x

    def __float__(self):
        return self.x * 2.0


class Items:
    def __init__(self, *items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


class Two:
    def __index__(self):
        return 2


TWO: Any = Two()


class Closed:
    """Says nothing of itself but `x` and `y`."""

    def __init__(self, x):
        object.__setattr__(self, "x", x)

    def __getattribute__(self, name):
        if name in ("x", "y"):
            return object.__getattribute__(self, name)
        raise AttributeError(name)


def closed(x):
    o = Closed(x)
    o.y = o.x * 3.0
    return o.y * o.x


def closed_and_deleted(x):
    o = Closed(x)
    o.y = x
    del o.x
    return o.y * o.y


RIGHT = {
    "fsum of items": lambda x: math.fsum(Items(x, 2.0 * x)),
    "fsum of numbers": lambda x: math.fsum(Items(Number(x), x)),
    "fsum of an iterator": lambda x: math.fsum(iter([Number(x), x])),
    "prod of items": lambda x: math.prod(Items(x, x)),
    "islice": lambda x: sum(itertools.islice([x, x, x * x], TWO)),
    "islice from": lambda x: sum(itertools.islice([x, x, x * x], TWO, None)),
    "islice by": lambda x: sum(itertools.islice([x, x, x * x], 0, None, TWO)),
    "closed": closed,
    "closed and deleted": closed_and_deleted,
    "repr of a class with a text": lambda x: x * len(repr(Text(x))) * 0.0 + x,
    "text of a class with a format": lambda x: x * len(str(Formatted(x))) * 0.0 + x,
}


class Text:
    def __init__(self, x):
        self.x = x

    def __str__(self):
        return "text"


class Formatted:
    def __init__(self, x):
        self.x = x

    def __format__(self, spec):
        return "formatted"


@pytest.mark.parametrize("name", RIGHT)
def test_it_is_right(name):
    f = RIGHT[name]
    slope = (f(X + 1e-6) - f(X - 1e-6)) / 2e-6
    for found in (grad(f)(X), grad(f)(X), jvp(f, (X,), (1.0,))[1]):
        assert np.isclose(found, slope)


def frame_of(x):
    return sys._getframe().f_locals["x"] * 2.0


def grid(x):
    return np.sum(np.mgrid[0:x:3j])


def open_grid(x):
    return np.sum(np.ogrid[0:x:3j, 0:2][0])


def padded(x):
    return float(np.sum(np.pad(np.array([1, 2]), 1, constant_values=x)))


def reduced(x):
    return float(np.add.reduce(np.array([1, 2]), initial=x))


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (frame_of, "Pass the values as arguments"),
        (grid, "np.linspace"),
        (open_grid, "np.meshgrid"),
        (padded, "dtype=float"),
        (reduced, "dtype=float"),
    ],
)
def test_it_is_refused_in_words(f, text):
    assert_refused(f, X, text)


def test_grids_of_constants_are_what_they_are():
    assert grad(lambda x: x * np.sum(np.mgrid[0:3]))(X) == 3.0
