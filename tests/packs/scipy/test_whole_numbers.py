"""Whole numbers beside arguments with a derivative, in every place of a ufunc."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.special

import rules_core as rc
from rules_autodiff import jvp

ORDINARY = (0.4, 0.3, 0.6, 0.5)
UFUNCS = [
    name
    for name in sorted(dir(scipy.special))
    if isinstance(getattr(scipy.special, name), np.ufunc)
    if 2 <= getattr(scipy.special, name).nin <= 4
]


def calls(f):
    """The positions of whole numbers, and whether SciPy takes them there."""
    for whole in itertools.product([False, True], repeat=f.nin):
        if any(whole) and not all(whole):
            for number in (1, 2, np.int32(2)):
                yield (
                    whole,
                    [
                        number if each else x
                        for each, x in zip(whole, ORDINARY, strict=False)
                    ],
                )


def first(result):
    return result[0] if isinstance(result, tuple) else result


def slope(f, whole, args):
    """The derivative by the first other argument; None without a call or a rule."""
    place = whole.index(False)

    def program(x):
        return first(f(*args[:place], x, *args[place + 1 :]))

    try:
        program(args[place])
    except TypeError:  # SciPy takes no whole number there
        return None
    try:
        return jvp(program, (args[place],), (1.0,))[1]
    except rc.RulesCoreError:
        return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.covering(every=6)
@pytest.mark.parametrize("name", UFUNCS)
def test_the_derivative_is_that_beside_floats(name):
    """Or no derivative at all; NaN at the ends of a domain in both."""
    f = getattr(scipy.special, name)
    for whole, args in calls(f):
        found = slope(f, whole, args)
        expected = slope(f, whole, [float(x) for x in args])
        if found is not None and expected is not None:
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


def test_names_are_found():
    assert len(UFUNCS) > 100
    assert "tklmbda" in UFUNCS
