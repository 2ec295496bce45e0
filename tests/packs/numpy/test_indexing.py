"""Reading by index and choosing by condition."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import rules_core as rc

RNG = np.random.default_rng(4)
V = RNG.normal(size=3)
M = RNG.normal(size=(3, 4))
Z = M + 1j * RNG.normal(size=M.shape)

KEYS = [
    1,
    (0, 2),
    slice(None, None, -1),
    (Ellipsis, 1),
    (None, slice(1, None)),
    [1, 1, 0],
    ([0, 2], [1, 1]),
    M > 0,
    (slice(None), [0, 0, 3]),
    np.array([[0, 1], [1, 1]]),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_getitem(check, key):
    check(operator.getitem, M, key)
    check(operator.getitem, Z, key)


def test_repeated_index_known():
    _, pullback = rc.rrule(operator.getitem, np.array([1.0, 2.0, 3.0]), [1, 1, 1])
    np.testing.assert_array_equal(pullback(np.ones(3))[1], [0.0, 3.0, 0.0])


def test_where(check):
    check(np.where, M > 0, M, 2 * M)
    check(np.where, M > 0, V[:, None], 1.5)
    check(np.where, M > 0, Z, M)
    check(np.where, [True, False, True], V, [1.0, 2.0, 3.0])


def test_where_with_one_argument_finds_places():
    y, pullback = rc.rrule(np.where, M)
    assert len(y) == 2
    assert all(isinstance(d, rc.AbstractZero) for d in pullback(rc.NoTangent()))


def test_select(check):
    conditions = [M > 0.5, M > 0.0]
    check(np.select, conditions, [M, 2 * M])
    check(np.select, conditions, [M, V[:, None]], 1.5)
    check(np.select, conditions, [Z, 2 * M])


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_choose(check, mode):
    index = np.array([[0, 1, 1, 0]] * 3)
    check(np.choose, index, [M, V[:, None]], None, mode)
    check(np.choose, np.array([1, 0, 1]), np.stack([V, 2 * V]), None, mode)
