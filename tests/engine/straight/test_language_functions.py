"""Local functions, and functions as values."""

# Late binding, and both cases alike, are what is tested.
# ruff: noqa: B023, RUF034

import functools
import math

import numpy as np
import pytest

from tests.engine.straight.programs import check_refused, check_written

X = np.array([0.5, -1.0, 2.0])


def apply(f, x):
    return f(x)


def twice(f):
    return lambda x: f(f(x))


def newton(f, slope, x, steps=4):
    for _ in range(steps):
        x = x - f(x) / slope(x)
    return x


def scale_by(k, power=2):
    def scaled(x):
        return k * x**power

    return scaled


def offset(x, *rest, scale=2.0):
    total = x * scale
    for part in rest:
        total = total + part
    return total


def total_of(*parts):
    return len(parts) * parts[0] + parts[1]


def in_lambda(x, y):
    square = lambda z: z * z * y
    return square(x) + square(2.0 * x)


def in_def(x, y):
    def inner(z, k=3.0):
        if z > 1.0:
            return z * k
        return z * x * k

    return inner(x) + inner(y) + inner(x, y) + inner(k=x, z=y)


def late(x):
    k = x
    by_k = lambda z: z * k
    first = by_k(x)
    k = 3.0 * x
    return first + by_k(x)


def early(x):
    k = x
    by_k = lambda z, k=k: z * k
    k = 3.0 * x
    return by_k(x) + k


def late_in_a_loop(x):
    total = 0.0
    for i in range(3):
        part = lambda z: z * i
        total += part(x) * x
    return total


def passed_on(x, k):
    return apply(lambda z: z * k, x) + apply(math.sin, x) + apply(scale_by(k), x)


def root(a):
    return newton(lambda x: x * x - a, lambda x: 2.0 * x, a, steps=6)


def made(x, k):
    f = scale_by(k, power=3)
    g = f
    return f(x) + g(2.0 * x)


def made_of_made(x):
    return twice(twice(lambda z: z * z * x))(x)


def recursive(x):
    def power(n):
        return x if n == 0 else x * power(n - 1)

    return power(3)


def chosen(x):
    f = np.tanh if x > 0.0 else np.tanh
    return f(x)


def by_branch(x):
    if x > 0.0:
        g = lambda z: z * x
        y = g(3.0)
    else:
        g = lambda z: z * 2.0
        y = g(x)
    return y


def of_helpers(x):
    def square(z):
        return z * z * x

    def fourth(z):
        return square(square(z))

    return fourth(x)


def three_deep(x):
    def outer(y):
        def inner(z):
            return x * y * z

        return inner(y) + inner(x)

    return outer(2.0 * x)


def partially(x):
    g = functools.partial(offset, 1.5 * x, scale=x)
    return g(x) + g(2.0, 3.0 * x)


def starred(x):
    pair = (x, 2.0 * x)
    return offset(*pair, x, scale=3.0) + total_of(*pair, x * x)


def several(x):
    total = 0.0
    for f in (math.sin, lambda z: z * z * x):
        total += f(x)
    return total


def asked(x):
    inside = lambda z: z * z * x
    n = 0
    while inside(x) < 30.0:
        x = 1.5 * x
        n += 1
    return x * n


NUMBERS = [
    (in_lambda, 1.5, 0.5), (in_def, 1.5, 0.5), (late, 1.5), (early, 1.5),
    (late_in_a_loop, 1.5), (passed_on, 0.7, 1.3), (root, 2.0), (made, 1.5, 0.5),
(recursive, 1.3), (by_branch, 1.5), (by_branch, -1.5),
    (of_helpers, 0.8), (three_deep, 0.8), (partially, 1.2), (starred, 1.2),
    (asked, 1.1), (chosen, 0.3),
]  # fmt: skip


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("program", NUMBERS, ids=lambda p: f"{p[0].__name__} {p[1:]}")
def test_numbers(program):
    check_written(*program)


def on_arrays(x, w):
    act = np.tanh
    layer = lambda v: act(v * w + x)
    return np.sum(layer(layer(x)))


def result_of_a_view(x):
    first = lambda v: v[1:]
    return np.sum(first(x) * x[:-1])


def filled(x):
    out = np.zeros(3)

    def at(i):
        return x[i] * out[0] + x[i]

    for i in range(3):
        out[i] = at(i)
    return np.sum(out * x)


@pytest.mark.parametrize("f", [result_of_a_view, filled, lambda x: on_arrays(x, X + 1)])
def test_arrays(f):
    check_written(f, X)


def test_arrays_that_are_captured():
    check_written(on_arrays, X, X + 1.0)


def same_memory(v):
    return v


def seen_later(x):
    a = np.zeros(2)
    a[0] = x
    y = same_memory(a)
    a[0] = 5.0 * x
    return y[0] * x


def test_a_result_that_shows_what_is_written_later_is_left_to_the_tape():
    check_refused(seen_later, 3.0, reason="returns a view of its argument")


def mutual(x):
    def even(n):
        return x if n == 0 else odd(n - 1)

    def odd(n):
        return 2.0 * x if n == 0 else even(n - 1)

    return even(3)


def counted(x):
    calls = 0

    def f(z):
        nonlocal calls
        calls += 1
        return z * calls

    return f(x) + f(x)


def decorated(x):
    @functools.lru_cache
    def f(z):
        return z * x

    return f(2.0)


def one_of_several(x):
    fs = [lambda v, i=i: v * x * i for i in range(3)]
    return sum(f(2.0) for f in fs)


def second_name(x):
    f = lambda v: v * x
    g = f
    return g(x)


def put_away(x):
    k = x
    pair = (lambda v: v * k, x)
    k = 2.0 * x
    return pair[0](x)


def changed_inside(x):
    out = np.zeros(2)

    def put(i):
        out[i] = x
        return x

    return put(0) + out[0]


def either(x):
    f = math.sin if x > 0.0 else math.cos
    return f(x)


@pytest.mark.parametrize(
    ("f", "reason"),
    [
        (mutual, "call each other"),
        (made_of_made, "reads variables of others"),
        (counted, "a nonlocal statement is not in its language"),
        (decorated, "a local function with a decorator"),
        (one_of_several, "of local functions"),
        (second_name, "a second name for a local function"),
        (put_away, "a local function is put away"),
        (changed_inside, "may be seen by another way"),
        (either, "different kinds"),
    ],
)
def test_what_is_refused(f, reason):
    check_refused(f, 1.5, reason=reason)
