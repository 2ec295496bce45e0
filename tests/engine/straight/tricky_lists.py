"""Tricky programs: lists that are filled, read and changed."""

import numpy as np

from tests.engine.straight.tricky import Cases, M, X

LISTS = Cases()


@LISTS.add(X)
def read_after_it_was_filled(x):
    out = []
    for v in x:
        out.append(v * v)  # noqa: PERF401  a loop on purpose
    return out[0] * out[-1] + sum(out)


@LISTS.add(X)
def read_and_changed_while_it_grows(x):
    out = [x[0]]
    for i in range(3):
        out.append(out[-1] * x[i])
        out[0] = out[0] * 2.0
        out[i] = out[i] + out[-1]
    return sum(out) * out[1]


@LISTS.add(X)
def begun_again_in_each_round(x):
    t = 0.0
    for i in range(3):
        out = []
        for j in range(i + 1):
            out.append(x[j] * (t + 1))  # noqa: PERF401  a loop on purpose
        t = t + sum(out)
    return t * len(out)


@LISTS.add(X)
def a_variable_that_changes_after_it(x):
    out = []
    for i in range(3):
        y = x * i
        out.append(y)
        y = y * 2.0
        out.append(y[i:] * 1.0)
    return out[0] * out[2] * np.sum(out[3])


@LISTS.add(1.5)
def an_array_of_it_between(x):
    out = [x, x * 2.0]
    out.append(x * x)
    a = np.array(out)
    out.append(1.0)
    out[0] = 3.0
    return np.sum(a * a) * sum(out)


@LISTS.add(X)
def comprehensions(x):
    out = [v * v for v in x]
    out.append(2.0)
    more = [w * x[0] for w in out if w > 0.3]
    return sum(more) * out[1]


@LISTS.add(X)
def begun_with_a_whole_number(x):
    out = [0]
    for v in x:
        out.append(out[-1] + v)
    return out[-1] * out[2]


@LISTS.add(1.5)
def whole_numbers_among_others(x):
    out = [x]
    out.append(2)
    out[1] += x
    out[-1] *= out[0]
    return sum(out) * out[1]


@LISTS.add(X)
def never_filled(x):
    out = []
    for _ in range(4):
        if x[0] > 100:
            out.append(x[0])  # noqa: PERF401  a loop on purpose
    return len(out) * x[1] + sum(out) + x[2]


@LISTS.add(1.5)
@LISTS.add(0.5)
def another_list_in_one_branch(x):
    out = [x, x]
    if x > 1:
        out.append(x * x)
    else:
        out = [x * 3.0]
    out[0] = out[-1] * out[0]
    return sum(out)


@LISTS.add(1.5)
def left_in_the_middle(x):
    out = []
    for i in range(3):
        out.append(x * i)
        if i == 1:
            return sum(out) * out[0] + out[1]
    return x


@LISTS.add(M)
def rows_in_a_list(x):
    out = []
    for row in x:
        out.append(row * row[0])  # noqa: PERF401  a loop on purpose
    return np.array(out) * x


@LISTS.add(X)
def views_in_a_list(x):
    out = []
    for i in range(3):
        out.append(x[i:])  # noqa: PERF401  a loop on purpose
    return sum([np.sum(v) for v in out]) * out[1][0]


@LISTS.add(X)
def entries_written_again(x):
    s = [x[0]]
    for i in range(3):
        s.append(0.0)
        s[-1] = s[-2] * x[i]
        s[-2] = x[i]
    return sum(s)


@LISTS.add(1.5)
def an_inactive_list(x):
    s = [1, 2]
    s.append(3)
    t = 0.0
    for i in s:
        t = t + x**i
    return t * s[1]


@LISTS.add(1.5, refused="second name")
def a_second_name(x):
    out = []
    other = out
    out.append(x)
    return other[0]


@LISTS.add(X, refused="written to")
def an_array_that_is_written_later(x):
    y = x * 1.0
    out = []
    for _ in range(2):
        out.append(y)
        y[0] = 5.0 * x[1]
    return out[0] * out[1]


@LISTS.add(X, refused="changed in place|named arrays")
def an_entry_changed_in_place(x):
    out = [x * 1.0]
    out.append(x * x)
    y = out[0]
    out[0] += x
    return y * out[1]


@LISTS.add(X, refused="named arrays")
def an_entry_of_an_entry(x):
    out = [x * 1.0]
    out.append(x * x)
    out[0][1] = 5.0
    return out[0] * out[1]


@LISTS.add(X, refused="another way")
def an_entry_under_a_name_written(x):
    out = [x * 1.0]
    out.append(x * x)
    y = out[0]
    y[1] = 5.0
    return out[0] * out[1]


def fill(out, v):
    out.append(v)
    return sum(out)


@LISTS.add(1.5, refused=".")
def filled_by_a_function(x):
    out = [x]
    s = fill(out, x * x)
    return s * len(out)


@LISTS.add(1.5, refused="a list is passed on")
def read_by_a_local_function(x):
    out = []
    g = lambda i: out[i] * 2.0
    out.append(x)
    a = g(0)
    out[0] = x * x
    out.append(3.0 * x)
    return a * g(0) * g(1)


@LISTS.add(1.1, refused="a list that changes")
def gone_over_while_it_grows(x):
    out = [x]
    for v in out:
        x = x * v
        if len(out) < 4:
            out.append(x)
    return x


@LISTS.add(1.5, [0.1] * 100, refused="made in the same function")
def a_list_of_the_callers_filled(x, numbers):
    numbers.append(x)
    return numbers[-1] * numbers[3]


@LISTS.add(1.5, [0.1] * 100, refused="made in the same function")
def a_list_of_the_callers_written(x, numbers):
    numbers[0] = x
    return numbers[0] * numbers[3]


@LISTS.add(0.9, [0.1] * 100)
def a_list_of_the_callers_read(x, numbers):
    t = 0.0
    for v in numbers:
        t = t * x + v
    return t
