"""The two parts of a tangent: what has an address, and what is passed by value."""

from collections import OrderedDict, deque, namedtuple

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import (
    CoDual,
    NoFData,
    NoRData,
    fdata,
    fdata_type,
    grad,
    rdata,
    rdata_type,
    rrule_mutating,
    tangent,
)
from tests.engine.test_mutating_containers import Box, Record, Slotted
from tests.engine.wrong_mutating import isolated_mutating_rules

A = np.array([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_mutating_rules():
        yield


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        ([1.0], list),
        ([], list),
        (deque([1.0]), deque),
        ({"w": 1.0}, dict),
        (OrderedDict(w=1.0), dict),
        (Box(1.0), rc.MutableTangent),
        (Record(1.0), rc.MutableTangent),
        (Slotted(1.0), rc.MutableTangent),
    ],
)
def test_what_has_an_address_has_fdata(x, kind):
    given = []

    def look(x):
        return 1.0

    @rrule_mutating.define(look)
    def look_rule(f, x):
        given.append(x.fdata)
        return CoDual(1.0, NoFData()), lambda dy: (NoRData(), NoRData())

    grad(lambda y, x: look(x) * y)(1.0, x)
    assert type(given[0]) is fdata_type(x) is kind
    assert rdata_type(x) is NoRData


Line = namedtuple("Line", ["slope", "points"])


@pytest.mark.parametrize(
    "x",
    [
        2.0,
        2j,
        np.float32(2.0),
        A,
        3,
        "name",
        (1.0, A),
        (1.0, 2.0),
        (A, 3),
        (1.0, (A, 2.0, "name")),
        [1.0, A],
        {"w": 1.0, "b": A},
        Line(1.0, A),
        Box((1.0, A)),
        (1.0, Box(2.0), [3.0]),
    ],
)
def test_a_tangent_is_its_fdata_and_its_rdata(x):
    t = rc.materialise(x, rc.ZeroTangent())
    whole = tangent(fdata(t), rdata(t))
    assert type(whole) is type(t)
    if isinstance(t, np.ndarray):
        assert whole is t
    else:
        assert rc.materialise(x, whole) == t
    plain = isinstance(x, (int, float, complex, str, np.ndarray, np.generic))
    if plain:
        assert (type(fdata(t)), type(rdata(t))) == (fdata_type(x), rdata_type(x))
    for part, kind, none in (
        (fdata(t), fdata_type(x), NoFData),
        (rdata(t), rdata_type(x), NoRData),
    ):
        assert isinstance(part, none) == (kind is none)
