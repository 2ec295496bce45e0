"""What is wrong in a written text is found."""

from dataclasses import replace

import numpy as np
import pytest

from rules_autodiff.straight._operations.table import FUNCTIONS, OPERATORS
from rules_autodiff.straight._program.kinds import INT, array
from tests.engine.straight.cases_elementwise import some
from tests.engine.straight.checks import check
from tests.engine.straight.written import of, operator

X = some(3, 4)
TANH, MUL = of(np.tanh, X), operator("mul", X, some(4))
TRANSPOSE, SUM = of(np.transpose, X), of(np.sum, X)


def wrong(monkeypatch, case, **changes):
    table = OPERATORS if case.table == "operator" else FUNCTIONS
    written = case.written
    monkeypatch.setitem(table, case.key, lambda _call: replace(written, **changes))
    return case


PULLS = {
    "factor": (TANH, ("{dz} * (1.0 - {z})",)),
    "sign": (TANH, ("-{dz} * (1.0 - {z} * {z})",)),
    "other operand": (MUL, ("fit({dz} * {0}, {s0})", "fit({dz} * {0}, {s1})")),
    "shape": (MUL, ("{dz} * {1}", "{dz} * {0}")),
    "number": (SUM, ("{dz}",)),
    "not turned": (of(np.transpose, some(3, 3)), ("{dz}",)),
    "class": (of(np.exp, 0.5), ("np_array({dz} * {z})",)),
    "masked": (of(np.log, X), ("{dz} / np_where({0} > 0.5, {0}, 1.0)",)),
}


@pytest.mark.parametrize("name", PULLS)
def test_cotangents(name, monkeypatch):
    case, pulls = PULLS[name]
    with pytest.raises(AssertionError):
        check(wrong(monkeypatch, case, pulls=pulls))


def test_a_cotangent_is_written_into(monkeypatch):
    pulls = ("np_add_reduce([{dz}, {dz}], 0, None, {dz})",)
    with pytest.raises((ValueError, AssertionError)):
        check(wrong(monkeypatch, TANH, pulls=pulls))


@pytest.mark.parametrize("kind", [array(1), INT, array(2, "l")])
def test_kinds(kind, monkeypatch):
    with pytest.raises(AssertionError):
        check(wrong(monkeypatch, TANH, kind=kind))


def test_a_view_is_said_to_be_fresh(monkeypatch):
    with pytest.raises(AssertionError):
        check(wrong(monkeypatch, TRANSPOSE, fresh=True))


def test_another_value(monkeypatch):
    with pytest.raises(AssertionError):
        check(wrong(monkeypatch, SUM, text="{0}.sum() * (1.0 + 1e-15)"))


def test_too_few_cotangents(monkeypatch):
    with pytest.raises(AssertionError):
        check(wrong(monkeypatch, MUL, pulls=MUL.written.pulls[:1]))
