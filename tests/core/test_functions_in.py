"""Functions are found in values of any shape, each once."""

import math

import pytest

from rules_core.extend import functions_in


def own(x):
    return x


class Node:
    def __init__(self, *parts):
        self.parts = parts


def diamonds(bottom, depth, make):
    """A value to whose bottom 2**depth paths lead."""
    for _ in range(depth):
        bottom = make(bottom, bottom)
    return bottom


MAKE = {
    "tuple": lambda *parts: parts,
    "list": lambda *parts: [*parts],
    "dict": lambda *parts: dict(enumerate(parts)),
    "instance": Node,
    "instances in a list": lambda *parts: [Node(*parts), Node(*parts)],
}


@pytest.mark.parametrize("kind", MAKE)
def test_a_value_is_searched_once_however_many_paths_lead_to_it(kind):
    assert list(functions_in(diamonds(own, 60, MAKE[kind]))) == [own]


@pytest.mark.parametrize("kind", MAKE)
def test_cycles_and_deep_values_end(kind):
    ring = Node()
    ring.parts = (MAKE[kind](ring, own), own)
    assert list(functions_in(ring)) == [own]
    deep = own
    for _ in range(5000):
        deep = MAKE[kind](deep)
    assert list(functions_in(deep)) == [own]


def test_functions_stand_in_their_order():
    def first(x):
        return x

    def second(x):
        return x

    value = {"a": [first, 1.0], "b": (math.sin, Node(second)), "c": first}
    assert list(functions_in(value)) == [first, math.sin, second]
