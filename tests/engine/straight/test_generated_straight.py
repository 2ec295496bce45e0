"""Generated programs, written out, against finite differences and against the tape.

A program may be refused, or raise: then the tape does the work. A wrong value or a
wrong derivative has no excuse.
"""

import copy
import warnings
from collections import Counter

import numpy as np
import pytest

from rules_autodiff import vjp
from rules_autodiff.straight._program.kinds import kind_of
from rules_autodiff.straight._program.refused import Refused, Unlearned
from rules_autodiff.straight._runtime.learned import LEARNED
from rules_autodiff.straight._unit import unit
from rules_autodiff.straight._unit.unit import write
from tests.engine.straight.random_instances import instance_program
from tests.engine.straight.random_left import left_program
from tests.engine.straight.random_programs import TRACE, arguments, program

ACTIVE = (0, 1, 2, 3, 4), (0, 1, 2, 3, 4), (0, 2), (1, 4), (3,)  # by turns
STEP = 1e-6


def moved(args, direction, step):
    """The arguments, of the same classes, some way along a direction of some."""
    found = [*args]
    for place, along_it in direction.items():
        x = args[place] + step * along_it
        found[place] = x if isinstance(x, np.ndarray) else type(args[place])(x)
    return found


def copied(args):
    return tuple(np.array(x) if isinstance(x, np.ndarray) else x for x in args)


def traced(noted, args):
    """The value, and what all tests decided."""
    TRACE.clear()
    value = noted(*args)
    return value, tuple(TRACE)


def difference(noted, args, direction, dy):
    """A central difference; None where the tests decide differently, or it is rough."""
    found = []
    here = traced(noted, args)[1]
    for step in (STEP, 2 * STEP):
        high, above = traced(noted, moved(args, direction, step))
        low, below = traced(noted, moved(args, direction, -step))
        if not above == below == here:
            return None
        found.append(np.sum((high - low) * dy) / (2 * step))
    scale = 1 + abs(found[0])
    return found[0] if abs(found[0] - found[1]) < 1e-6 * scale else None


def along(cotangents, direction):
    """The inner product of cotangents (0.0 stands for zeros) and a direction."""
    pairs = zip(cotangents, direction.values(), strict=True)
    return float(sum(np.sum(np.asarray(d) * v) for d, v in pairs))


def written(plain, args, active, dy):
    """The value, and the cotangents twice; a text where there are none."""
    try:
        code = learned(plain, args, active)
    except Refused as refused:
        return f"refused: {refused.reason}"
    try:
        value, kept = code.forward(*args, code.guard(plain))
        first = code.reverse(kept, dy)
        return value, copied(first), code.reverse(kept, dy)
    except Exception as error:
        return f"raised: {type(error).__name__}: {error}"


def learned(plain, args, active):
    """The unit, written when the tape has told what it asks for."""
    kinds = tuple(map(kind_of, args))
    for lesson in range(3):
        try:
            return write(plain, kinds, active, patient=not lesson)
        except Unlearned:
            LEARNED.start()
            vjp(plain, *args, tier="tape")
    return write(plain, kinds, active, patient=False)


def check(seed, make=program):
    """Check one program; what became of it."""
    plain, noted, text = make(seed)
    args = arguments(seed)
    given = copied(args)
    value = plain(*args)
    if not np.all(np.abs(value) < 1e6):
        return "large"
    shape = np.shape(value)
    dy = np.random.default_rng(seed).normal(size=shape) if shape else 1.0
    active = ACTIVE[seed % len(ACTIVE)]
    found = written(plain, args, active, copy.copy(dy))
    message = f"program {seed}\n{text}"
    for x, before in zip(args, given, strict=True):
        assert np.array_equal(x, before), f"an argument is written to in {message}"
    if isinstance(found, str):
        return found
    own, first, second = found
    assert np.array_equal(own, value), f"the value {own} is not {value} in {message}"
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one, other), (
            f"a second pass gives another result in {message}"
        )
    by_place = dict(zip(active, first, strict=True))
    compare((plain, noted), args, by_place, dy, message)
    return "checked"


def compare(functions, args, cotangents, dy, message):
    """Look at cotangents from two sides."""
    plain, noted = functions
    rng = np.random.default_rng(len(message))
    direction = {i: rng.normal(size=np.shape(args[i])) for i in cotangents}
    slope = along(cotangents.values(), direction)
    by_tape = vjp(plain, *args, tier="tape")[1](dy)
    for place, own in cotangents.items():
        np.testing.assert_allclose(
            own + np.zeros(np.shape(args[place])), by_tape[place], rtol=1e-7, atol=1e-9,
            err_msg=f"argument {place} is not the tape's in {message}",
        )  # fmt: skip
    expected = difference(noted, args, direction, dy)
    if expected is not None:
        scale = 1 + max(
            abs(expected), *(np.max(np.abs(d)) for d in cotangents.values())
        )
        assert abs(slope - expected) < 1e-5 * scale, (
            f"{slope} is not {expected} in {message}"
        )


def run_programs(seeds, make=program, least=0.7, check=check):
    """How often what happened; most programs must be written."""
    counts = Counter()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        counts.update(check(seed, make) for seed in seeds)
    assert counts["checked"] > least * len(seeds), counts
    return counts


LEAST = {program: 0.7, left_program: 0.4, instance_program: 0.3}


@pytest.mark.parametrize("make", LEAST)
def test_some_generated(make, monkeypatch):
    """24 programs of each kind."""
    if make is left_program:
        monkeypatch.setattr(unit, "WORTH", 0)
    run_programs(range(7, 300, 12), make, LEAST[make])


@pytest.mark.full
@pytest.mark.parametrize("first", range(0, 300, 50))
def test_generated(first):
    """300 programs."""
    run_programs(range(first, first + 50))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(1000, 3500, 250))
def test_generated_nightly(first):
    """2,500 programs."""
    run_programs(range(first, first + 250))


# Programs with parts that are left to the tape.


@pytest.fixture
def _at_any_cost(monkeypatch):
    """Tapes of single calls also where one of the whole program would be as quick."""
    monkeypatch.setattr(unit, "WORTH", 0)


@pytest.mark.full
@pytest.mark.usefixtures("_at_any_cost")
@pytest.mark.parametrize("first", range(0, 300, 100))
def test_generated_with_parts_left(first):
    """300 programs."""
    run_programs(range(first, first + 100), left_program, least=0.4)


@pytest.mark.nightly
@pytest.mark.usefixtures("_at_any_cost")
@pytest.mark.parametrize("first", range(1000, 3500, 250))
def test_generated_with_parts_left_nightly(first):
    """2,500 programs."""
    run_programs(range(first, first + 250), left_program, least=0.4)


# Programs that make and change instances; second names of those are refused.


@pytest.mark.full
@pytest.mark.parametrize("first", range(0, 300, 100))
def test_generated_with_instances(first):
    """300 programs."""
    run_programs(range(first, first + 100), instance_program, least=0.3)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(1000, 3500, 250))
def test_generated_with_instances_nightly(first):
    """2,500 programs."""
    run_programs(range(first, first + 250), instance_program, least=0.3)
