"""Tricky programs: memory that two names lead to, and what is written into it."""

import numpy as np

from tests.engine.straight.tricky import Cases, M, X

ARRAYS = Cases()


def total(v):
    return np.sum(v * v)


def itself(v):
    return v


def tail(v):
    return v[1:]


def are_same(v, w):
    return 1.0 if v is w else 0.0


@ARRAYS.add(1.5, refused="may be seen by another way")
def two_names_at_once(x):
    a = b = np.zeros(3)
    a[0] = x
    return b[0] * x


@ARRAYS.add(X, refused="would be a view")
def another_name(x):
    a = x * 1.0
    b = a
    a[0] = 2.0
    return np.sum(b * x)


@ARRAYS.add(X, refused="would be a view")
def a_view_under_a_name(x):
    a = x * 1.0
    b = a[1:]
    a[1] = a[0] * 3.0
    return np.sum(b * b)


@ARRAYS.add(X)
def a_view_of_what_is_not_written(x):
    b = x[1:]
    c = b[::-1]
    return np.sum(b * c) + x[1]


@ARRAYS.add(X, refused="a second name")
def written_arrays_swapped(x):
    a, b = np.zeros(3), np.ones(3)
    for i in range(3):
        a[i] = x[i] * 2.0
        a, b = b, a
    return np.sum(a * b)


@ARRAYS.add(X, 1)
@ARRAYS.add(X, -1)
def written_in_one_branch(x, c):
    y = x * 1.0
    if c > 0:
        y[0] = x[1]
    return np.sum(y * y * x)


@ARRAYS.add(X, 1, refused="may be seen by another way")
def fresh_in_one_branch(x, c):
    y = x
    if c > 0:
        y = x.copy()
    y[0] = x[1]
    return np.sum(y * y)


@ARRAYS.add(X)
def an_argument_written(x):
    x[0] = 2.0
    return np.sum(x * x)


@ARRAYS.add(X)
def an_argument_copied_and_written(x):
    x = x.copy()
    x[0] = x[1] * x[2]
    return np.sum(x * x)


@ARRAYS.add(X)
def the_argument_itself(x):
    return x


@ARRAYS.add(X)
def a_view_of_the_argument(x):
    return x[::-1]


@ARRAYS.add(X)
def a_written_array_returned(x):
    y = np.exp(x)
    y[0] = y[1] * x[0]
    return y


@ARRAYS.add(X)
def an_entry_by_the_one_before(x):
    y = x.copy()
    for i in range(1, 3):
        y[i] = y[i] * y[i - 1]
    y[0] = y[0] * y[0]
    return np.sum(y * x)


@ARRAYS.add(X)
def added_to_itself(x):
    y = x * 1.0
    y += y
    y -= y * y
    y[1:] += y[:-1]
    y[0] += y[0]
    return np.sum(y * y)


@ARRAYS.add(X)
def a_part_by_another_part(x):
    y = x * 1.0
    y[1:] = y[:-1] * 1.0
    y[:2] *= y[1:]
    return np.sum(y * y)


@ARRAYS.add(X)
def reversed_parts(x):
    y = x + 3.0
    y[::-1] -= x
    y[::2] /= y[1] * 1.0
    return np.sum(y * y)


@ARRAYS.add(X, refused="written into itself")
def a_view_of_itself_stored(x):
    y = x * 1.0
    y[1:] = y[:-1]
    return np.sum(y * x)


@ARRAYS.add(X)
def a_value_added_and_written_over(x):
    y = x * 1.0
    v = x[1:] * 2.0
    y[1:] += v
    y[0] = y[1] * y[2]
    y[1:] = x[:-1]
    return np.sum(y * v[0])


@ARRAYS.add(X)
def a_kept_result_written(x):
    y = np.exp(x)
    y[1:] *= 2.0
    y[0] = y[1]
    return np.sum(y * x)


@ARRAYS.add(X)
def a_kept_result_written_beside_another(x):
    y, w = np.exp(x), x * 2.0
    y[0] *= 3.0
    return np.sum(y * w)


@ARRAYS.add(X)
def a_kept_operand_written(x):
    y = x * 1.0
    z = y * y
    y[0] = 5.0
    return np.sum(z * y)


@ARRAYS.add(X)
def an_inactive_factor_written(x):
    w = np.ones(3)
    s = 0.0
    for i in range(3):
        s = s + np.sum(x[0:2] * w[0:2]) * np.sum(w * x)
        w[i] = w[i] + 1.0
    return s


@ARRAYS.add(X)
def keys_that_are_written(x):
    k = np.array([0, 1, 2])
    s = 0.0
    for i in range(3):
        s = s + np.sum(x[k[0:2]] * x[k[1:]] * (i + 1.0))
        k[0] = k[0] + 1 if k[0] < 2 else 0
    return s


@ARRAYS.add(X)
def a_mask_that_is_written(x):
    m = x > 0
    y = x * 1.0
    y[m] *= x[0]
    m[1] = True
    y[m] = y[m] * 2.0
    return np.sum(np.where(m, y, x) * x)


@ARRAYS.add(X)
def written_by_a_mask(x):
    y = x * 1.0
    y[x > 0] = 2.0 * y[x > 0]
    y[y > 3] -= 1.0
    return np.sum(y * x)


@ARRAYS.add(X)
def a_written_array_passed(x):
    y = x * 1.0
    y[0] = 2.0 * x[1]
    s = total(y)
    y[1] = s
    return total(y) * s


@ARRAYS.add(1.5)
def a_test_of_a_written_array(x):
    y = np.ones(3)
    n = 0
    while total(y) < 10.0 and n < 50:
        y[0] = y[0] + 1.0
        n = n + 1
    return x * n


@ARRAYS.add(1.5, refused="would be a view|view of its argument")
def an_array_handed_back(x):
    y = np.zeros(3)
    z = itself(y)
    y[1] = 2.0
    return z[1] * x


@ARRAYS.add(1.5, refused="view of its argument")
def a_part_handed_back(x):
    y = np.zeros(3)
    y[0] = x
    z = tail(y)
    y[1] = x * x
    return z[0] * x


@ARRAYS.add(X)
def a_part_of_an_argument_handed_back(x):
    z = tail(x)
    y = itself(x) * 1.0
    y[1:] = z * x[0]
    return np.sum(y * y)


@ARRAYS.add(X, refused="whether they are the same")
def asked_for_identity(x):
    y = x * 1.0
    y[0] = 2.0
    return np.sum(y) * are_same(y, y)


@ARRAYS.add(X)
def entry_by_entry(x):
    m = np.zeros((2, 3))
    for i in range(2):
        for j in range(3):
            m[i, j] = x[j] * (i + 1) + (m[i - 1, j] if i > 0 else 0)
    m[:, 0] += x[:2]
    m[1] = m[0] * x
    m[..., -1] -= m[0, 0]
    return np.sum(m * m)


@ARRAYS.add(X)
def spread_over_two_axes(x):
    m = x[:, None] * x
    return np.sum((x[:, None] * m) * x + m * x[:, None] - x)


@ARRAYS.add(np.array([2.0]), M)
@ARRAYS.add(X, M)
@ARRAYS.add(np.ones((1, 3)), M)
@ARRAYS.add(np.ones((2, 1)), M)
@ARRAYS.add(np.array([[2.0]]), X)
def spread_shapes(x, m):
    return np.sum(np.tanh(m * x) + m / x - x * m)


@ARRAYS.add(X, 2.0)
@ARRAYS.add(X, np.float64(2.0))
def numbers_beside_arrays(x, s):
    y = s * x / s - x
    y += s
    y[1] *= s
    return np.sum(y) * s


@ARRAYS.add(X)
def rows_of_a_matrix(x):
    total_ = np.zeros(3)
    for row in np.outer(x, x):
        total_ += row * row[0]
        total_[0] = row[1]
    return np.sum(total_ * x)


@ARRAYS.add(X)
def zeros_are_never_reached(x):
    y = np.empty_like(x)
    y[:] = x * x
    z = np.full(3, x[0])
    z[1:] = y[:-1] * 1.0
    return np.sum(z * y)


@ARRAYS.add(X, 1.5, 2)
def a_number_that_may_be_whole(a, x, n):
    total = 1
    for _ in range(n):
        total += x
    y = np.where(a > 0, total, 1)
    y[0] = x
    return y[0] * total


@ARRAYS.add(1.5, 2)
def whole_numbers_times_a_number(x, n):
    total = 1
    for _ in range(n):
        total += x
    y = np.stack((np.arange(3) * total, np.arange(3)))
    y[0, 0] = x
    return np.sum(y * y)
