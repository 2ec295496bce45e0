"""Results of one rule that lie in one memory: views of a buffer, or one array twice."""

from collections import namedtuple

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, hessian, jacfwd, vjp
from rules_core.testing import isolated_rules

Pair = namedtuple("Pair", "first second")
X = np.array([1.0, 2.0, 3.0, 4.0])

# What a function returns of its buffer.
PLACES = {
    "two halves": lambda y: (y[:2], y[2:]),
    "halves, the second first": lambda y: (y[2:], y[:2]),
    "overlapping": lambda y: (y[:3], y[1:]),
    "the buffer and a view": lambda y: (y, y[1:3]),
    "a view and the buffer": lambda y: (y[1:3], y),
    "one array twice": lambda y: (y, y),
    "two shapes": lambda y: (y.reshape(2, 2), y.reshape(2, 2).T),
    "every second": lambda y: (y[::2], y[1::2]),
    "reversed": lambda y: (y[::-1], y[:2]),
    "three": lambda y: (y[:1], y[1:2], y[2:]),
}
CONTAINERS = {
    "tuple": tuple,
    "list": list,
    "dict": lambda parts: {str(i): part for i, part in enumerate(parts)},
    "named tuple": lambda parts: Pair(*parts),
    "nested": lambda parts: (parts[0], [parts[1:]]),
}


def leaves(value):
    if isinstance(value, np.ndarray):
        return [value]
    entries = value.values() if isinstance(value, dict) else value
    return [leaf for entry in entries for leaf in leaves(entry)]


def squares(place, container):
    """A function with a rule: parts of one buffer with the squares of x."""

    def f(x):
        return CONTAINERS[container](PLACES[place](x * x))

    def into(dy, parts):
        """Adds cotangents in the structure of the result to `parts` of a buffer."""
        flat = rc.materialise(f(X), dy)
        pairs = zip(parts, leaves(rebuilt(flat)), strict=True)
        for part, d in pairs:
            np.add(part, d, out=part)

    def rebuilt(tangent):
        entries = rc.backing(tangent)
        values = entries.values() if isinstance(entries, dict) else entries
        return [v if isinstance(v, np.ndarray) else rebuilt(v) for v in values]

    @rc.rrule.define(f)
    def f_rrule(x):
        def pullback(dy):
            buffer = np.zeros(4)
            into(dy, PLACES[place](buffer))
            return rc.NoTangent(), 2 * x * buffer

        return f(x), pullback

    return f


def read(f):
    def program(x):
        parts = leaves(f(x))
        return sum((i + 1.0) * np.sum(part) for i, part in enumerate(parts))

    return program


def read_one(f):
    def program(x):
        return np.sum(leaves(f(x))[-1] ** 2)

    return program


def multiplied(f):
    def program(x):
        first, *others = leaves(f(x))
        return np.sum(first) * sum(np.sum(part) for part in others)

    return program


def written(f):
    """What is written to one is read from another that shares its memory."""

    def program(x):
        first, *others = leaves(f(x))
        first *= x[0]
        return np.sum(first) + sum(np.sum(part * part) for part in others)

    return program


PROGRAMS = {p.__name__: p for p in (read, read_one, multiplied, written)}


def differences(program, x, h=1e-6):
    moves = h * np.eye(len(x))
    return [(program(x + d) - program(x - d)) / (2 * h) for d in moves]


@pytest.mark.covering
@pytest.mark.parametrize("tier", ["tape", "auto"])
@pytest.mark.parametrize("use", PROGRAMS)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("place", PLACES)
def test_gradients_of_results_in_one_memory(place, container, use, tier):
    if container == "named tuple" and place == "three":
        container = "tuple"
    with isolated_rules():
        program = PROGRAMS[use](squares(place, container))
        expected = differences(program, X)
        derived = grad(program, tier=tier)
        for _ in range(2):  # written code comes with the second call
            np.testing.assert_allclose(derived(X), expected, rtol=1e-6, atol=1e-6)
        _, pullback = vjp(program, X, tier=tier)
        np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("place", PLACES)
def test_forward_mode_follows_the_one_memory(place):
    """By the rule, transposed: forward mode has no rule of its own here."""
    with isolated_rules():
        program = read(squares(place, "tuple"))
        expected = differences(program, X)
        np.testing.assert_allclose(jacfwd(program)(X), expected, rtol=1e-6)


def test_second_order():
    def f(x):
        buffer = np.concatenate([x * x * x, 2.0 * x])
        return buffer[: len(x)], buffer[len(x) :]

    with isolated_rules():

        @rc.rrule.define(f)
        def f_rrule(x):
            def pullback(dy):
                first, second = (rc.materialise(x, dy[i]) for i in range(2))
                return rc.NoTangent(), 3 * x * x * first + 2.0 * second

            return f(x), pullback

        def program(x):
            first, second = f(x)
            return np.sum(first) + np.sum(first * second)

        x = X[:3]
        expected = np.diag(6 * x + 24 * x * x)
        np.testing.assert_allclose(hessian(program)(x), expected)
