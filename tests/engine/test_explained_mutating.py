"""`explain` says of mutating rules what the engine does."""

import itertools
import re
import warnings
from typing import Any

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import (
    CoDual,
    Dual,
    NoFData,
    NoRData,
    frule_mutating,
    grad,
    jvp,
    rrule_mutating,
)

RAN: list[str] = []
TWO: Any = 2.0


def halve(x, by=2.0):
    x /= by


def reverse_rule(x):
    x.primal[...] /= 2.0

    def halve_pullback(_):
        x.fdata[...] /= 2.0
        x.primal[...] *= 2.0
        return NoRData(), NoRData(), NoRData()

    return CoDual(None, NoFData()), halve_pullback


TWO: Any = 2.0  # a default is the primal alone


@pytest.fixture
def rules():
    """Rules of `halve` for arrays and Python floats, in both modes."""

    @rrule_mutating.define(halve)
    def of_arrays(f, x: CoDual[np.ndarray, Any], by: CoDual[float, Any] = TWO):
        RAN.append("of_arrays")
        return reverse_rule(x)

    @frule_mutating.define(halve)
    def forward(f, x: Dual[np.ndarray, Any], by: Dual[float, Any] = TWO):
        RAN.append("forward")
        x.primal[...] /= 2.0
        x.tangent[...] /= 2.0
        return Dual(None, rc.NoTangent())

    yield
    for table in (rrule_mutating, frule_mutating):
        table.rules.pop(halve)


GIVEN = {
    "float": 2.0,
    "int": 2,
    "number": np.float64(2.0),
    "text": "2",
}


@pytest.mark.parametrize(
    ("by", "mode", "keyword"),
    list(itertools.product(GIVEN, ["rrule_mutating", "frule_mutating"], [False, True])),
)
def test_it_says_what_runs(rules, by, mode, keyword):
    """A rule is said to run exactly where it does."""
    given = GIVEN[by]
    args, named = ((), {"by": given}) if keyword else ((given,), {})
    told = rc.explain(halve, np.ones(2), *args, **named)
    section = next(x for x in told.splitlines() if x.startswith(f"{mode} for "))
    name = "of_arrays" if mode == "rrule_mutating" else "forward"

    def program(x):
        y = x * 1.0
        halve(y, *args, **named)
        return y @ y

    RAN.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if mode == "rrule_mutating":
                grad(program)(np.ones(2))
            else:
                jvp(program, (np.ones(2),), (np.ones(2),))
        except TypeError:  # of a text, in the function's own code
            assert by == "text"
    says = re.search(r"runs\.$", section) is not None
    assert says == (name in RAN), told
    assert ("In rules_autodiff no mutating rule applies" in told) == (not says)


def test_it_says_why_a_rule_does_not_apply(rules):
    told = rc.explain(halve, np.ones(2), "2")
    assert "argument 2 (by) is str, not float" in told
    assert "of_arrays(" in told
    assert "test_explained_mutating.py" in told


def test_it_says_nothing_of_functions_without_mutating_rules():
    assert "mutating" not in rc.explain(halve, np.ones(2))


def test_it_knows_methods_and_functions_in_c():
    class Meter:
        def add(self, x):
            self.total = x

    @rrule_mutating.define(Meter.add)
    def add_rule(f, meter, x):
        return CoDual(None, NoFData()), lambda _: (NoRData(),) * 3

    told = rc.explain(Meter().add, 1.0)
    assert "add_rule" in told
    assert "rrule_mutating runs, before any other rule" in told
    rrule_mutating.rules.pop(Meter.add)
