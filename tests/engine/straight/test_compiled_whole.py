"""Whole numbers in compiled code, at and beyond the ends of 64 bits.

Compiled code does not serve a call in which a number leaves them; where it serves one
it computes what Python does.
"""

import itertools
import math

import numpy as np
import pytest

from rules_autodiff.straight._tier import compiling, signatures
from tests.engine.straight.compiled import assert_agree, served

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch):
    monkeypatch.setattr(signatures, "AFTER", 0)
    monkeypatch.setattr(compiling, "WORTH", 0)
    monkeypatch.setattr(compiling, "FAILURES", 10**9)
    monkeypatch.setattr(signatures, "FAILURES", 10**9)


def whole(x, k, j, case):
    """One operation of each by `case`, in a loop; compiled once."""
    c, s = k, x
    for i in range(2):
        if case == 0:
            c = -c
        elif case == 1:
            c = c // j
        elif case == 2:
            c = c % j
        elif case == 3:
            c = c + j
        elif case == 4:
            c = c - j
        elif case == 5:
            c = c * j
        elif case == 6:
            c = c**2
        elif case == 7:
            c = k // -1 - -j
        elif case == 8:
            c = min(c, j) - i
        elif case == 9:
            s = c / (j + 4) * x
        elif case == 10:
            for m in range(c, j):
                s = s + m * x
                if m != k:
                    break
        elif case == 11:
            for m in range(j, c, -1):
                s = s + m * x
                if m != j:
                    break
        elif case == 12:
            for m in reversed(range(c, j)):
                s = s + m * x
                if m < j - 1:
                    break
        elif case == 13:
            for m in range(c, j, 3):
                s = s + m * x
                if m > k:
                    break
        elif case == 14:
            s = s + float(c) * x + c * s
        elif case == 15:
            s = s * 2.0 if c > 1.5 * j * x else s
        else:
            s = s + c * x
    return s + c * x


CASES = range(17)
EDGES = [
    0, 1, -1, 2, -3, 2**31, 2**31 - 1, -(2**31), 2**53 + 1, -(2**61), 2**62, -(2**62),
    2**63 - 1, 2 - 2**63, -(2**63), 2**63, -(2**63) - 1, 2**64,
]  # fmt: skip
PAIRS = [*itertools.product(EDGES, EDGES)]


def check(case, pairs):
    for k, j in pairs:
        with np.errstate(all="ignore"):
            assert_agree(whole, 1.5, k, j, case, by=(0,), rtol=4e-16)


@pytest.mark.parametrize("case", CASES)
def test_operations(case):
    """Every seventh pair, others for each operation."""
    check(case, PAIRS[case % 7 :: 7])


@pytest.mark.full
@pytest.mark.parametrize("case", CASES)
def test_operations_for_all_pairs(case):
    check(case, PAIRS)


@pytest.mark.parametrize(
    ("k", "j", "case"),
    [
        (-(2**63), 1, 0), (-(2**63), -1, 1), (2**62, 2**62, 3), (-(2**63), 1, 4),
        (2**32, 2**31, 5), (2**32, 1, 6), (-(2**63), 0, 7), (2**62, 2, 10),
        (5, 0, 1), (5, 0, 2), (2**63, 1, 16),
    ],
)  # fmt: skip
def test_these_are_not_served(k, j, case):
    assert "does not serve this call" in served(whole, 1.5, k, j, case, by=(0,))


@pytest.mark.parametrize("case", CASES)
def test_these_are_served(case):
    assert not isinstance(served(whole, 1.5, 7, 4, case, by=(0,)), str)


def made(x, y, case):
    """Whole numbers that are made from others, and truth values as numbers."""
    s = x
    for i in range(2):
        if case == 0:
            s = s + int(y) * x
        elif case == 1:
            s = s + math.floor(y) * x
        elif case == 2:
            s = s + math.ceil(y) * x
        elif case == 3:
            s = s + math.trunc(y) * x
        elif case == 4:
            s = s + (y > i) * x + (y > i and x > y) * 3.0
        elif case == 5:
            s = (y > x) * 2.0 + (not x > y) * 0.5
        else:
            s = (y > x or x > i) * 2 - (y < x) * 0.5
    return s


FLOATS = [
    0.5, -0.5, -2.0, 2.0**52 - 0.5, 2.0**53, 1.5e18, 2.0**63, -(2.0**63), 1e19, -1e300,
    math.inf, math.nan,
]  # fmt: skip


@pytest.mark.parametrize("case", range(7))
def test_made_from_floats(case):
    for y in FLOATS:
        assert_agree(made, 1.5, y, case, by=(0,))


@pytest.mark.full
@pytest.mark.parametrize("case", range(7))
def test_made_from_floats_of_numpy(case):
    """The class of a truth value, too, is NumPy's where a number of it is compared."""
    for y in FLOATS:
        with np.errstate(all="ignore"):
            assert_agree(made, 1.5, np.float64(y), case, by=(0,))
            assert_agree(made, np.float64(1.5), y, case, by=(0,))


def counted(x, marks, n):
    s = 0.0
    for i in range(n):
        s = s + (marks[i] + marks[i - 1]) * x
    return s


@pytest.mark.full
def test_entries_that_numpy_adds():
    """Its truth values are no numbers, and its whole numbers wrap around."""
    marks = np.array([True, True, False])
    assert_agree(counted, 1.5, marks, 3, by=(0,))
    assert isinstance(served(counted, 1.5, marks, 3, by=(0,)), str)
    large = np.array([2**62, 2**62, 1])
    with np.errstate(over="ignore"):
        assert_agree(counted, 1.5, large, 3, by=(0,))
    assert "does not serve" in served(counted, 1.5, large, 3, by=(0,))


def grown(x, n, late):
    t, s = 1, 0.0
    for _ in range(n):
        t = t * 3
    if late:
        t = x
    for _ in range(2):
        s = s + (t % 7) * x
    return s


@pytest.mark.full
@pytest.mark.parametrize("n", [3, 33, 34, 40, 700])
def test_a_variable_that_is_now_a_whole_number_and_now_a_float(n):
    """As a float it would be rounded."""
    assert_agree(grown, 1.5, n, 0, by=(0,))
    assert_agree(grown, 1.5, n, 1, by=(0,))
    assert isinstance(served(grown, 1.5, n, 0, by=(0,)), str) == (n > 33)


def dead(x, case):
    """Errors whose values change nothing."""
    for _ in range(2):
        if case == 0 and math.acos(x) > 0.0:
            pass
        if case == 1 and math.exp(1e4 * x) > 0.0:
            pass
        if case == 2 and (1e200 * x) ** 2 > 0.0:
            pass
        if case == 3 and math.log1p(-x) > 0.0:
            pass
        if case == 4 and math.hypot(1.7e308, x * 1e308) > 0.0:
            pass
        x = x * 1.0
    return x


@pytest.mark.full
@pytest.mark.parametrize("case", range(5))
def test_errors_whose_values_change_nothing(case):
    assert_agree(dead, 1e-60, 9, by=(0,))
    assert not isinstance(served(dead, 1e-60, 9, by=(0,)), str)
    assert_agree(dead, 2.0, case, by=(0,))
    assert "does not serve" in served(dead, 2.0, case, by=(0,))
