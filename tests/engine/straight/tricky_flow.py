"""Tricky programs: what loops and branches carry from one block to another."""

import numpy as np

from tests.engine.straight.tricky import Cases, X

FLOW = Cases()
NAN = float("nan")


@FLOW.add(1.5)
def overwritten_after_use(x):
    y = x * 2.0
    y = y * y
    x = y * x
    return x + y


@FLOW.add(1.5, 0.5)
def both_overwritten(x, y):
    x, y = y * x, x - y
    return x * y


@FLOW.add(X)
def doubled(a):
    a = a + a
    a = a * a
    return np.sum(a)


@FLOW.add(1.5)
def an_argument_overwritten_by_itself(x):
    x *= np.tanh(x)
    return x * x


@FLOW.add(0.5, X)
def an_argument_overwritten_by_another(x, a):
    t = x = max(a[1], a.sum())
    return x + x + t


@FLOW.add(X)
def inner_accumulator(x):
    total = 0.0
    for i in range(3):
        s = 0.0
        for j in range(i):
            s += x[j] * x[i]
        total += s * s
    return total


@FLOW.add(X)
def whole_accumulator(x):
    total = 0
    for v in x:
        total += v
        total = total * 1
    return total * total


@FLOW.add(1.5, 0)
@FLOW.add(1.5, 3)
def a_loop_of_no_rounds(x, n):
    y = x
    for _ in range(n):
        y = y * x
    return y


@FLOW.add(X)
def assigned_in_some_rounds(x):
    total, v = 0.0, x[0]
    for i in range(3):
        if i % 2 == 0:
            v = x[i] * x[i]
        total = total * v + v
    return total


@FLOW.add(X)
def first_assigned_in_a_round(x):
    for i in range(3):
        if i == 1:
            v = x[i]
        if i > 0:
            x = x * v
    return np.sum(x)


@FLOW.add(0.4)
def inactive_in_one_branch(x):
    for i in range(4):
        z = 2.0 if i % 2 else x * i
        x = x * z + 1.0
    return x


@FLOW.add(1.5, 1)
@FLOW.add(1.5, -1)
def a_whole_number_in_one_branch(x, c):
    y = x * 2.0
    if c > 0:
        y = 3
    return y * x


@FLOW.add(1.5)
def a_loop_variable_that_was_a_number(x):
    y = x * 2.0
    for y in range(3):  # noqa: B007  it is read after the loop
        pass
    return y * x


@FLOW.add(1.5, np.array([1, 2]))
def a_loop_variable_of_whole_numbers(x, k):
    y = x * 2.0
    for y in k:  # noqa: B007  it is read after the loop
        pass
    return y * x


@FLOW.add(1.5, X)
def a_counter_that_was_a_number(x, z):
    y = x * 2.0
    for y, q in enumerate(z):  # noqa: B007  it is read after the loop
        x = x * q
    return y * x


@FLOW.add(np.array([0.5, -1.0, 2.0, 1.0]))
def a_conditional_zero(x):
    s = 0.0
    for i in range(4):
        s = s + (x[i] if i < 3 else 0) * x[0]
    return s


@FLOW.add(X)
def a_temporary_across_blocks(x):
    s = 0.0
    for i in range(3):
        s = s * 0.5 + x[i] * 2.0 + (x[i] * x[i] if i > 1 else 0.5 * x[i])
    return s


@FLOW.add(0.2)
@FLOW.add(0.7)
@FLOW.add(1.5)
@FLOW.add(2.5)
def conditions_in_conditions(x):
    return (x if x > 1 else (x * x if x > 0.5 else x * 3)) * (2 if x > 2 else x)  # noqa: FURB136  a conditional expression


@FLOW.add(1.5)
@FLOW.add(2.5)
def a_chained_comparison(x):
    y = x if 0 < x < 2 else -x
    return y * x


@FLOW.add(1.5)
@FLOW.add(0.1)
def a_return_in_the_inner_loop(x):
    for i in range(3):
        for j in range(3):
            if i * j * x > 1:
                return x * i
            x = x * 1.5
        if x > 9.0:
            return x * x
    return x


@FLOW.add(1.5)
def a_return_first(x):
    if x > 1:
        return x * x
    y = x * 2.0
    return y * y


@FLOW.add(1.3)
@FLOW.add(0.1)
def for_else(x):
    for _ in range(4):
        if x > 5.0:
            break
        x = x * x + 0.5
    else:
        x = -x
    return x * 2.0


@FLOW.add(1.3)
def while_else(x):
    n = 0
    while x < 10.0:
        x = x * 1.7
        n += 1
        if n > 90:
            break
    else:
        x = x * n
    return x * n


@FLOW.add(X)
def continue_skips_an_update(x):
    s = x[0]
    for v in x:
        if v < 0:
            continue
        s = s * v
    return s * s


KINDS = "the kind of y is not the same"


@FLOW.add(X, 2, refused=KINDS)
@FLOW.add(X, 1, refused=KINDS)
@FLOW.add(X, 0, refused=KINDS)
def an_array_on_one_way_only(x, c):
    if c > 0:
        if c > 1:  # noqa: SIM108  a branch on purpose
            y = x
        else:
            y = 1.0
    else:
        y = 2.0
    return np.sum(y * x)


@FLOW.add(np.zeros(0))
@FLOW.add(X)
def an_empty_array(x):
    t = 1.0
    for v in x:
        t = t * v
    return t + np.sum(x)


@FLOW.add(X)
def one_name_for_many_kinds(x):
    x = x[1:]
    x = x[0] * x
    x = x[-1]
    return x * x


@FLOW.add(1.5)
def tuples_in_a_loop(x):
    s = (x, 1.0)
    for _ in range(3):
        s = (s[1] * x, s[0] + s[1])
    return s[0] * s[1]


@FLOW.add(1.5)
def a_tuple_of_itself(x):
    t = (x, x * 2.0)
    t = (t[1] * t[0], t[0])
    a, b = t
    return a * b * t[0]


@FLOW.add(X)
def arrays_swapped_in_a_loop(x):
    a, b = x * 2.0, x * x
    for _ in range(3):
        a, b = b * 0.5, a + b
    return np.sum(a * b)


@FLOW.add(1.5)
def several_targets(x):
    p = q, r = (x * 2.0, x * x)
    s = t = q * r
    s += 1.0
    return p[0] * q * r * s * t


@FLOW.add(X)
def nothing_but_the_last_round(x):
    for v in x:
        w = v * v
    return w * x[0]


@FLOW.add(1.5)
def nan_is_never_read(x):
    y = NAN if x < 0 else x
    return y * y


@FLOW.add(1.5)
def unreachable(x):
    while True:
        x = x * x
        if x > 5.0:
            return x
    return x * 100.0


@FLOW.add(1.5, 2)
def a_test_that_calls(x, n):
    while square_of(x) < 50.0 and not n > 40:
        x = x * 1.3
        n += 1
    return x * n


def square_of(x):
    return x * x


@FLOW.add(1.2)
@FLOW.add(1.9)
def literals_and_a_number(x):
    for k in (1.0, 2.0, x):
        x = x * k
        if x > 3.0:
            return x
    return x * x


@FLOW.add(1.2)
def a_literal_that_is_changed(x):
    s = 1.0
    for k in (1, 2):
        k = k * x  # noqa: PLW2901  on purpose
        s = s * k
    return s * k


@FLOW.add(1.5, 0)
@FLOW.add(1.5, 2)
def a_class_of_a_number(x, n):
    total = 0
    for _ in range(n):
        total += x
    if isinstance(total, float):
        return total * 2.0
    return x * 5.0


@FLOW.add(X)
@FLOW.add(-X)
def a_class_of_numpy(x):
    y = x[0] if x[0] > 0 else 0.5
    return y * 2.0 if isinstance(y, np.floating) else y * 3.0


@FLOW.add(1.5)
@FLOW.add(1.5, 3.0)
@FLOW.add(1.5, 3)
def none_by_default(x, k=None):
    if k is None:
        k = 2.0
    return x * k


@FLOW.add(1.5)
def a_deleted_variable(x):
    y = x * 2.0
    del y
    y = x
    return y * x
