"""Generated programs that a rule calls back, and their captures, against the tape."""

import warnings
from collections import Counter

import numpy as np
import pytest

from rules_autodiff import EngineConfig
from rules_autodiff._callbacks import via_ad
from rules_autodiff.straight._tier import called_back, signatures
from rules_core import backing, frule_via_ad, rrule_via_ad
from rules_core.extend import Opener, build_tangent, flatten, read_tangent
from tests.engine.straight.random_programs import arguments, program

CONFIG = EngineConfig()


def handed(f, args, scale):
    """A function among the arguments, as a solver has it."""
    return f(*args) * scale


def _moving(x):
    floats = isinstance(x, np.ndarray | np.generic) and x.dtype.kind == "f"
    return x if floats else None


OPENER = Opener((float,), _moving)


def nothing(*_args):
    raise signatures.Left


def derivatives(f, args, dy, dots, monkeypatch, *, code):
    """The value, the cotangents and the tangent of a program."""
    with monkeypatch.context() as patch:
        patch.setattr(signatures, "AFTER", 0)
        if not code:
            patch.setattr(via_ad, "CalledBack", nothing)
            patch.setattr(via_ad, "pushed", nothing)
        y, pullback = rrule_via_ad(CONFIG, f, *args)
        found = y, pullback(dy), frule_via_ad(CONFIG, dots, f, *args)[1]
        return found, pullback.passed is not None


def check(seed, monkeypatch):
    plain, _, text = program(seed)
    args, rng = arguments(seed), np.random.default_rng(seed)
    f, args = (plain, args) if seed % 2 else (handed, (plain, args, 1.5))
    value = f(*args)
    if not np.all(np.abs(value) < 1e6):
        return "large"
    dy = rng.normal(size=np.shape(value)) if np.shape(value) else 1.0
    leaves = []
    layout = flatten((f, *args), leaves, OPENER)
    moved = [rng.normal(size=x.shape) if np.ndim(x) else rng.normal() for x in leaves]
    dots = tuple(build_tangent(layout, moved))
    given = f, args, dy, dots, monkeypatch
    (y, back, push), written = derivatives(*given, code=True)
    (y_tape, back_tape, push_tape), _ = derivatives(*given, code=False)
    assert np.array_equal(y, y_tape), text
    assert type(y) is type(y_tape), text
    wanted = [True] * len(leaves)
    for one, other in zip(
        read_tangent(layout, tuple(back), wanted, "x"),
        read_tangent(layout, tuple(back_tape), wanted, "x"),
        strict=True,
    ):
        assert type(one) is type(other), text
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9, err_msg=text)
    np.testing.assert_allclose(push, push_tape, rtol=1e-7, atol=1e-9, err_msg=text)
    return "written" if written else "tape"


def run(seeds, monkeypatch):
    counts = Counter()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        counts.update(check(seed, monkeypatch) for seed in seeds)
    assert counts["written"] > 0.5 * len(seeds), counts
    return counts


def test_some_programs(monkeypatch):
    run(range(20), monkeypatch)


@pytest.mark.full
@pytest.mark.parametrize("part", range(4))
def test_more_programs(part, monkeypatch):
    run(range(1000 + part, 1400, 4), monkeypatch)


def test_captured_values_have_cotangents(monkeypatch):
    monkeypatch.setattr(signatures, "AFTER", 0)
    plain, _, _ = program(1)
    y, pullback = rrule_via_ad(CONFIG, plain, *arguments(1))
    assert isinstance(pullback.passed, called_back.CalledBack)
    assert backing(pullback(np.ones(np.shape(y)))[0]).keys() == {
        *plain.__code__.co_freevars
    }
