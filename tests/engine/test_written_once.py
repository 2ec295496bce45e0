"""Each derivative is written once, as a rule of a pack; what is not is listed.

A second text of a derivative stands in `written_twice.txt`, with its place and what it
is for. That list may only get shorter.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rules_autodiff._tape.fast.known import KNOWN
from rules_autodiff.straight._operations import table
from rules_autodiff.straight._operations.elementwise import CURVES, QUICKER, SHORT
from rules_numpy._declare.derivative import DECLARED, constant

LIST = Path(__file__).with_name("written_twice.txt")
# What the reasons in the list mean.
REASONS = {
    "broadcast": "the cotangent is a view or a sum, which written code fuses",
    "operator": "an operator: no call at all",
    "choice": "which argument the value is, asked without a mask where it can be",
    "memory": "fewer arrays than the pack's rule, which knows no shapes beforehand",
    "number": "Python numbers: the pack's rule is of arrays",
    "tape": "the fast tape has the partial instead of a closure",
    "shape": "the number of entries by a shape, which has no derivative",
}


def name_of(f):
    module = getattr(f, "__module__", None) or "numpy"
    return f"{module}.{getattr(f, '__qualname__', None) or f.__name__}"


def taken_from_a_formula(name):
    long = {short: long for long, short in SHORT.items()}.get(name, name)
    curves = {*CURVES, "erf", "erfc", "rad2deg", "deg2rad"}
    return long in curves and long not in QUICKER


def second_texts():
    """Operation → the places, beside the pack, where its derivative is written."""
    own = {f for f, (maps, _) in DECLARED.items() if maps is not constant}
    found = {}
    for f, operation in table.FUNCTIONS.items():
        home = operation.__module__.rpartition(".")[2]
        followed = home == "constants" or taken_from_a_formula(f.__name__)
        if f in own and not followed:
            found.setdefault(name_of(f), []).append(home)
    for f in KNOWN:
        found.setdefault(name_of(f), []).append("tape")
    return found


def listed():
    lines = LIST.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: places for name, *places in rows}


def test_second_texts_are_listed():
    expected = {
        name: [place.partition(":")[0] for place in places]
        for name, places in listed().items()
    }
    assert second_texts() == expected


@pytest.mark.parametrize("name", listed())
def test_a_second_text_has_a_reason(name):
    reasons = {place.partition(":")[2] for place in listed()[name]}
    assert reasons <= set(REASONS)


def test_the_list_is_no_longer_than_it_was():
    assert sum(map(len, listed().values())) <= 124


def test_it_sees_a_second_text(monkeypatch):
    monkeypatch.setitem(table.FUNCTIONS, np.interp, table.FUNCTIONS[np.kron])
    assert "numpy.interp" in second_texts()
