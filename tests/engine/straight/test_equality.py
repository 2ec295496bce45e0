"""Floats that are compared for equality may be keys of a cache: the tape looks."""

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad

KEY, POINT, KNOWN = np.array([1.0, 2.0]), 3.0, 5.0
pytestmark = pytest.mark.usefixtures("at_once")


def by_number(x):
    return KNOWN if x == POINT else x * x


def by_other_sign(x):
    return x * x if x != POINT else KNOWN


def by_array_equal(x):
    if np.array_equal(x, KEY):
        return KNOWN
    return np.sum(x * x)


def by_mask(x):
    if (x == KEY).all():
        return KNOWN
    return np.sum(x * x)


def by_sums(x):
    return KNOWN if np.sum(x) == np.sum(KEY) else np.sum(x * x)


FOUND = [(by_number, POINT), (by_other_sign, POINT)]
FOUND += [(f, KEY) for f in (by_array_equal, by_mask, by_sums)]


@pytest.mark.parametrize(("f", "x"), FOUND, ids=[f.__name__ for f, _ in FOUND])
def test_a_constant_that_was_found(f, x):
    x = x * 1.0
    with pytest.raises(UnsupportedProgram, match=r"c \+ 0\.0 \* x"):
        grad(f)(x)
    np.testing.assert_array_equal(grad(f)(x + 1.0), 2 * (x + 1.0))
    with pytest.raises(UnsupportedProgram, match="whether floats are equal"):
        grad(f, tier="straight")(x)


def literal(x):
    return 1.0 if x == 0.0 else np.sin(x) / x


def whole(x, n):
    return x if n == 0 or n % 2 == 1 else x * x


def test_literals_and_whole_numbers_are_free(tapes):
    assert grad(literal)(0.0) == 0.0
    assert grad(whole)(3.0, 2) == 6.0
    assert grad(whole)(3.0, 1) == 1.0
    assert tapes == []
