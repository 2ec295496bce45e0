"""Arguments named in any order: each derivative stands where its argument was named."""

import numpy as np
import pytest

from rules_autodiff import grad, hessian, jacfwd, jacrev, value_and_grad


def program(a, b, c):
    return a * a * b + 3.0 * c * b


ARGS = (3.0, 2.0, 5.0)
PARTIALS = (12.0, 24.0, 6.0)
ORDERS = [
    (1, 0), (2, 0, 1), (2, 1, 0), (-1, 0), (-1, -3), [1, 0], [2, -2], (0, 2, 1),
    (np.int64(2), np.int64(0)), (0, 1),
]  # fmt: skip
CALLS = 4  # code is written at the second one
TIERS = ("auto", "tape", "straight")


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_numbers(order, tier):
    expected = tuple(PARTIALS[i] for i in order)
    one = grad(program, order, tier=tier)
    both = value_and_grad(program, order, tier=tier)
    blocks = jacrev(program, order, tier=tier)
    for _ in range(CALLS):
        assert one(*ARGS) == expected
        assert both(*ARGS) == (program(*ARGS), expected)
        assert tuple(map(float, blocks(*ARGS))) == expected
    assert tuple(map(float, jacfwd(program, order)(*ARGS))) == expected


@pytest.mark.parametrize("tier", TIERS)
def test_orders_of_one_function_keep_apart(tier):
    for order in [(0, 1), (1, 0), (0, 1), (2, 1), (1, 2), (1, 0)]:
        for _ in range(CALLS):
            expected = tuple(PARTIALS[i] for i in order)
            assert grad(program, order, tier=tier)(*ARGS) == expected


def contained(pair, x, table):
    return np.sum(pair[0] * x * x) + 2.0 * pair[1] + table["k"] * np.sum(x)


@pytest.mark.parametrize("tier", ["auto", "tape"])
def test_containers_and_arrays(tier):
    pair, x, table = (np.array([1.0, 2.0]), 3.0), np.array([4.0, 5.0]), {"k": 7.0}
    gradient = grad(contained, (2, 1, 0), tier=tier)
    for _ in range(CALLS):
        by_table, by_x, by_pair = gradient(pair, x, table)
        assert by_table == {"k": 9.0}
        np.testing.assert_allclose(by_x, [15.0, 27.0])
        np.testing.assert_allclose(by_pair[0], [16.0, 25.0])
        assert by_pair[1] == 2.0


@pytest.mark.parametrize("tier", TIERS)
def test_jacobians_of_arrays(tier):
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])
    jacobian = jacrev(lambda a, b: a[:, None] * b, (1, 0), tier=tier)
    for _ in range(CALLS):
        by_b, by_a = jacobian(a, b)
        assert by_b.shape == (2, 3, 3)
        assert by_a.shape == (2, 3, 2)
        np.testing.assert_array_equal(by_b[1], 2.0 * np.eye(3))


def test_hessians():
    rows = hessian(program, (1, 0))(*ARGS)
    assert [[float(entry) for entry in row] for row in rows] == [[0.0, 6.0], [6.0, 4.0]]
