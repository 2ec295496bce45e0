"""Caches that are asked by comparing: what they would give is refused."""

from typing import Any

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp, stop_gradient
from tests.engine.refusing import assert_refused

X = np.array([0.5, -1.0, 2.0])


class Last:
    """Remembers the last point, as objective functions of optimisers do."""

    def __init__(self):
        self.x = self.value = None

    def of_arrays(self, x):
        if self.x is None or not np.array_equal(self.x, x):
            self.x, self.value = x.copy(), np.sum(x**3)
        return self.value

    def of_entries(self, x):
        if self.x is not None and (self.x == x).all():
            return self.value * 1.0
        self.x, self.value = x.copy(), np.sum(x**3)
        return self.value

    def of_numbers(self, x):
        if self.x != x:
            self.x, self.value = x, x**3
        return self.value


ARRAYS, ENTRIES, NUMBERS = Last(), Last(), Last()
TABLE: dict[Any, Any] = {}
PAIRS: list[Any] = []


def by_arrays(x):
    return ARRAYS.of_arrays(x)


def by_entries(x):
    return ENTRIES.of_entries(x) + np.sum(x)


def by_numbers(x):
    return NUMBERS.of_numbers(x)


def by_search(x):
    for key, value in PAIRS:
        if key == x:
            return value
    PAIRS.append((x, x**3))
    return PAIRS[-1][1]


def by_rounding(x):
    key = round(x, 6)
    if key not in TABLE:
        TABLE[key] = x**3
    return TABLE[key]


WARM = [(by_arrays, X), (by_entries, X), (by_numbers, 1.3), (by_search, 1.3)]


@pytest.mark.parametrize(("f", "x"), WARM, ids=[f.__name__ for f, _ in WARM])
def test_a_warm_cache_is_refused(f, x):
    """The program ran at this point before: its cache holds a plain number."""
    f(x)
    for run in (lambda: grad(f)(x), lambda: jvp(f, (x,), (x,))):
        with pytest.raises(UnsupportedProgram, match="as a cache does") as caught:
            run()
        assert "test_compared_caches.py, line " in str(caught.value)


@pytest.mark.parametrize(("f", "x"), WARM, ids=[f.__name__ for f, _ in WARM])
def test_a_cold_cache_is_followed(f, x):
    y = x + 0.25
    wanted = 3 * y**2 + (f is by_entries)
    np.testing.assert_allclose(grad(f)(y), wanted)
    np.testing.assert_allclose(grad(f)(y), wanted, err_msg="reverse mode undoes it")


def test_a_rounded_key_is_the_key_of_a_cache():
    by_rounding(1.3)
    assert_refused(by_rounding, 1.3, "A dict must be asked")
    assert grad(by_rounding)(1.5) == 3 * 1.5**2


LIMITS = np.array([0.5, 0.5, 0.5])


def compares(x):
    """Comparisons that say nothing of a cache."""
    y = x[0] if x[0] == 0.5 else x[1]
    if np.array_equal(x, x + 0.0) and (x == x * 1.0).all():
        y = y * x[2]
    same = np.array_equal(LIMITS, LIMITS) and not np.array_equal(LIMITS, x)
    return y * 2 if same and LIMITS[0] == x[0] else y


def test_other_comparisons_are_free():
    np.testing.assert_allclose(grad(compares)(X), [4.0, 0.0, 1.0])


def at_a_point(x, point):
    return 1.0 if x == point else np.sin(x) / x


def literal_point(x):
    return 1.0 if x == 0.0 else np.sin(x) / x


def meant(x, point):
    return 1.0 + 0.0 * x if x == point else np.sin(x) / x


def test_a_point_of_exception_is_a_literal_or_meant():
    """Only a constant that was found by comparing two variables is refused."""
    assert grad(literal_point)(0.0) == 0.0
    assert grad(meant)(0.5, 0.5) == 0.0
    assert grad(at_a_point)(0.5, 0.25) != 0.0
    with pytest.raises(UnsupportedProgram, match=r"c \+ 0\.0 \* x"):
        grad(at_a_point)(0.5, 0.5)


GRADES = {"0.50": 3.0}
MASKS = {
    "count": lambda x, of: np.sum(of(x) == X) * np.sum(x),
    "mean": lambda x, of: np.mean(of(x) == X) * np.sum(x),
    "where": lambda x, of: np.sum(np.where(of(x) == X, 3.0 * x, x)),
    "index": lambda x, of: 3.0 * np.sum(x[of(x) == X]),
    "product": lambda x, of: 3.0 * np.sum((of(x) == X) * x),
    "table": lambda x, of: GRADES.get(f"{of(x[0]):.2f}", 0.0) * np.sum(x),
}


@pytest.mark.parametrize("mask", MASKS)
def test_the_cure_for_masks_counts_and_tables(mask):
    """An equality that looks like a cache's is refused; the cure has its derivative."""
    with pytest.raises(UnsupportedProgram, match="stop_gradient"):
        grad(lambda x: MASKS[mask](x, lambda x: x))(X)
    slope = 1.0 if mask == "mean" else 3.0
    program = lambda x: MASKS[mask](x, stop_gradient)
    np.testing.assert_allclose(grad(program)(X), np.full(3, slope))
    np.testing.assert_allclose(jvp(program, (X,), (np.ones(3),))[1], 3 * slope)
