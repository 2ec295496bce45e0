"""The oracle finds what it should, and leaves out what it cannot judge."""

import math

import pytest

from tests.wild.discovery import Program
from tests.wild.judging import compared, first_trial, judge


def cubic(x, y):
    return x**3 * y


def by_newton(x):
    """A root to three digits: what ran has another slope than the root."""
    y = x
    while abs(y * y - x) > 1e-3 * x:
        y = 0.5 * (y + x / y)
    return y


def trial_of(function, count):
    return first_trial(Program(function.__name__, function, count))


def test_slopes_of_the_right_size_alone_are_right():
    trial = trial_of(cubic, 2)
    slopes = [float(slope.value[0]) for slope in trial.slopes]
    assert compared(trial, [("here", slopes)]) == ("right", "")
    off = [slopes[0], slopes[1] * (1 + 1e-5)]
    assert compared(trial, [("there", slopes), ("here", off)])[0] == "wrong"
    assert compared(trial, [("here", [math.nan, 0.0])])[0] == "not a number"
    assert compared(trial, [("here", [0.0, 0.0])])[0] == "wrong"


@pytest.mark.parametrize(("function", "count"), [(cubic, 2), (by_newton, 1)])
def test_the_engine_is_right(function, count):
    judgement = judge(trial_of(function, count))
    assert (judgement.verdict, judgement.why) == ("right", "")
    assert judgement.written


@pytest.mark.parametrize("function", [math.floor, math.gamma, lambda x: x * 0.0, str])
def test_only_smooth_numbers_are_judged(function):
    trial = first_trial(Program("f", lambda x: function(x), 1))
    assert (trial is None) == (function is not math.gamma)


def test_a_crash_is_wrong_and_an_error_of_the_engine_is_not():
    seen = []

    def crashing(x):
        seen.append(x)
        if len(seen) > calls:
            raise KeyError
        return x * x

    calls = 10**9
    trial = trial_of(crashing, 1)
    calls = len(seen)
    assert judge(trial).why.startswith("crashed: KeyError")
    assert judge(trial_of(lambda x: float(f"{x:.17g}"), 1)).verdict == "refused"
