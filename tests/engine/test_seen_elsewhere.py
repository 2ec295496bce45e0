"""Arguments that the program also sees by another way, and changes."""

import functools

import pytest

from rules_autodiff import (
    Const,
    UnsupportedProgram,
    grad,
    hvp,
    jvp,
    value_and_grad,
    vjp,
)
from rules_core import MutableTangent


class Model:
    def __init__(self):
        self.p = [2.0]
        self.v = 2.0

    def loss(self, p):
        p[0] = p[0] * 3
        return p[0] * self.p[0]


class Twice:
    def __init__(self):
        self.a = self.b = [2.0]


ROW = [2.0]
MODEL = Model()
TABLE = {"row": [ROW]}


def by_argument(a, b):
    a[0] = a[0] * 3
    return b[0] * a[0]


def by_keyword(a, *, b):
    return by_argument(a, b)


def by_global(a):
    a[0] = a[0] * 3
    return ROW[0] * a[0]


def inside_a_global(a):
    a[0] = a[0] * 3
    return TABLE["row"][0][0] * a[0]


def through_a_helper(a):
    return by_global(a)


def by_instance(m):
    m.v = m.v * 3
    return MODEL.v * m.v


def of_rows(rows):
    rows[0][0] = rows[0][0] * 3
    return rows[1][0] * rows[0][0]


def of_dicts(a, b):
    a["k"] = a["k"] * 3
    return b["k"] * a["k"]


def of_attributes(m):
    m.a[0] = m.a[0] * 3
    return m.b[0] * m.a[0]


def by_capture(a):
    def program(x):
        x.append(x[0] * 3)
        return x[-1] * a[0]

    return program


TWO, TABLES = ([ROW, ROW],), ({"k": 2.0},) * 2
CASES = {
    "two arguments": (by_argument, (ROW, ROW)),
    "constant": (by_argument, (ROW, Const(ROW))),
    "dicts": (of_dicts, TABLES),
    "two places": (of_rows, TWO),
    "two attributes": (of_attributes, (Twice(),)),
    "keyword": (functools.partial(by_keyword, b=ROW), (ROW,)),
    "global": (by_global, (ROW,)),
    "inside a global": (inside_a_global, (ROW,)),
    "helper": (through_a_helper, (ROW,)),
    "instance": (by_instance, (MODEL,)),
    "method": (MODEL.loss, (MODEL.p,)),
    "capture": (by_capture(ROW), (ROW,)),
}


TANGENTS = {
    "dicts": {"k": 1.0},
    "two places": [[1.0], [1.0]],
    "two attributes": MutableTangent(Twice, a=[1.0], b=[1.0]),
    "instance": MutableTangent(Model, p=[0.0], v=1.0),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name):
    """The program gets a copy: the other way would lead to the one of the caller."""
    f, args = CASES[name]
    dx = (TANGENTS.get(name, [1.0]), *[None] * (len(args) - 1))
    runs = [
        lambda: grad(f)(*args),
        lambda: vjp(f, *args),
        lambda: jvp(f, args, dx),
        lambda: hvp(f, args, dx),
    ]
    for run in runs:
        with pytest.raises(UnsupportedProgram, match="must not stand in two places"):
            run()
    assert ROW == [2.0]
    assert MODEL.v == 2.0


def test_a_derivative_inside_a_derivative():
    def f(row):
        return value_and_grad(by_argument, (0, 1))(row, row)[0]

    with pytest.raises(UnsupportedProgram, match="of class list"):
        grad(f)([2.0])


def test_what_is_not_changed_may_be_seen_anyhow():
    """Arguments are variables of their own; an instance in two of them is one."""

    def f(a, b):
        total = [a[0]]
        total[0] = total[0] * 3
        return total[0] * b[0] * ROW[0]

    assert value_and_grad(f, (0, 1))(ROW, ROW) == (24.0, ([12.0], [12.0]))

    def g(a, b):
        a.v = a.v * 3
        return b.v * a.v

    model = Model()
    value, (one, other) = value_and_grad(g, (0, 1))(model, model)
    assert value == 36.0
    assert one is other
    assert one.v == 36.0
    assert model.v == 2.0


def test_a_copy_is_the_remedy():
    assert value_and_grad(by_argument, (0, 1))([2.0], [2.0]) == (12.0, ([6.0], [6.0]))
    assert value_and_grad(by_global)(list(ROW)) == (12.0, [6.0])
