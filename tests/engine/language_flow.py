"""The language: control flow, functions, closures, generators."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: B905, C416, PLR0124, SIM108
# ruff: noqa: SIM202

import itertools

import numpy as np

X = np.array([0.3, -1.2, 2.0, 0.7])


def branches(x):
    if x > 1:
        return x * x
    if x > 0:
        y = x + 1
    else:
        y = -x
    return y * 3


def loops(x, n=6):
    total = 0.0
    for i in range(n):
        if i == 1:
            continue
        if i == 4:
            break
        total += x**i / (i + 1)
    else:
        total = 100.0
    k = 0
    while k < 3:
        k += 1
        total *= x
    total += x
    for _ in ():
        pass
    total -= x * x
    return total


def arithmetic(x, y):
    return (x + y) * (x - 2 * y) / (1 + x * x) - x**y + (-x) + abs(y) + x % 0.7 + 3**y


def comparisons(x, y):
    return (x if -5 < x < y <= 9 else y) * (2.0 if x == x and not x != x else 0.0)


def boolean_values(x, y):
    return (x and y) * ((x > 100 and x) or y) + (0.0 or x)


def unpacking(x):
    a, (b, *c), d = x[0], x[1:], x[3]
    (e, f), g = (a * b, c[0]), d
    h, c[0] = c[0] * 2, g
    return a * b + c[0] * d + e * f + g + h


def array_unpacking(x):
    a, b, *c = x
    first, *_ = c
    return a * b * first + max(c)


def starred_calls(x):
    def inner(a, *args, k=2.0, **kwargs):
        return a * args[0] + k * kwargs["z"] - sum(args)

    rest = {"z": x[3], "k": x[2]}
    return inner(*x[:3], **rest) + inner(x[0], *(x[1], x[2]), z=x[0])


def defaults(x):
    def inner(a, b=x * 2, *, c=x + 1):
        return a * b * c

    return inner(x) + inner(x, 1.0) + inner(x, c=2.0)


def comprehensions(x):
    squares = [v * v for v in x if v > 0]
    table = {i: v for i, v in enumerate(x)}
    pairs = [a * b for a in squares for b in (1.0, a)]
    unpacked = [a * i for i, (a, b) in enumerate(zip(x, squares))]
    grid = [[v * w for w in row] for v, row in zip(x, [squares] * 2)]
    total = sum(g * 2 for g in squares) + table[1] * table[2]
    return total + sum(pairs) + sum(unpacked) + sum(map(sum, grid))


def generators(x):
    def count(c):
        while True:
            c = c * x[0] + 1
            got = yield c
            if got:
                c = c + got

    def delegate(c):
        result = yield from itertools.islice(count(c), 2)
        yield c * 2 if result is None else c

    g = count(x[1])
    first = next(g)
    second = g.send(x[2])
    g.close()
    return first * second + sum(delegate(x[3]))


def closures(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * x[0]
        return total

    for v in x:
        add(v)
    scale = lambda v, c=x[1]: v * c * total
    return scale(x[2])


def nested_closures(x):
    def outer(a):
        def middle():
            def inner(b):
                return a * b * x

            return inner

        return middle()

    return outer(x)(2.0) + outer(3.0)(x)


def recursion(x, n=5):
    return 1.0 if n == 0 else x * recursion(x, n - 1) + n


def mutual_recursion(x):
    def even(n, v):
        return v if n == 0 else odd(n - 1, v * x)

    def odd(n, v):
        return v + x if n == 0 else even(n - 1, v + 1)

    return even(5, x)


def exceptions(x):
    total = x
    for d in (2.0, 0.0, "a"):
        try:
            total = total * x / d
        except ZeroDivisionError as error:
            total += x * len(str(error)[:2])
        except TypeError:
            total -= x * x
        else:
            total *= 2
        finally:
            total += 1
    return total


def raising(x):
    def risky(v):
        if v > 0:
            raise ValueError("positive", v * 2)
        return v

    try:
        return risky(x)
    except ValueError as error:
        return error.args[1] * x


def walrus(x):
    if (y := x * 2) > 0 and (z := y + 1):
        return y * z
    return [w := y + 1, w * y][1]


def locals_in_loops(x):
    fs = [lambda v, i=i: v * x * i for i in range(3)]
    return sum(f(2.0) for f in fs)


def del_and_rebind(x):
    y = x * 2
    z = y
    del y
    y = z * x
    return y + z


ONE = [
    branches,
    loops,
    defaults,
    nested_closures,
    recursion,
    mutual_recursion,
    exceptions,
    raising,
    walrus,
    locals_in_loops,
    del_and_rebind,
]
TWO = [arithmetic, comparisons, boolean_values]
ARRAY = [
    unpacking,
    array_unpacking,
    starred_calls,
    comprehensions,
    generators,
    closures,
]
PROGRAMS = [
    *((f, (0.8,)) for f in ONE),
    *((f, (1.3, 2.1)) for f in TWO),
    *((f, (X.copy(),)) for f in ARRAY),
]
