"""Functions that call themselves, given to solvers with what they capture."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_core.extend import Opener, flatten, unflatten

X, H = 1.5, 1e-5


def slope(f, x):
    return (f(x + H) - f(x - H)) / (2 * H)


def of_a_constant(x):
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    return quad(lambda s: s**3 * x / factorial(3), 0, 1)[0]


def of_what_moves(x):
    def power(s, n):
        return x if n < 1 else s * power(s, n - 1)

    return quad(power, 0, 1, args=(3,))[0]


def inside_another(x):
    def power(s, n):
        return x if n < 1 else s * power(s, n - 1)

    return quad(lambda s: power(s, 3) * x, 0, 1)[0]


def of_an_array(x):
    weights = np.array([x, 2.0 * x])

    def fold(s, n):
        return s * weights.sum() if n == 0 else fold(s * weights[0], n - 1)

    return quad(fold, 0, 1, args=(2,))[0]


def in_turn(x):
    """Each is captured by the other, and both are by what is called."""

    def even(n, s):
        return s * x if n == 0 else odd(n - 1, s) * x

    def odd(n, s):
        return s * s + x if n == 0 else even(n - 1, s) * 2.0

    return quad(lambda s: even(4, s) + odd(2, s) * s, 0, 1)[0]


def in_turn_without_numbers(x):
    """One of them captures no number of its own."""

    def even(n, s):
        return s if n == 0 else odd(n - 1, s) * x

    def odd(n, s):
        return s if n == 0 else even(n - 1, s) * 2.0

    return quad(lambda s: even(4, s), 0, 1)[0]


def by_a_loop(x):
    def walk(tree, s):
        if isinstance(tree, tuple):
            return sum(walk(part, s) for part in tree)
        return tree * s * x

    return quad(lambda s: walk((1.0, (2.0, 3.0)), s), 0, 1)[0]


def of_a_root(x):
    def power(s, n):
        return x if n < 1 else s * power(s, n - 1)

    return brentq(lambda s: power(s, 3) - 4, 0.1, 4)


def of_a_solution(x):
    def power(s, n):
        return x if n < 1 else s * power(s, n - 1)

    solution = solve_ivp(lambda t, y: -power(y, 1), (0, 1), [1.0], rtol=1e-9, atol=1e-9)
    return float(solution.y[0, -1])


PROGRAMS = (
    of_a_constant, of_what_moves, inside_another, of_an_array, in_turn,
    in_turn_without_numbers, by_a_loop, of_a_root, of_a_solution,
)  # fmt: skip


@pytest.mark.covering(every=3, start=1)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_both_modes(program):
    wanted = slope(program, X)
    found = grad(program)(X), jvp(program, (X,), (1.0,))[1]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_second_derivatives(program):
    wanted = slope(grad(program), X)
    both = jvp(grad(program), (X,), (1.0,))[1]
    found = grad(grad(program))(X), both
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-8)


def counter(a):
    def count(n):
        return a if n == 0 else a + other(n - 1)

    def other(n):
        return 2.0 * count(n)

    return count


def test_a_layout_is_the_function_again():
    leaves = []
    layout = flatten(counter(0.5), leaves, Opener(float))
    assert leaves == [0.5]
    again = unflatten(layout, [3.0])
    assert again(1) == counter(3.0)(1) == 9.0
    assert unflatten(layout, leaves)(2) == counter(0.5)(2)


class Node:
    """An instance that holds itself by way of a function."""

    def __init__(self, k):
        self.k = k
        self.f = lambda s: self.k * s


def test_an_instance_that_holds_itself_has_no_layout():
    with pytest.raises(rc.UnsupportedError, match="must not hold itself"):
        flatten(Node(2.0), [], Opener(float))


def by_an_instance(x):
    node = Node(x)
    return quad(lambda s: node.f(s) * node.k, 0, 1)[0]


def test_nor_has_one_that_a_solver_is_given():
    with pytest.raises(rc.UnsupportedError, match="must not hold itself"):
        grad(by_an_instance)(X)
