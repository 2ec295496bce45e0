"""Tangents and cotangents that fit nothing are errors, not sums or zeros."""

from array import array
from collections import Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from decimal import Decimal

import numpy as np
import pytest

from rules_autodiff import grad, hvp, jacrev, jvp, linearize, value_and_grad, vjp
from rules_core import ProjectionError, UnsupportedError

X = np.arange(3.0)
WIDE = np.ones((2, 3))


def square(x):
    return x * x


def cube(x):
    return (x**3).sum()


def pair(x):
    return [x, x * x]


SHAPES = {
    "jvp": lambda: jvp(square, (X,), (WIDE,)),
    "an axis of length one": lambda: jvp(square, (X,), (np.ones((1, 3)),)),
    "in a list": lambda: jvp(lambda xs: xs[0], ([X],), ([WIDE],)),
    "in a dict": lambda: jvp(lambda d: d["k"], ({"k": X},), ({"k": WIDE},)),
    "f_jvp": lambda: linearize(square, X)[1](WIDE),
    "hvp": lambda: hvp(cube, (X,), (WIDE,)),
    "pullback": lambda: vjp(square, X)[1](WIDE),
    "pullback of a list": lambda: vjp(pair, X)[1]([WIDE, None]),
    "pullback of a number": lambda: vjp(cube, X)[1](X),
    "a number for an array": lambda: vjp(square, X)[1](1.0),
}


@pytest.mark.parametrize("name", SHAPES)
def test_another_shape(name):
    with pytest.raises(TypeError, match=r"must have shape \(.*\), but got shape \("):
        SHAPES[name]()


COMPLEX = {
    "jvp": lambda: jvp(square, (2.0,), (1j,)),
    "array": lambda: jvp(square, (X,), (X * 1j,)),
    "f_jvp": lambda: linearize(square, X)[1](X * 1j),
    "pullback": lambda: vjp(square, X)[1](X * 1j),
    "pullback of a number": lambda: vjp(square, 2.0)[1](1j),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_a_complex_direction_of_a_real_value(name):
    with pytest.raises(TypeError, match="must be real for a.* float.*, but got a"):
        COMPLEX[name]()


WHOLE = {
    "int": lambda: jvp(square, (3,), (1.0,)),
    "bool": lambda: jvp(square, (True,), (1.0,)),
    "array": lambda: jvp(square, (np.arange(3),), (X,)),
    "in a list": lambda: jvp(lambda xs: xs[0] * xs[1], ([3, 2.0],), ([1.0, 0.0],)),
    "f_jvp": lambda: linearize(square, 3)[1](1.0),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_direction_of_a_whole_number(name):
    with pytest.raises(TypeError, match=r"must be None, NoTangent\(\) or zero"):
        WHOLE[name]()


CONSTANTS = {
    "text": "a",
    "set": {1.0, 2.0},
    "array of the standard library": array("d", [1.0]),
    "decimal": Decimal(1),
    "generator": iter([1.0]),
    "function": len,
    "object array": np.array([1.0, None]),
    "record": np.zeros(2, [("p", float)]),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_what_has_no_derivative_is_no_variable(name):
    x = CONSTANTS[name]
    with pytest.raises((TypeError, UnsupportedError), match="must"):
        grad(lambda _: 1.0)(x)
    with pytest.raises((TypeError, UnsupportedError), match="must"):
        jvp(lambda _: 1.0, (x,), (1.0,))
    assert jvp(lambda _, y: y * y, (x, 3.0), (None, 1.0)) == (9.0, 6.0)


@pytest.mark.parametrize("kind", [Counter, OrderedDict, defaultdict, deque])
def test_containers_of_the_standard_library(kind):
    filled = kind([1.0, 2.0]) if kind is deque else kind()
    if kind is not deque:
        filled["a"], filled["b"] = 1.0, 2.0

    def squares(c):
        return sum(v * v for v in (c if kind is deque else c.values()))

    assert squares(filled) == 5.0
    y, found = value_and_grad(squares)(filled)
    assert y == 5.0
    found = list(found) if kind is deque else [found["a"], found["b"]]
    assert found == [2.0, 4.0]


def of_user_dict(d):
    total = d["a"] ** 2 * d.get("b") + sum(v**3 for v in d.values())
    d["c"] = total * d["a"]
    d["a"] = d["c"] * 2.0
    return d["a"] * d["b"] + d["c"]


def of_user_list(x):
    x.append(x[0] * x[1])
    x[0] = x[2] ** 2 + sum(x)
    return x[0] * x[2] + x[1]


COLLECTIONS = {
    "UserDict": (lambda a, b: UserDict(a=a, b=b), of_user_dict, lambda d: d.data),
    "UserList": (
        lambda a, b: UserList([a, b]),
        of_user_list,
        lambda x: dict(zip("ab", x.data, strict=True)),
    ),
}


@pytest.mark.parametrize("name", COLLECTIONS)
def test_collections_written_in_python_are_instances(name):
    """Their derivatives are those of finite differences."""
    make, f, parts = COLLECTIONS[name]
    a, b, h = 1.5, 2.0, 1e-6
    exact = [
        (f(make(a + h, b)) - f(make(a - h, b))) / (2 * h),
        (f(make(a, b + h)) - f(make(a, b - h))) / (2 * h),
    ]
    filled = make(a, b)
    dx = grad(f)(filled)
    assert filled == make(a, b)
    found = parts(dx)
    assert [found["a"], found["b"]] == pytest.approx(exact, rel=1e-6)
    slope = jvp(f, (make(a, b),), (dx,))[1]
    assert slope == pytest.approx(np.dot(exact, exact), rel=1e-6)
    with pytest.raises(ProjectionError, match="must have the structure of a User"):
        jvp(lambda _: 1.0, (filled,), (1.0,))


def test_zero_is_a_direction_of_everything():
    assert jvp(lambda x, n: x * n, (2.0, 3), (1.0, 0.0)) == (6.0, 3.0)
    assert jvp(lambda x, n: x * n, (2.0, 3), (1.0, None)) == (6.0, 3.0)


def test_a_whole_result_takes_any_cotangent():
    """Programs return 0 for 0.0 on some of their ways."""
    y, pullback = vjp(lambda x: max(0, x), -2.0)
    assert type(y) is int
    assert pullback(1.0) == (0.0,)


def test_directions_are_a_tuple():
    with pytest.raises(TypeError, match="the primals must be a tuple or list"):
        jvp(square, 2.0, (1.0,))
    with pytest.raises(TypeError, match="the tangents must be a tuple or list"):
        jvp(square, (2.0,), 1.0)


@pytest.mark.parametrize("argnums", [(0, 0), (0, -2), [1, 1]])
@pytest.mark.parametrize("transform", [grad, jacrev])
def test_argnums_name_an_argument_once(transform, argnums):
    """The second of two variables in one place would hide the first: zero for it."""
    with pytest.raises(ValueError, match="must name each argument once"):
        transform(lambda x, y: x * y, argnums)(2.0, 3.0)


def test_argnums_of_numpy():
    assert grad(lambda x, y: x * y, np.int64(1))(2.0, 3.0) == 2.0
