"""Sets of objects that carry derivatives: known by identity, or refused."""

import copy
import pickle

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp, value_and_grad


class Node:
    """A node of a graph of computations."""

    def __init__(self, value, *parents):
        self.value, self.parents = value, parents


class Equal(Node):
    def __eq__(self, other):
        return isinstance(other, Node) and self.value == other.value

    def __hash__(self):
        return 1


def walked(x):
    """Each node once, as every walk of a graph does."""
    a, b = Node(x), Node(x * x)
    end = Node(a.value * b.value, a, Node(2.0 * x, a, b))
    seen, order = set(), []

    def visit(node):
        if node not in seen:
            seen.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(end)
    return sum(node.value * (k + 1.0) for k, node in enumerate(order)) * len(seen)


def displayed(x):
    a, b = Node(x), Node(x * x)
    nodes = {a, b, a} | frozenset([b]) | {n for n in (a, b) if n.value > 0.0}
    return sum(node.value for node in nodes) * len(nodes)


def written(x):
    a = Node(np.ones(2) * x)
    for node in {a}:
        node.value *= x
    return np.sum(a.value)


def copied(x):
    nodes = {Node(np.ones(2) * x)}
    return sum(np.sum(node.value) for node in copy.deepcopy(nodes)) * x


def emptied(x):
    nodes = {Node(x)}
    nodes.update([Node(x * x)], {Node(x**3)})
    found = 0.0
    while nodes:
        found = found + nodes.pop().value
    return found


@pytest.mark.parametrize("f", [walked, displayed, written, copied, emptied])
def test_identity(f):
    want = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    for _ in range(3):
        value, slope = value_and_grad(f)(1.3)
        assert (value, slope) == (pytest.approx(f(1.3)), pytest.approx(want))
    assert jvp(f, (1.3,), (1.0,))[1] == pytest.approx(want)


def equal_objects(x):
    return sum(node.value for node in {Equal(x), Equal(x * 1.0)})


def numbers(x):
    return sum({x, x * 2.0})


def pairs(x):
    return sum(a for a, _ in {(x, 1), (2.0 * x, 1)})


def pickled(x):
    (node,) = pickle.loads(pickle.dumps({Node(x)}))
    return node.value


@pytest.mark.parametrize("f", [equal_objects, numbers, pairs, pickled])
def test_what_is_known_by_its_value_is_refused(f):
    for run in (grad(f), lambda x: jvp(f, (x,), (1.0,))):
        with pytest.raises(UnsupportedProgram):
            run(1.3)


def test_items_of_a_display():
    """`{*items}` stands on its own, beside entries, and in a set of arguments."""

    def program(x):
        found = {*range(3)} | {5, *(1, 7), *{8}}
        return x * len(found)

    assert grad(program)(2.0) == jvp(program, (2.0,), (1.0,))[1] == 6.0

    def active(x):
        return x * len({*[x, x]})

    with pytest.raises(UnsupportedProgram, match="set"):
        grad(active)(2.0)
