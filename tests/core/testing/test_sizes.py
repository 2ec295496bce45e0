"""Tangents, arguments and slopes of every size are judged as those of size 1."""

import numpy as np
import pytest

from rules_core import NoTangent, array_namespace, frule, primitive, rrule
from rules_core.testing import CheckFailed, Seeded, check_rule

X = np.array([1.0, 2.0, -3.0])
DX = np.array([0.5, -2.0, 1.5])
SIZES = (1e-300, 1e-100, 1e-8, 1.0, 1e8, 1e100, 1e300)


def wave(size=1.0, speed=1.0, factor=1.0, through=lambda slope, dx: slope * dx):
    """`size * sin(speed * x)` with rules whose slopes are `factor` times the right one.

    Args:
        size: Of the values.
        speed: One over the size of the arguments.
        factor: 1 for right rules.
        through: Multiplies slopes by tangents or cotangents.
    """

    @primitive
    def f(x):
        return size * np.sin(speed * x)

    def slope(x):
        return factor * size * speed * array_namespace(x).cos(speed * x)

    @rrule.define(f)
    def f_rrule(x):
        return f(x), lambda dy: (NoTangent(), through(slope(x), dy))

    @frule.define(f)
    def f_frule(tangents, x):
        return f(x), through(slope(x), tangents[1])

    return f


def masked(slope, dx):
    xp = array_namespace(slope, dx)
    return xp.where(dx == 0, xp.zeros_like(slope), slope * dx)


def failures(caught):
    return {c.name for c in caught.value.report.checks if c.status == "failed"}


@pytest.mark.parametrize("size", SIZES)
def test_given_tangents(size):
    given = {"tangents": [size * DX], "cotangent": size * DX, "hosts": ()}
    assert check_rule(wave(), X, **given)
    assert check_rule(wave(), Seeded(X, size * DX), hosts=())
    with pytest.raises(CheckFailed) as caught:
        check_rule(wave(factor=1 + 1e-6), X, **given)
    assert failures(caught) == {"rrule.derivative", "frule.derivative"}
    with pytest.raises(CheckFailed) as caught:
        check_rule(wave(through=masked), X, **given)
    assert failures(caught) == {"rrule.slope-at-zero", "frule.slope-at-zero"}


@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e300])
def test_slopes(size):
    assert check_rule(wave(size), X, hosts=())
    with pytest.raises(CheckFailed) as caught:
        check_rule(wave(size, through=masked), X, hosts=())
    assert failures(caught) == {"rrule.slope-at-zero", "frule.slope-at-zero"}


@pytest.mark.parametrize("speed", [1e-140, 1e100])
@pytest.mark.parametrize("tangent", [None, DX, 1e-200 * DX])
def test_arguments(speed, tangent):
    given = {"tangents": [tangent], "hosts": ()}
    assert check_rule(wave(speed=speed), X / speed, **given)
    with pytest.raises(CheckFailed) as caught:
        check_rule(wave(speed=speed, factor=1 + 1e-6), X / speed, **given)
    assert failures(caught) == {"rrule.derivative", "frule.derivative"}
