"""Iterators and dicts of C code that are given arrays, or hold them."""

import itertools
from collections import OrderedDict, defaultdict

import numpy as np
import pytest

from rules_autodiff.testing import check_program

X = np.array([[0.5, -1.2], [2.0, 0.7]])


def added(items):
    total = 0.0
    for item in items:
        total = total + np.sum(np.asarray(item) ** 2)
    return total


ITERATORS = {
    "repeat": lambda x: itertools.repeat(x, 3),
    "repeat without end": lambda x: itertools.islice(itertools.repeat(x), 3),
    "repeat by keyword": lambda x: itertools.repeat(object=x, times=2),
    "cycle": lambda x: itertools.islice(itertools.cycle(x), 5),
    "cycle of arrays": lambda x: itertools.islice(itertools.cycle([x, x[0]]), 5),
    "chain": lambda x: itertools.chain(x, [x]),
    "islice": lambda x: itertools.islice(x, 1),
    "zip_longest": lambda x: itertools.chain(
        *itertools.zip_longest(x, [x[0]], fillvalue=x)
    ),
    "product": lambda x: [a * b for a, b in itertools.product(x, x)],
    "pairwise": lambda x: [a * b for a, b in itertools.pairwise(x)],
    "starmap": lambda x: itertools.starmap(lambda a, b: a * b, x),
    "starmap of repeat": lambda x: itertools.starmap(
        lambda a: a * a, itertools.repeat((x,), 2)
    ),
    "map of repeat": lambda x: map(lambda a, b: a * b, x, itertools.repeat(x)),
    "zip": lambda x: [a * b for a, b in zip(x, itertools.repeat(x), strict=False)],
    "tee": lambda x: itertools.chain(*itertools.tee(x)),
    "dict": lambda x: dict(zip([0, 1], [x, x[0]], strict=True)).values(),
    "ndenumerate": lambda x: [v for _, v in np.ndenumerate(x)],
}


@pytest.mark.parametrize("make", ITERATORS.values(), ids=ITERATORS)
def test_iterators(make):
    check_program(lambda x: added(make(x)), X)


DICTS = {
    "dict": lambda x: dict(x),
    "list": lambda x: dict(list(x)),
    "OrderedDict": lambda x: OrderedDict(x),
    "defaultdict": lambda x: defaultdict(float, x),
    "zip": lambda x: dict(zip([0, 1], x[:, 1], strict=True)),
}


@pytest.mark.parametrize("fill", DICTS.values(), ids=DICTS)
def test_dicts_of_pairs(fill):
    """The keys are constants, the values are not."""

    def program(x):
        table = fill(x)
        return sum([v * v for v in table.values()])

    keyed = np.array([[1.0, -1.2], [2.0, 0.7]])
    check_program(lambda v: program(np.stack([np.array([1.0, 2.0]), v]).T), keyed[:, 1])


def test_a_dict_is_filled_in_place():
    def program(x):
        table = {}
        table.update(np.stack([np.array([1.0, 2.0]), x]).T)
        return sum([v * v for v in table.values()])

    check_program(program, X[0])
