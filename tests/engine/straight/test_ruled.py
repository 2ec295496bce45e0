"""Functions with rules in written code: the rule is called, the tape is not asked."""

import math

import numpy as np
import pytest
import scipy.special

import rules_core as rc
from rules_autodiff import grad, jacrev, vjp
from rules_core import frule
from tests.engine.straight.ruled import (
    MAKERS,
    X,
    by_partials,
    by_rrule,
    cube,
    fresh,
    settled,
)

pytestmark = pytest.mark.usefixtures("alone")


@pytest.mark.parametrize("make", MAKERS)
def test_numbers(make, tapes):
    function, slope = make()

    def program(x):
        total = 0.0
        for i in range(5):
            total = total + function(x + i)
        return total

    settled(fresh(program), 1.3)
    tapes.clear()
    found = grad(program)(1.3)
    np.testing.assert_allclose(found, sum(slope(1.3 + i) for i in range(5)))
    assert program not in tapes


@pytest.mark.parametrize("make", MAKERS)
def test_arrays(make, tapes):
    function, slope = make()

    def program(x):
        return np.sum(function(2.0 * x) * x)

    settled(fresh(program), X)
    tapes.clear()
    found = grad(program)(X)
    expected = 2.0 * slope(2.0 * X) * X + function(2.0 * X)
    np.testing.assert_allclose(found, expected)
    assert program not in tapes


@pytest.mark.parametrize("make", MAKERS)
def test_rows_and_pullbacks(make):
    function, slope = make()

    def program(x):
        return function(x) + x

    for _ in range(4):
        rows = jacrev(program)(X)
        _, pullback = vjp(program, X)
        found = pullback(np.ones(3))
    np.testing.assert_allclose(rows, np.diag(slope(X) + 1.0))
    np.testing.assert_allclose(found[0], slope(X) + 1.0)


def two_arguments():
    @rc.primitive
    def mixed(x, y):
        return x * np.sin(y)

    def partials(z, x, y):
        return 2.0 * np.sin(y), 2.0 * x * np.cos(y)

    rc.scalar_rule(mixed, partials)
    return mixed, partials


SHAPES = [
    (1.3, 0.7),
    (X, 0.7),
    (1.3, X),
    (X, X + 1.0),
    (X, np.ones((2, 3))),
    (np.ones((2, 1)), X),
]


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("args", SHAPES, ids=str)
@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_two_arguments_are_broadcast(args, argnums, tapes):
    function, partials = two_arguments()

    def of_numbers(x, y):
        z = function(x, y)
        return z * z

    def of_arrays(x, y):
        z = function(x, y)
        return np.sum(z * z)

    program = of_arrays if max(map(np.ndim, args)) else of_numbers
    found = settled(fresh(program), *args, argnums=argnums)
    value = args[0] * np.sin(args[1])
    expected = []
    for x, p in zip(args, partials(value, *args), strict=True):
        whole = np.broadcast_to(2.0 * value * p, np.shape(value))
        expected.append(reduced(whole, np.shape(x)))
    expected = tuple(expected) if argnums == (0, 1) else expected[argnums]
    both = found if argnums == (0, 1) else (found,)
    wanted = expected if argnums == (0, 1) else (expected,)
    for one, other in zip(both, wanted, strict=True):
        np.testing.assert_allclose(one, other)
    tapes.clear()
    grad(program, argnums=argnums)(*args)
    assert program not in tapes


def reduced(whole, shape):
    whole = np.asarray(whole)
    lead = tuple(range(whole.ndim - len(shape)))
    whole = whole.sum(lead)
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and whole.shape[i] != 1)
    return whole.sum(axes, keepdims=True)


PACK = {
    "sinc": lambda x: np.sum(np.sinc(x)),
    "interp": lambda x: np.sum(np.interp(x, np.array([-2.0, 0.0, 3.0]), X)),
    "nanmean": lambda x: np.nanmean(x * x) + 0.0,
    "linalg": lambda x: np.sum(np.linalg.eigvalsh(np.outer(x, x) + np.eye(3)) ** 2),
    "fft": lambda x: np.sum(np.convolve(x, np.ones(2)) ** 2),
    "ptp": lambda x: np.ptp(x) * 2.0,
    "special": lambda x: np.sum(scipy.special.jv(1, np.abs(x))),
    "keyword": lambda x: np.sum(np.nanprod(x * np.ones((2, 3)), axis=0) ** 2),
    "number": lambda x: math.gamma(np.sum(x) + 1.0),
}


@pytest.mark.parametrize("name", PACK)
def test_functions_of_packs_that_are_not_written_out(name, tapes):
    program = PACK[name]
    found = settled(program, X)
    step = 1e-6
    differences = [
        (program(X + step * e) - program(X - step * e)) / (2 * step) for e in np.eye(3)
    ]
    np.testing.assert_allclose(found, differences, rtol=1e-7, atol=1e-8)
    tapes.clear()
    np.testing.assert_array_equal(grad(program)(X), found)
    assert program not in tapes


def test_an_frule_alone_is_transposed_by_the_tape():
    function = cube()

    @frule.define(function)
    def cube_frule(tangents, x):
        return x * x * x, 6.0 * x * x * tangents[1]

    def program(x):
        return function(x) + x

    assert settled(program, 2.0) == 25.0


def test_a_test_of_a_branch_asks_a_function_with_a_rule():
    function, _ = by_partials()

    def program(x):
        if function(x) > 1.0:
            return function(x)
        return 2.0 * x

    assert settled(program, 2.0) == 24.0
    assert settled(program, 0.5) == 2.0


def test_a_primitive_without_rules_is_written_out(tapes):
    @rc.primitive
    def cube(x):
        return x * x * x

    def program(x):
        return cube(x) + x

    assert settled(program, 2.0) == 13.0
    tapes.clear()
    assert grad(program)(2.0) == 13.0
    assert tapes == []


def test_straight_says_that_a_rule_must_run_first():
    function, _ = by_rrule()

    def program(x):
        return function(x) + x

    with pytest.raises(rc.RulesCoreError, match="what cube returns is not known yet"):
        grad(program, tier="straight")(2.0)
    grad(program)(2.0)
    assert grad(program, tier="straight")(2.0) == 37.0
