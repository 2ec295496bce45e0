"""Which object an argument is: the user's own, as the plain program sees it."""

import operator

import numpy as np
import pytest

from rules_autodiff import (
    UnsupportedProgram,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)

ARRAY = np.array([1.0, 2.0])
HELD, TABLE = [ARRAY], {"a": ARRAY}
NUMBER = 3.0
LISTED = [1.0, 2.0]
WHOLE = np.array([2.0, 3.0, 5.0])


class Point:
    def __init__(self, x):
        self.x = x


POINT = Point(2.0)
KNOWN = {POINT: 3.0}
POINTS = [None, POINT]


def branch(said, x):
    return np.sum(x * x) if said else np.sum(x)


captured = ARRAY
ARRAYS = {
    "is": lambda x: branch(x is ARRAY, x),
    "is not": lambda x: branch(x is not ARRAY, x),
    "operator.is_": lambda x: branch(operator.is_(ARRAY, x), x),
    "operator.is_not": lambda x: branch(operator.is_not(x, ARRAY), x),
    "chain": lambda x: branch(x is ARRAY is HELD[0], x),
    "any": lambda x: branch(any(x is y for y in HELD), x),
    "in": lambda x: branch(x in HELD, x),
    "entry": lambda x: branch(x is TABLE["a"], x),
    "another name": lambda x: branch((y := x) is captured and y is x, x),
    "id": lambda x: branch(id(x) == id(ARRAY), x),
    "set of ids": lambda x: branch(id(x) in {id(y) for y in HELD}, x),
    "index": lambda x: branch([id(y) for y in HELD].index(id(x)) == 0, x),
    "a copy": lambda x: branch(x * 1.0 is ARRAY, x),
    "a view": lambda x: branch(x[:] is ARRAY, x),
    "base of a view": lambda x: branch(x[1:].base is ARRAY, x),
    "base": lambda x: branch(x.base is None, x),
    "owndata": lambda x: branch(x.flags.owndata, x),
    "OWNDATA": lambda x: branch(x.flags["OWNDATA"], x),
    "owndata of a view": lambda x: branch(x[1:].flags.owndata, x),
    "shares": lambda x: branch(np.shares_memory(x, ARRAY), x),
    "may share": lambda x: branch(np.may_share_memory(ARRAY, x), x),
}
OBJECTS = {
    "is": lambda p: branch(p is POINT, p.x),
    "key": lambda p: KNOWN[p] * p.x,
    "get": lambda p: KNOWN.get(p, 1.0) * p.x,
    "in a dict": lambda p: branch(p in KNOWN, p.x),
    "in a list": lambda p: branch(p in POINTS, p.x),
    "==": lambda p: branch(p == POINT, p.x),
    "!=": lambda p: branch(p != POINT, p.x),
    "own key": lambda p: {p: 2.0}[p] * p.x,
    "id": lambda p: branch(id(p) == id(POINT), p.x),
}


def values(f, x, one):
    """The value of a program in each transformation, three times."""
    for _ in range(3):
        yield value_and_grad(f)(x)[0]
        yield value_and_grad(f, tier="tape")(x)[0]
        yield vjp(f, x)[0]
        yield jvp(f, (x,), (one,))[0]
        yield linearize(f, x)[0]
        yield jvp(grad(lambda y: f(y)), (x,), (one,)) and f(x)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name):
    f = ARRAYS[name]
    assert set(values(f, ARRAY, np.ones(2))) == {f(ARRAY)}
    slope = 2.0 * ARRAY if f(ARRAY) == 5.0 else np.ones(2)
    for derivative in (grad, jacfwd, jacrev):
        np.testing.assert_array_equal(derivative(f)(ARRAY), slope)
    curved = 2.0 if f(ARRAY) == 5.0 else 0.0
    np.testing.assert_array_equal(hessian(f)(ARRAY), curved * np.eye(2))
    if name not in ("in", "index"):  # which other arrays are not
        other = ARRAY.copy()
        assert value_and_grad(f)(other)[0] == f(other)


@pytest.mark.parametrize("name", OBJECTS)
def test_objects(name):
    f = OBJECTS[name]
    for p in (POINT, *([] if name == "key" else [Point(2.0)])):
        assert vjp(f, p)[0] == value_and_grad(f)(p)[0] == f(p)


def test_numbers_and_lists():
    assert grad(lambda x: x * x if x is NUMBER else x)(NUMBER) == 6.0
    assert grad(lambda x: x[0] * x[0] * (1 + (x is LISTED)))(LISTED) == [4.0, 0.0]
    assert grad(lambda x: x[0] * (1 + (x is LISTED)))([*LISTED]) == [1.0, 0.0]


def test_two_arguments_that_are_one():
    def f(x, y):
        return branch(x is y, x) + 0.0 * np.sum(y)

    np.testing.assert_array_equal(grad(f)(ARRAY, ARRAY), 2.0 * ARRAY)
    np.testing.assert_array_equal(grad(f)(ARRAY, ARRAY.copy()), np.ones(2))


@pytest.mark.parametrize("way", [grad, jacfwd, jacrev])
@pytest.mark.parametrize(
    "read",
    [lambda x: x.base, lambda x: x[:].base, lambda x: x[1:].base],
    ids=["itself", "all", "part"],
)
def test_the_base_of_an_argument_is_not_read(way, read):
    def f(x):
        return branch(read(x) is WHOLE, x)

    with pytest.raises(UnsupportedProgram, match="base of an argument"):
        way(f)(WHOLE[:2])


def test_a_view_does_not_own_its_memory():
    def f(x):
        return branch(x.flags.owndata, x)

    for part in (WHOLE[:2], WHOLE[:2].copy()):
        assert value_and_grad(f)(part)[0] == vjp(f, part)[0] == f(part)


def test_what_is_known_by_identity_from_outside_is_no_derivative():
    constants = {id(ARRAY): 2.0}
    with pytest.raises(UnsupportedProgram, match="must be asked by a value"):
        grad(lambda x: constants[id(x)] * np.sum(x))(ARRAY)


def test_a_cache_by_identity():
    known = {}

    def f(x):
        if id(x) not in known:
            known[id(x)] = np.sum(np.sin(x))
        return known[id(x)] * 2.0

    for _ in range(3):
        np.testing.assert_allclose(grad(f)(ARRAY), 2.0 * np.cos(ARRAY))
    f(ARRAY)
    with pytest.raises(UnsupportedProgram, match="must be asked by a value"):
        grad(f)(ARRAY)
