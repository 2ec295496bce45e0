"""Each derivative is written once, as a rule of a pack; what is not is listed.

A second text of a derivative stands in `written_twice.txt`, with the time that it
saves. That list may only get shorter.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from rules_autodiff._own_rules.own_rule import CORE
from rules_autodiff._tape.fast import maps
from rules_autodiff._tape.fast.elementwise import OF_ALL_ENTRIES, UNARY
from rules_autodiff._tape.fast.known import KNOWN
from rules_autodiff.straight._operations import table
from rules_autodiff.straight._program.kinds import array
from rules_autodiff.straight._program.written import Call, Taken, Written
from rules_numpy._declare.derivative import DECLARED
from rules_numpy._declare.partials_in_hosts import IN_HOSTS
from tests.engine.straight import cases_arrays, cases_elementwise, cases_linear

CASES = [*cases_elementwise.CASES, *cases_arrays.CASES, *cases_linear.CASES]
LIST = Path(__file__).with_name("written_twice.txt")
SIGNS = "add sub mul truediv floordiv mod pow matmul neg pos abs".split()
METHODS = {"pow": "__pow__", "matmul": "__matmul__"}
# In frameworks the formula of powers leaves out the cases that NumPy code decides by
# looking at values.
# Without a derivative, or called by written code alone.
NOT_CALLED = {np.empty, np.empty_like, np.add.reduce, math.prod}
IN_FRAMEWORKS = {np.power, np.float_power}


def name_of(f):
    module = getattr(f, "__module__", None) or "numpy"
    return f"{module}.{getattr(f, '__qualname__', None) or f.__name__}"


def operation_name(case):
    if case.table == "function":
        return name_of(case.key)
    return f"method.{METHODS.get(case.key, case.key)}"


def by_hand(written):
    """Whether a cotangent of a call is no text that was taken from the pack."""
    pulls = written.pulls if written is not None else ()
    return any(pull is not None and not isinstance(pull, Taken) for pull in pulls)


def second_texts(cases=CASES):
    """(place, operation) for each derivative that is written beside the pack."""
    found = {("straight", operation_name(c)) for c in cases if by_hand(c.written)}
    found |= {("tape", name_of(f)) for f in OF_ALL_ENTRIES}
    found |= {("tape", f"operator.{x.name}") for x in vars(maps).values()
              if isinstance(x, maps.Linear) and x is not maps.DOT}  # fmt: skip
    return found | {("levels", f"operator.{name}") for name in CORE if name in SIGNS}


def test_functions_of_the_tape_are_looked_at():
    others = {f for f in KNOWN if f not in UNARY and f not in OF_ALL_ENTRIES}
    assert all(isinstance(KNOWN[f], maps.Linear) for f in others)


def lines():
    text = LIST.read_text(encoding="utf-8").splitlines()
    rows = [line for line in text if line and not line.startswith("#")]
    return [[part.strip() for part in row.split("|")] for row in rows]


def listed():
    return {(place, name) for place, names, *_ in lines() for name in names.split()}


def test_second_texts_are_listed():
    assert second_texts() == listed()


@pytest.mark.parametrize("line", lines(), ids=lambda line: f"{line[0]}: {line[1]}")
def test_a_second_text_has_a_measured_reason(line):
    _, _, ratio, reason = line
    assert float(ratio) > 1.0
    assert reason


def test_the_list_is_no_longer_than_it_was():
    assert len(lines()) <= 26
    assert len(listed()) <= 64


def test_every_operation_is_looked_at():
    """Operations that no case calls are of the tier's own functions."""
    met = {(case.table, case.key) for case in CASES if case.written is not None}
    tables = {
        "function": table.FUNCTIONS,
        "method": table.METHODS,
        "operator": table.OPERATORS,
    }
    keys = {(name, key) for name, entries in tables.items() for key in entries}
    rest = {key for _, key in keys - met}
    others = {f for f in rest if not str(f.__module__).startswith("rules_autodiff")}
    assert others == NOT_CALLED


def test_derivatives_in_frameworks_are_formulas():
    by_formula = "in_framework.<locals>.partials"
    names = {f: partials.__qualname__ for f, partials in IN_HOSTS.items()}
    assert {f for f in names if names[f] != by_formula} == IN_FRAMEWORKS


def test_it_sees_a_second_text():
    assert by_hand(Written(array(1), None, ("{dz} * 2.0",)))
    assert not by_hand(table.FUNCTIONS[np.sin](Call((array(1),), (...,))))
    assert np.sin in DECLARED
