"""Lists that a program fills."""

# Loops that append, and sums of lists, are what is tested.
# ruff: noqa: B007, C416, PERF401, PERF402, PLC3002

import math

import numpy as np
import pytest

from tests.engine.straight.programs import check_refused, check_written

X = np.array([0.5, -1.0, 2.0, 1.5])
W = np.array([[1.0, 2.0, 0.5, -1.0], [0.3, -0.7, 1.1, 0.2]])


def appended(x):
    out = []
    for v in x:
        out.append(v * v)
    return np.sum(np.array(out) * x)


def read_again(x):
    out = [x[0]]
    for i in range(1, len(x)):
        out.append(out[i - 1] * x[i] + out[-1])
    return out[-1] * out[0] + out[len(out) // 2]


def written_again(x):
    out = [0.0] * len(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = out[i - 1] * 0.5 + x[i] ** 2
    out[1] += x[0]
    out[0] = 3.0
    return sum(out) + out[0] * out[1]


def looped_over(x):
    out = []
    for v in x:
        if v > 0.0:
            out.append(math.sin(v))
        else:
            out.append(v)
    total = 0.0
    for v in out:
        total += v * v
    for i, v in enumerate(out):
        total += i * v
    return total * len(out)


def squares(x):
    ys = [v * v for v in x]
    zs = [y * x[0] for y in ys if y > 0.3]
    return np.sum(ys) + sum(zs) + max(1, len(zs))


def nested_loops(x):
    ys = [v * w for v in x for w in x]
    return np.mean(np.array(ys) ** 2)


def by_arrays(x):
    states = [x]
    for i in range(3):
        states.append(np.tanh(states[-1] * x + i))
    a = np.array(states)
    b = np.stack(states)
    return np.sum(a * b[::-1]) + np.sum(states[1] * states[2])


def stacked(x):
    parts = []
    for i in range(3):
        parts.append(x * i + x * x)
    a, b, c = np.vstack(parts)
    p, q = W * x
    return np.sum(a * b + c) + np.dot(p, q)


GAUGES = (3, 0, 3)


def chosen(x):
    seen = np.zeros((2, 3))
    y = x * x
    for i in range(2):
        seen[i] = y[list(GAUGES)] * i
    return np.sum(seen * x[[0, 2, 1]]) + np.sum(W[[1, 0]] * x)


def rows(x):
    out = [w * x for w in W]
    total = 0.0
    for row in out:
        total += np.sum(row * row)
    return total + np.sum(out[0] * out[1])


def never_used(x):
    out = []
    for v in x:
        out.append(v)
    return np.sum(x) + len(out)


def partly_used(x):
    out = []
    for v in x:
        out.append(x * v)
    return np.sum(out[2]) * out[1][0]


def made_in_a_loop(x):
    total = 0.0
    for v in x:
        parts = [v, v * v]
        parts.append(v * total)
        total += parts[2] + parts[1] * parts[0]
        parts = [total]
        parts.append(v)
        total = parts[0] * parts[1]
    return total


def kept_constants(x):
    counts = []
    names = [1.0]
    for v in x:
        counts.append(2)
        names.append(3.0)
    return np.sum(x) * sum(counts) * sum(names) * counts[1]


def extended(x):
    out = []
    for v in x:
        out.extend((v, v * v, 1.0))
    return np.sum(np.array(out) ** 2)


def while_full(x):
    out = [x[0]]
    while out[-1] < 20.0:
        out.append(out[-1] * 2.0 + x[1] ** 2)
    return out[-1] * len(out)


def fixed_lengths(x):
    a, b = [np.sum(x * k) for k in (1.0, 2.0)]
    c = [x[i] * i for i in range(4)]
    d = np.array([v * a for v in (x[0], b)])
    return a * b * c[-1] + np.sum(d)


def swapped_lists(x):
    one = [v for v in x]
    for _ in range(3):
        two = [v * 0.5 for v in one]
        one = [a + b * x[0] for a, b in zip(one, two, strict=True)]
    return np.sum(one)


def two_at_once(x):
    xs, ys = [], []
    for v in x:
        xs.append(v)
        ys.append(xs[-1] * v)
    return sum(xs) * sum(ys)


PROGRAMS = [
    two_at_once, appended, read_again, written_again, looped_over, squares,
    nested_loops, by_arrays, chosen, rows, stacked, never_used, partly_used,
    made_in_a_loop, kept_constants, extended, while_full, fixed_lengths, swapped_lists,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f):
    check_written(f, X)


def aliased(x):
    out = [x[0]]
    other = out
    other.append(x[1])
    return out[-1]


def aliased_in_a_row(x):
    out = [x[0]]
    both = (out, out)
    other = both[0]
    other.append(x[1])
    return out[-1]


def aliased_twice(x):
    one = other = []
    one.append(x[0])
    return other[0]


def put_away(x):
    out = []
    out.append(x[0])
    pair = (out, x)
    return pair[0][0]


def passed_on(x):
    out = []
    out.append(x[0])
    return total_of(out)


def total_of(values):
    return values[0] * 2.0


def grown_while_read(x):
    out = [x[0], x[1]]
    for v in out:
        if len(out) < 4:
            out.append(v * v)
    return sum(out)


def of_several_kinds(x):
    out = [x]
    out.append(x[0])
    return out[1]


def shows_later_writes(x):
    a = np.zeros(2)
    out = []
    out.append(a)
    a[0] = x[0]
    return out[0][0]


def filled_by_another(x):
    out = []

    def put(v):
        out.append(v)
        return v

    return put(x[0]) + put(x[1])


def late_function(x):
    return sum([(lambda z: z * v)(2.0) for v in x])


@pytest.mark.parametrize(
    ("f", "reason"),
    [
        (aliased, "a second name for a list"),
        (aliased_in_a_row, "a second name for a list"),
        (aliased_twice, "a second name for a list"),
        (put_away, "a second name for a list"),
        (passed_on, "a list is passed on"),
        (grown_while_read, "a list that changes"),
        (of_several_kinds, "several kinds"),
        (shows_later_writes, "an array that is written to"),
        (filled_by_another, "."),
        (late_function, "variables"),
    ],
)
def test_what_is_refused(f, reason):
    check_refused(f, X, reason=reason)
