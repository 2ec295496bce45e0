"""Pytest's plugin: the option, the fixtures, and a pack in one parametrised test."""

import numpy as np
import pytest

import rules_core as rc
from rules_core.testing import CheckCallError, CheckFailed, pack_cases

PLUGIN = ("-p", "rules_core.testing.pytest_plugin", "-p", "no:cacheprovider")


def test_the_option_is_the_fixture(pytester):
    pytester.makepyfile("def test_level(rules_level): assert rules_level == 'full'")
    run = pytester.runpytest_inprocess
    run(*PLUGIN, "--rules-level", "full").assert_outcomes(passed=1)
    run(*PLUGIN).assert_outcomes(failed=1)


def test_fixtures(pytester):
    pytester.makepyfile(
        """
        import pytest
        import rules_core as rc

        def cube(x):
            return x**3

        def define():
            rc.scalar_rule(cube, lambda y, x: (float("nan"),))

        def test_isolated(isolated_rules):
            define()
            assert rc.rrule(cube, 1.0)

        def test_nothing_is_left():
            assert rc.rrule(cube, 1.0) is None

        def test_watched(isolated_rules, rules_debug):
            define()
            with pytest.raises(rc.DebugError):
                rc.rrule(cube, 1.0)[1](1.0)
        """
    )
    pytester.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=3)


def scaled(x, factor):
    return factor * x


def shifted(x):
    return x + 1.0


def settled(x):
    return round(x)


POINTS = {scaled: [(np.ones(2), 2.0), (1.5, 2.0)]}


def define():
    rc.scalar_rule(scaled, lambda y, x, factor: (factor, x))
    rc.non_differentiable(settled)


def test_a_case_for_the_pack_and_one_for_each_point():
    define()
    cases = pack_cases(__name__, POINTS, hosts=())
    assert list(map(str, cases)) == [
        "pack",
        "scaled(array([1., 1.]), 2.0)",
        "scaled(1.5, 2.0)",
    ]
    for case in cases:
        assert case("quick").failed == ()
    assert list(map(str, pack_cases(__name__))) == ["pack"]


def test_a_function_that_is_left_out_fails():
    define()
    rc.scalar_rule(shifted, lambda y, x: (1.0,))
    *_, case = pack_cases(__name__, POINTS)
    assert str(case) == "shifted without arguments"
    with pytest.raises(CheckCallError) as caught:
        case()
    assert str(caught.value) == (
        f"pack_cases({__name__!r}): shifted has rules in the pack, but no arguments to "
        "be checked at. Add it to the arguments."
    )


def test_a_wrong_rule_fails():
    rc.scalar_rule(shifted, lambda y, x: (2.0,))
    case = pack_cases(__name__, {shifted: (1.0,)}, hosts=())[1]
    with pytest.raises(CheckFailed):
        case()
