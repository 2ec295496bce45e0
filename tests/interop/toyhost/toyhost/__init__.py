"""A host of somebody else: arrays on a tape, which multiply and add."""

import numpy as np

__all__ = ["Box", "Node", "cube", "gradients"]


class Box:
    """An array, the operation that made it, and whether derivatives are wanted."""

    def __init__(self, value, node=None, *, tracked=False):
        self.value, self.node = np.asarray(value), node
        self.tracked = tracked or node is not None

    def __add__(self, other):
        return Node.record(self.value + other.value, (self, other), lambda d: (d, d))

    def __mul__(self, other):
        pull = lambda d: (d * other.value, d * self.value)
        return Node.record(self.value * other.value, (self, other), pull)


class Node:
    """An operation: its inputs, its outputs, and cotangents of these to those."""

    made = 0

    def __init__(self, inputs, pull):
        self.inputs, self.pull, self.outputs = inputs, pull, []
        Node.made += 1
        self.number = Node.made

    def output(self, value):
        """One more output."""
        self.outputs.append(Box(value, self))
        return self.outputs[-1]

    @staticmethod
    def record(value, inputs, pull):
        """The one output of an operation of the host's own."""
        tracked = any(x.tracked for x in inputs)
        return (
            Node(inputs, lambda ds: pull(*ds)).output(value) if tracked else Box(value)
        )


def gradients(ys, cotangents, xs):
    """Cotangents of `xs` from those of `ys`; None where there are none."""
    found, nodes, left = {}, {}, list(ys)
    while left:
        node = left.pop().node
        if node is not None and node.number not in nodes:
            nodes[node.number] = node
            left += node.inputs
    pairs = list(zip(ys, cotangents, strict=True))
    for number in sorted(nodes, reverse=True):
        _add(found, pairs)
        node = nodes[number]
        given = [found.get(y) for y in node.outputs]
        pairs = []
        if any(dy is not None for dy in given):
            pairs = zip(node.inputs, node.pull(given), strict=True)
    _add(found, pairs)
    return [found.get(x) for x in xs]


def _add(found, pairs):
    for x, dx in pairs:
        if dx is not None:
            found[x] = found[x] + dx if x in found else dx


def cube(x):
    """x³; the rule is in another module, which nobody imports by hand."""
    return x * x * x
