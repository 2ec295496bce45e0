"""Which rule answers in written code: rules come, change and go, by type."""

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad
from rules_core import NoTangent, frule, rrule
from tests.engine.straight.ruled import X, by_partials, cube, settled

pytestmark = pytest.mark.usefixtures("alone")


def test_a_changed_rule_is_used():
    function, _ = by_partials()

    def program(x):
        return function(x) + x

    assert settled(program, 2.0) == 25.0
    rrule.undefine(function)
    frule.undefine(function)
    rc.scalar_rule(function, lambda y, x: (x * 0.0 + 100.0,))
    assert grad(program)(2.0) == 101.0
    assert settled(program, 2.0) == 101.0


def test_a_more_specific_rule_is_used():
    function, _ = by_partials()

    def program(x):
        return function(x) + x

    assert settled(program, 2.0) == 25.0

    @rrule.define(function)
    def cube_rrule(x: float):
        return x**3, lambda dy: (NoTangent(), -dy)

    assert grad(program)(2.0) == 0.0
    assert settled(program, 2.0) == 0.0


def test_an_opt_out_is_followed():
    function, _ = by_partials()

    def program(x):
        return function(x) + x

    assert settled(program, 2.0) == 25.0
    rc.opt_out(rrule, function, float)
    rc.opt_out(frule, function, float)
    assert settled(program, 2.0) == 13.0


def made(rule):
    def cube(x):
        return x * x * x

    if rule:
        rc.scalar_rule(cube, lambda y, x: (6.0 * x * x,))

    def program(x):
        return cube(x) + x

    return program


@pytest.mark.parametrize("order", [(True, False), (False, True)])
def test_a_function_with_the_same_code_and_no_rule(order):
    for rule in order:
        assert settled(made(rule), 2.0) == (25.0 if rule else 13.0)


def test_debug_mode_watches():
    function = cube()

    @rrule.define(function)
    def cube_rrule(x):
        return x**3, lambda dy: (NoTangent(), np.ones(7))

    def program(x):
        return function(x) + x

    with rc.debug_mode(), pytest.raises(rc.DebugError):
        settled(program, 2.0)


def test_somebody_elses_rule_for_a_numpy_function(tapes):
    @rrule.define(np.tanh)
    def tanh_rrule(x: float):
        return np.tanh(x), lambda dy: (NoTangent(), 100.0 * dy)

    def of_number(x):
        return np.tanh(x) + x

    def of_array(x):
        return np.sum(np.tanh(x))

    assert settled(of_number, 0.5) == 101.0
    np.testing.assert_allclose(settled(of_array, X), 1.0 - np.tanh(X) ** 2)
    tapes.clear()
    assert grad(of_number)(0.5) == 101.0
    grad(of_array)(X)
    assert tapes == []


def test_a_whole_number_where_a_float_stood():
    @rc.primitive
    def scaled(x, by):
        return x * by

    @rrule.define(scaled)
    def by_floats(x: float, by: float):
        return x * by, lambda dy: (NoTangent(), 2.0 * by * dy, NoTangent())

    @rrule.define(scaled)
    def by_whole_numbers(x: float, by: int):
        return x * by, lambda dy: (NoTangent(), 5.0 * by * dy, NoTangent())

    def program(x, n):
        factor = n or 2.0
        return scaled(x, factor)

    calls = ((0, 4.0), (0, 4.0), (0, 4.0), (3, 15.0), (0, 4.0), (3, 15.0))
    for n, expected in calls:
        assert grad(program)(1.0, n) == expected
