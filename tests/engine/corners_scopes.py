"""The language at its corners: matching, unpacking, scopes, arguments."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: B023, PLR0133, RET503

import numbers
import types

import numpy as np

from tests.engine.corners_common import DP


class State:
    v = 1.0


def class_attr(x):
    State.v = x * 2
    r = State.v * 3
    State.v = 1.0
    return r


G = [0.0]


def global_list(x):
    G[0] = x
    return G[0] * 2


def match_seq(x):
    match [x, x * 2, 3.0]:
        case [a, b, *c]:
            return a * b * c[0]


def match_map(x):
    match {"a": x, "b": x * x}:
        case {"a": a, **rest}:
            return a * rest["b"]


def match_cls(x):
    match DP(x, x * x):
        case DP(a, y=b):
            return a * b


def match_or(x):
    match (x, 1):
        case (a, 1) | (1, a):
            return a * a


def match_float(x):
    match x:
        case float(v):
            return v * v


def match_as(x):
    match [x, [x * 2]]:
        case [float() as a, [b] as c] if a > 0:
            return a * b * c[0]


def match_value(x):
    match x:
        case 0.7:
            return x * 2
        case _:
            return x * 2


def star(x):
    a, *b, c = [x, x * 2, x * 3, 4.0]
    (d, *e), f = (b, c)
    return a * d * e[0] * f


def walrus(x):
    if (y := x * 2) > 0 and (z := y * y):
        return y * z


def walrus_comp(x):
    return sum([(last := x * i) for i in range(4)]) + last


def comp_scope(x):
    fs = [lambda: x * i for i in range(3)]
    return sum(f() for f in fs)


def lambda_default(x):
    fs = [lambda y=x * i: y * y for i in range(3)]
    return sum(f() for f in fs)


def kw_default(x):
    def f(*, a=x * 2):
        return a * a

    return f() + f.__kwdefaults__["a"]


def defaults_attr(x):
    def f(a=1.0):
        return a * a

    f.__defaults__ = (x * 3,)
    return f()


def func_attr(x):
    def f():
        return f.v * 2

    f.v = x
    return f()


def nonlocal_program(x):
    t = 0.0

    def add(v):
        nonlocal t
        t += v

    for i in range(3):
        add(x * i)
    return t


def kwargs(x):
    def f(**k):
        return sum(k.values())

    return f(a=x, b=x * 2)


def posonly(x):
    def f(a, /, b, *c, d=3.0, **e):
        return a * b + sum(c) * d + e["z"]

    return f(x, 2.0, x, x * 2, d=x, z=x)


def complex_parts(x):
    z = complex(x, 2.0)
    return z.real * z.imag + abs(z * z)


def isinst(x):
    return (
        x * 2
        if isinstance(x, float) and isinstance(x, numbers.Real) and type(x) is float
        else 0
    )


def bool_ops(x):
    return (x and x * 2) or 3.0


def chained(x):
    return x * 2 if 0 < x < 1 <= 2 else x


def while_else(x):
    y = x
    while y < 5:
        y = y * 2
    return y * 3


def for_else(x):
    for i in range(3):
        if i == 5:
            break
    else:
        return x * 7


def del_program(x):
    y = x * 2
    z = y
    del y
    return z


def multi_assign(x):
    a = b = c = x * 2
    a += 1
    return a * b * c


def swap(x):
    a, b = x, x * 2
    a, b = b, a
    return a - 3 * b


def aug_sub(x):
    l = [x, 1.0]
    i = 0
    l[i] *= 3
    d = {"k": x}
    d["k"] += x
    return l[0] + d["k"]


def np0d(x):
    a = np.array(x)
    a += x
    a[()] *= 2
    return float(a) + a.item() + a.tolist()


def empty_cell(x):
    cell = types.CellType()
    cell.cell_contents = x * 2
    return cell.cell_contents * x


PROGRAMS = [
    (class_attr, (0.7,)),
    (global_list, (0.7,)),
    (match_seq, (0.7,)),
    (match_map, (0.7,)),
    (match_cls, (0.7,)),
    (match_or, (0.7,)),
    (match_float, (0.7,)),
    (match_as, (0.7,)),
    (match_value, (0.7,)),
    (star, (0.7,)),
    (walrus, (0.7,)),
    (walrus_comp, (0.7,)),
    (comp_scope, (0.7,)),
    (lambda_default, (0.7,)),
    (kw_default, (0.7,)),
    (defaults_attr, (0.7,)),
    (func_attr, (0.7,)),
    (nonlocal_program, (0.7,)),
    (empty_cell, (0.7,)),
    (kwargs, (0.7,)),
    (posonly, (0.7,)),
    (complex_parts, (0.7,)),
    (isinst, (0.7,)),
    (bool_ops, (0.7,)),
    (chained, (0.7,)),
    (while_else, (0.7,)),
    (for_else, (0.7,)),
    (del_program, (0.7,)),
    (multi_assign, (0.7,)),
    (swap, (0.7,)),
    (aug_sub, (0.7,)),
    (np0d, (0.7,)),
]
