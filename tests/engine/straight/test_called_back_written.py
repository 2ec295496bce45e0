"""Functions that rules call back: generated code gives what the tape gives."""

import numpy as np
import pytest

from rules_autodiff import EngineConfig
from rules_autodiff._callbacks import via_ad
from rules_autodiff.straight._tier import called_back, signatures
from rules_core import frule_via_ad, rrule_via_ad
from rules_core.extend import Opener, build_tangent, flatten, read_tangent, unflatten
from tests.engine.straight.called_back import PROGRAMS

CONFIG = EngineConfig()


@pytest.fixture
def both(monkeypatch):
    """`both(f, args, dy)`: the value and cotangents by code, and by the tape."""

    def by(tier, f, args, dy):
        monkeypatch.setattr(signatures, "AFTER", 0 if tier == "code" else 10**9)
        if tier == "tape":
            monkeypatch.setattr(via_ad, "CalledBack", nothing)
        y, pullback = rrule_via_ad(CONFIG, f, *args)
        assert (pullback.passed is not None) == (tier == "code")
        found = y, pullback(dy)
        monkeypatch.undo()
        return found

    return lambda *call: (by("code", *call), by("tape", *call))


def nothing(*_args):
    raise signatures.Left


def _moving(x):
    return x if isinstance(x, np.ndarray | np.generic) else None


OPENER = Opener((float,), _moving)


def taken_apart(f, args):
    """The layout of a function with its arguments, and the leaves."""
    leaves = []
    return flatten((f, *args), leaves, OPENER), leaves


def inner(one, other):
    if isinstance(one, tuple):
        return sum(map(inner, one, other))
    return float(np.sum(np.asarray(one) * np.asarray(other)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_gives_what_the_tape_gives(name, both):
    (y, found), (y_tape, expected) = both(*PROGRAMS[name])
    assert repr((y, found)) == repr((y_tape, expected))
    assert type(y) is type(y_tape)


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_gives_differences(name, both):
    f, args, dy = PROGRAMS[name]
    (_, found), _ = both(f, args, dy)
    layout, leaves = taken_apart(f, args)
    known = read_tangent(layout, tuple(found), [True] * len(leaves), "x")
    for place, (leaf, ct) in enumerate(zip(leaves, known, strict=True)):
        for index in np.ndindex(np.shape(leaf)):

            def moved(far, place=place, leaf=leaf, index=index):
                given = list(leaves)
                given[place] = np.array(leaf, float)
                given[place][index] += far
                given[place] = given[place] if np.ndim(leaf) else float(given[place])
                g, *rest = unflatten(layout, given)
                return inner(g(*rest), dy)

            slope = (moved(1e-5) - moved(-1e-5)) / 2e-5
            got = 0.0 if ct is None else np.asarray(ct)[index]
            np.testing.assert_allclose(got, slope, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", PROGRAMS)
def test_tangents_are_those_of_the_tape_and_of_cotangents(name, monkeypatch):
    f, args, dy = PROGRAMS[name]
    layout, leaves = taken_apart(f, args)
    draw = np.random.default_rng(0).normal
    moved = [draw(size=x.shape) if np.ndim(x) else draw() for x in leaves]
    tangents = tuple(build_tangent(layout, moved))
    monkeypatch.setattr(signatures, "AFTER", 0)
    found = called_back.pushed(tangents, f, args)
    assert repr(frule_via_ad(CONFIG, tangents, f, *args)) == repr(found)
    monkeypatch.setattr(via_ad, "pushed", nothing)
    assert repr(frule_via_ad(CONFIG, tangents, f, *args)) == repr(found)
    cotangents = rrule_via_ad(CONFIG, f, *args)[1](dy)
    known = read_tangent(layout, tuple(cotangents), [True] * len(leaves), "x")
    expected = sum(
        inner(dx, x) for dx, x in zip(moved, known, strict=True) if x is not None
    )
    assert inner(tuple(found[1]) if isinstance(dy, tuple) else found[1], dy) == (
        pytest.approx(expected, rel=1e-12)
    )
