"""`sorted`, and the comparisons of `operator`, asked for their rules."""

import itertools
import operator

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, frule, rrule

ITEMS = (3.0, -1.0, 2.0, 0.5)
WEIGHTS = (1.0, 10.0, 100.0, 1000.0)
KINDS = {"list": list, "tuple": tuple, "array": np.array}
OPTIONS = {
    "plain": {},
    "reverse": {"reverse": True},
    "key": {"key": abs},
    "both": {"key": lambda v: -v, "reverse": True},
}


@pytest.mark.parametrize(("kind", "options"), list(itertools.product(KINDS, OPTIONS)))
def test_tangents_move_with_the_items(kind, options):
    xs, options = KINDS[kind](ITEMS), OPTIONS[options]
    y, pullback = rrule(sorted, xs, **options)
    assert y == sorted(xs, **options)
    _, ct = pullback(rc.Tangent(list, *WEIGHTS))
    expected = [WEIGHTS[y.index(x)] for x in ITEMS]
    assert np.allclose(list(ct), expected)
    dx = np.array(WEIGHTS) if kind == "array" else rc.Tangent(KINDS[kind], *WEIGHTS)
    value, dy = frule((NoTangent(), dx), sorted, xs, **options)
    assert value == y
    assert np.allclose(list(dy), [WEIGHTS[ITEMS.index(float(v))] for v in y])


@pytest.mark.parametrize("kind", KINDS)
def test_sorted(check, kind):
    check(sorted, KINDS[kind](ITEMS))


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge", "is_", "is_not"])
def test_comparisons_carry_no_derivative(name):
    f = getattr(operator, name)
    y, pullback = rrule(f, 1.0, 2.0)
    assert y == f(1.0, 2.0)
    assert pullback(NoTangent()) == (NoTangent(),) * 3
    assert frule((NoTangent(), 1.0, 1.0), f, 1.0, 2.0) == (y, NoTangent())
