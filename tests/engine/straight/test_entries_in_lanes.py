"""All columns at once: a number keeps its tangent when its array is written to."""

import numpy as np
import pytest

from rules_autodiff import grad, hessian, jacfwd

A = np.array([0.3, 0.4, 0.5, 0.6])


def read_then_scaled(a):
    w = np.copy(a)
    s = w[3]
    w[-1] *= 2.0
    return s + w[0]


def read_then_written(a):
    w = np.copy(a)
    s = w[3]
    w[-1] = 7.0
    return s * s


def read_then_masked(a):
    w = np.copy(a)
    s = w[3]
    w[a > 0.5] = a[1]
    return s


def in_a_loop(a):
    w, s = a * 2.0, 0.0
    for i in range(3):
        p = w[i]
        w[i] = p * p
        s = s + p
    return s + w.sum()


def of_a_matrix(a):
    m = np.outer(a, a)
    r, s = m.sum(axis=0), m[0, 0]
    m[0, 0] = 2.0
    r[0] = 1.0
    return r.sum() + s + m.sum()


def chosen(a):
    w = a * 2.0
    s = w[0] if a[1] > 0 else w[1]
    w[0] = 9.0
    w[1] = 8.0
    return s * w[2]


def signed(a):
    w = a * 2.0
    s, t, u = w[-1], abs(w[1]), +w[2]
    w[:] = 1.0
    return s * t * u


def by_place(a):
    w = a * 2.0
    t, q = w.sum(), w[w.argmax()]
    w *= 0.5
    return t * q


def in_a_pair(a):
    w = a * 2.0
    p = (w[0], w[1])
    w[0] = 3.0
    return p[0] * w.sum() + p[1]


def entry(x):
    return x[1]


def by_a_function(a):
    w = a * 2.0
    s = entry(w)
    w[1] = 7.0
    return s * w[0]


PROGRAMS = [
    read_then_scaled, read_then_written, read_then_masked, in_a_loop, of_a_matrix,
    chosen, signed, by_place, in_a_pair, by_a_function,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_columns_are_those_of_reverse_mode(program):
    expected = grad(program, tier="tape")(A)
    derived = jacfwd(program)
    for _ in range(3):  # the hooks first, then written code
        np.testing.assert_allclose(derived(A), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("program", [in_a_loop, of_a_matrix, signed, in_a_pair])
def test_second_order(program):
    step = 1e-6 * np.eye(4)
    slope = grad(program, tier="tape")
    expected = [(slope(A + d) - slope(A - d)) / 2e-6 for d in step]
    second = hessian(program)
    for _ in range(2):
        np.testing.assert_allclose(second(A), expected, rtol=1e-6, atol=1e-7)
