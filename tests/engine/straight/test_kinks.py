"""At kinks and ties, and wherever a number is not finite, the tape's derivative holds.

Written code either has it, or something that is not finite, or it raises: then the tape
does the whole gradient.
"""

import math
from itertools import product

import numpy as np
import pytest

from tests.engine.straight.cases_elementwise import CURVES, OF_NUMBERS
from tests.engine.straight.checks import cotangents_of
from tests.engine.straight.written import (
    Literal,
    by_tape,
    forward,
    method,
    of,
    operator,
)

L = Literal
LEFT = "to the tape"


def settled(case, dz):
    """The cotangents, or that they are left to the tape."""
    with np.errstate(all="ignore"):
        z = forward(case, case.written)
    try:
        found = cotangents_of(case, z, dz)
    except ArithmeticError:
        return LEFT
    except ValueError:  # of `math`, at the edge of where a function is defined
        return LEFT
    return found if all(np.isfinite(d).all() for d in found) else LEFT


def assert_as_tape(case, found, dz):
    """The same, up to what is lost near the smallest numbers."""
    lost = 1e-100 * np.max(np.abs(dz), initial=1.0)
    of_tape = by_tape(case, case.written, dz)
    for d, expected in zip(found, of_tape, strict=True):
        np.testing.assert_allclose(d, expected, 1e-9, lost, err_msg=case.name)


X = np.array([[0.5, 2.0, 2.0, -1.0], [0.5, 0.0, 0.0, 3.0]])
ZERO, ROWS = np.zeros(3), np.array([[0.0, 0.0], [3.0, 4.0]])
NEAR = [0.0, -0.0, 0.5, 2.0, np.float64(2.0)]


EXTREMES = (np.maximum, np.minimum, np.fmax, np.fmin)


def tied():
    """Calls at kinks that written code follows."""
    found = [of(f, x) for f in (np.absolute, np.fabs, abs) for x in (0.0, -0.0, ZERO)]
    found += [of(math.fabs, 0.0), operator("abs", ZERO), operator("abs", np.float64(0))]
    found += [of(np.sign, X), of(np.floor, X)]
    pairs = [*product(NEAR, NEAR), (X, X), (X, 2.0), (0.0, X), (X, X[1]), (X[:, :1], X)]
    found += [of(f, *pair) for f in EXTREMES for pair in pairs]
    found += [
        of(f, *row)
        for f in (max, min)
        for row in ((2.0, 2.0), (1.0, 2.0, 2.0), (0.0, -0.0), (2, 1.0), (2.0, 1))
    ]
    for f, name in ((np.max, "max"), (np.min, "min")):
        found += [of(f, X), of(f, ZERO), method(name, X)]
        found += [
            of(f, X, axis=a, keepdims=k) for a in (0, 1, (0, 1)) for k in (True, False)
        ]
    bounds = [
        (2.0, 3.0),
        (-1.0, 2.0),
        (2.0, 2.0),
        (3.0, 2.0),
        (L(0.5), L(0.5)),
        (L(0.5), L(2)),
        (L(2.0), L(0.5)),
        (X, X),
        (X[0], X[1]),
        (L(None), 2.0),
        (2.0, L(None)),
        (2, 2),
    ]
    found += [of(np.clip, x, *pair) for pair in bounds for x in (X, X[0], X[:, :1])]
    found += [
        of(np.clip, x, *pair)
        for pair in bounds
        if pair[0] is not X
        if not isinstance(pair[0], np.ndarray)
        for x in NEAR
    ]
    found += [
        of(np.linalg.norm, ZERO),
        of(np.linalg.norm, ROWS, axis=1),
        of(np.linalg.norm, ROWS, axis=-1, keepdims=True),
        of(np.linalg.norm, np.zeros((2, 2))),
        of(np.linalg.norm, ZERO, axis=0),
    ]
    found += [of(f, 0.0, 0.0) for f in (np.hypot, math.hypot)]
    found += [of(np.hypot, ZERO, ZERO), of(np.hypot, X, 0.0)]
    found += [of(np.std, ZERO + 2.0), of(np.std, ROWS, axis=1), of(np.var, ZERO)]
    found += [operator("pow", x, L(p)) for x in (0.0, ZERO, X) for p in (0, 1, 2, 3, 4)]
    found += [operator("pow", x, p) for x in (0.0, ZERO) for p in (2.0, 1.0, 2)]
    found += [
        operator("pow", ZERO, p) for p in (np.zeros(3), np.array([0.0, 1.0, 2.0]))
    ]
    found += [of(np.where, X > 0, X, X), of(np.where, X > 0, 0.0, X)]
    return [*found, of(np.sort, X[0]), of(np.sort, X[1, ::-1]), of(np.sort, ZERO)]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("place", range(4))
def test_kinks(place):
    cases = tied()[place::4]
    for case in cases:
        z = forward(case, case.written)
        dz = np.random.default_rng(1).standard_normal(z.shape) if np.ndim(z) else 0.75
        found = settled(case, dz)
        assert found is not LEFT, case.name
        assert_as_tape(case, found, dz)


def test_a_tie_shares():
    case = of(np.maximum, X, 2.0)
    by_x, by_number = settled(case, np.ones((2, 4)))
    assert by_x.tolist() == [[0, 0.5, 0.5, 0], [0, 0, 0, 1]]
    assert by_number == 6.0


# numbers of every size, and none

ODD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1e200, -1e-200, 1e-320]
PAIRED = [np.nan, np.inf, -np.inf, 0.0, 1.0, -0.5, 1e200, -1e-200]
DIRECTIONS = [1.0, 0.0, -1e150]
TWO = (
    np.add, np.multiply, np.subtract, np.divide, np.remainder, np.arctan2, np.hypot,
    *EXTREMES, np.logaddexp, np.power, np.floor_divide, np.fmod,
)  # fmt: skip
UNARY = [f for fs in CURVES.values() for f in fs]
OPERATORS = ("add", "sub", "mul", "truediv", "pow", "mod")


def calls(case):
    """The call with each kind of cotangent, if the program has a result at all."""
    try:
        with np.errstate(all="ignore"):
            z = forward(case, case.written)
    except (ArithmeticError, ValueError):
        return
    for dz in DIRECTIONS:
        yield np.full(z.shape, dz) if np.ndim(z) else dz


def assert_right_or_left(case):
    for dz in calls(case):
        found = settled(case, dz)
        if found is not LEFT:
            assert_as_tape(case, found, dz)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("f", UNARY, ids=lambda f: f.__name__)
def test_odd_entries(f):
    for x in ODD:
        assert_right_or_left(of(f, x))
        assert_right_or_left(of(f, np.array([x, 0.5])))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("f", [*OF_NUMBERS, math.acosh], ids=lambda f: f.__name__)
def test_odd_numbers(f):
    for x in ODD:
        assert_right_or_left(of(f, x))


@pytest.mark.covering(every=6)
@pytest.mark.parametrize("f", TWO, ids=lambda f: f.__name__)
def test_odd_pairs(f):
    for x, y in product(PAIRED, PAIRED):
        assert_right_or_left(of(f, x, y))
        assert_right_or_left(of(f, np.array([x]), np.array([y])))
        assert_right_or_left(of(f, np.array([x]), y))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", OPERATORS)
def test_odd_operands(name):
    for x, y in product(PAIRED, PAIRED):
        for a, b in ((x, y), (np.float64(x), np.float64(y)), (np.array([x, 0.3]), y)):
            assert_right_or_left(operator(name, a, b))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("f", [math.atan2, math.hypot, math.pow, math.fmod, max, min])
def test_odd_pairs_of_numbers(f):
    for x, y in product(ODD, ODD):
        assert_right_or_left(of(f, x, y))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("p", [-2, -1, 0, 1, 2, 3, 4, 0.5, -0.5, 1.5])
def test_odd_bases(p):
    for x in ODD:
        assert_right_or_left(operator("pow", x, L(p)))
        assert_right_or_left(operator("pow", np.array([x, 0.5]), L(p)))


ALONG = (np.sum, np.mean, np.max, np.min, np.prod, np.var, np.std, np.cumsum)
REDUCTIONS = (*ALONG, np.linalg.norm, np.cumprod, np.sort)


@pytest.mark.covering(every=4)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("f", REDUCTIONS, ids=lambda f: f.__name__)
def test_odd_reductions(f):
    for x, y in product(PAIRED, PAIRED):
        row = np.array([x, y, 0.5])
        assert_right_or_left(of(f, row))
        if f in ALONG:
            assert_right_or_left(of(f, np.array([row, row[::-1]]), axis=0))
