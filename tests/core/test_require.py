"""`rrule.require` and `frule.require`: a pair, or an error."""

import pytest

import rules_core as rc
from rules_core import HasReverseMode, NoTangent, RuleConfig, frule, rrule


class Reverse(RuleConfig, HasReverseMode):
    pass


def cube(x, scale=1.0):
    return scale * x**3


def define():
    rc.scalar_rule(cube, lambda y, x, scale: (3 * scale * x**2, x**3))


def test_the_pair_of_a_look_up():
    define()
    y, pullback = rrule.require(cube, 2.0, scale=2.0)
    assert (y, pullback(1.0)[1]) == (16.0, 24.0)
    assert frule.require((NoTangent(), 1.0), cube, 2.0) == (8.0, 12.0)
    assert rrule.require(Reverse(), cube, 2.0)[0] == 8.0
    assert frule.require(Reverse(), (NoTangent(), 1.0), cube, 2.0)[0] == 8.0


@pytest.mark.parametrize("config", [(), (Reverse(),)])
def test_nothing_is_defined(config):
    with pytest.raises(rc.RuleNotFound) as caught:
        rrule.require(*config, cube, 1.0)
    assert str(caught.value) == (
        "no rrule applies to cube(float, float).\n"
        "  None is defined. Write one with @rrule.define(cube)."
    )
    with pytest.raises(rc.RuleNotFound, match=r"no frule applies to cube\(float, "):
        frule.require(*config, (NoTangent(), 1.0), cube, 1.0)


def test_an_opt_out():
    define()
    rc.opt_out(rrule, cube, float, float)
    with pytest.raises(rc.RuleNotFound, match=r"at test_require.py:\d+ declines this"):
        rrule.require(cube, 1.0)
