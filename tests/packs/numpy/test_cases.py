"""Programs whose derivatives are known: by exact algebra, mpmath or another library.

What one rule shows stands with the tests of that rule (powers, clips, norms,
determinants); here is what takes several.
"""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest

import rules_autodiff as ad
import rules_core as rc


def pulled(f, x, dy):
    _, pullback = ad.vjp(f, x)
    return pullback(dy)[0]


def test_a_real_number_has_a_real_cotangent():
    for dy, expected in ((1j, 1.0), (1.0, 0.0)):
        dx = pulled(lambda x: 1j * x, 2.0, dy)
        assert type(dx) is float
        assert dx == expected


def test_the_square_of_a_size():
    assert pulled(lambda z: np.abs(z) ** 2, 3 + 1j, 1.0) == pytest.approx(6 + 2j)


def test_products_by_reduce():
    def with_start(xs, start):
        return functools.reduce(operator.mul, xs, start)

    _, pullback = ad.vjp(with_start, [1.0, 2.0, 3.0], 1.0)
    assert pullback(7.0) == ([42.0, 21.0, 14.0], 42.0)
    product = pulled(
        lambda xs: functools.reduce(operator.mul, xs), (1.0, 2.0, 0.0, 4.0), 8.0
    )
    assert product == (0.0, 0.0, 64.0, 0.0)


class Counting:
    """`(x + y) * n`, where n counts the calls; its pullback counts in tens."""

    def __init__(self):
        self.n = 0

    def __call__(self, x, y):
        self.n += 1
        return (x + y) * self.n


@pytest.mark.parametrize(
    ("start", "value", "cotangents", "count"),
    [
        ((), 46.0, ([384.0, 504.0, 22.0],), 42),
        ((3.0,), 123.0, ([27027.0, 559.0, 23.0], 22737.0), 63),
    ],
)
def test_the_order_of_the_reverse_sweep(start, value, cotangents, count):
    with rc.testing.isolated_rules():

        @rc.rrule.define(Counting.__call__)
        def counting_rrule(self: Counting, x: float, y: float):
            def counting_pullback(dy):
                left = dy * tick(self)
                return rc.NoTangent(), left, dy * tick(self)

            return self(x, y), counting_pullback

        f = Counting()
        y, pullback = ad.vjp(
            lambda xs, *first: functools.reduce(f, xs, *first), [5.0, 7.0, 11.0], *start
        )
        assert y == value
        assert pullback(1.0) == cotangents
        assert f.n == count


def tick(counter):
    counter.n += 10
    return counter.n


def exponential(a):
    """By scaling and squaring, in plain NumPy."""
    total = term = np.eye(len(a))
    for k in range(1, 20):
        term = term @ (a / 2**10) / k
        total = total + term
    for _ in range(10):
        total = total @ total
    return total


def test_the_exponential_of_a_matrix():
    a = np.array(
        [[0.0, 10.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0] * 4, [-2.0, 0.0, 0.0, 0.0]]
    )
    known = [
        [-2.01592391, -0.34109517, -0.60647653, -0.07571381],
        [-0.66056821, -1.61596670, -0.01983605, -3.21209735],
        [1.99324537, -0.20651931, 1.0, -1.41303863],
        [1.99324537, -0.20651931, 1.0, -1.41303863],
    ]
    gradient = ad.grad(lambda a: np.sum(exponential(a)))(a)
    np.testing.assert_allclose(gradient, known, atol=5e-9)


def test_the_solution_of_a_linear_program_on_a_ball():
    """min cᵀx over ‖x‖ ≤ 1 has x = -c / ‖c‖."""
    c = np.array([3.0, 4.0])
    dc = pulled(lambda c: -c / np.linalg.norm(c), c, np.array([1.0, 0.0]))
    np.testing.assert_allclose(dc, [-0.128, 0.096], rtol=1e-12)
