"""Tricky programs, written out, against finite differences and the tape.

What is written must be right; what may not be written is refused, for the reason that
its case says. The front door is right either way.
"""

import copy
import re

import numpy as np
import pytest

from rules_autodiff import Const, UnsupportedProgram, vjp
from rules_autodiff.straight._program.kinds import kind_of
from rules_autodiff.straight._program.refused import Refused
from rules_autodiff.straight._runtime.elementwise import Unfollowed
from rules_autodiff.straight._unit.unit import write
from tests.engine.straight.tricky import X
from tests.engine.straight.tricky_arrays import ARRAYS
from tests.engine.straight.tricky_closures import CLOSURES
from tests.engine.straight.tricky_flow import FLOW
from tests.engine.straight.tricky_functions import FUNCTIONS
from tests.engine.straight.tricky_lists import LISTS

CASES = {**ARRAYS, **CLOSURES, **FLOW, **FUNCTIONS, **LISTS}
STEP = 1e-6


def is_active(x):
    return isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype == float)


def copied(args):
    return [copy.copy(x) if isinstance(x, np.ndarray | list) else x for x in args]


def difference(f, args, place, direction):
    """The derivative along a direction of one argument."""

    def at(step):
        moved = copied(args)
        moved[place] = moved[place] + step * direction
        return np.array(f(*moved), dtype=float)

    return (at(STEP) - at(-STEP)) / (2 * STEP)


def by_tier(f, args):
    """The value and the pullback, by written code."""
    code = f.__code__
    missing = code.co_argcount - len(args)
    full = [*args, *(f.__defaults__ or ())[len(f.__defaults__ or ()) - missing :]]
    active = tuple(i for i, x in enumerate(args) if is_active(x))
    unit = write(f, tuple(map(kind_of, full)), active)
    value, kept = unit.forward(*full, unit.guard(f))
    return value, lambda dy: dict(zip(active, unit.reverse(kept, dy), strict=True))


def by_front_door(f, args):
    """The same, by whatever takes the derivative."""
    value, pullback = vjp(f, *[x if is_active(x) else Const(x) for x in args])
    return value, lambda dy: dict(enumerate(pullback(dy)))


def overwrite(cotangents):
    """Write into what a pullback gave: it belongs to the caller."""
    for d in cotangents.values():
        if isinstance(d, np.ndarray):
            d[...] = np.nan


def check(f, args, differentiate):
    """Compare value and cotangents with the program itself."""
    given = copied(args)
    value, pullback = differentiate(f, given)
    np.testing.assert_array_equal(value, f(*copied(args)))
    rng = np.random.default_rng(7)
    dy = rng.normal(size=np.shape(value)) if np.shape(value) else 1.25
    before, first = np.array(dy), pullback(dy)
    own = dict(zip(first, copied(first.values()), strict=True))
    if differentiate is by_front_door:
        overwrite(first)
    first, second = own, pullback(dy)
    np.testing.assert_array_equal(dy, before)
    for place in filter(lambda place: is_active(args[place]), range(len(args))):
        np.testing.assert_array_equal(first[place], second[place])
        direction = np.asarray(rng.normal(size=np.shape(args[place])))
        expected = np.sum(difference(f, args, place, direction) * dy)
        found = np.sum(first[place] * direction)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-7), place
    return given


def test_there_are_many():
    assert len(CASES) >= 80


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(("f", "args", "refused"), CASES.values(), ids=CASES)
def test_tricky(f, args, refused):
    if refused:
        with pytest.raises((Refused, Unfollowed)) as caught:
            by_tier(f, args)
        assert re.search(refused, str(caught.value))
    else:
        given = check(f, args, by_tier)
        for x, before in zip(given, args, strict=True):
            np.testing.assert_array_equal(x, before)
    for _ in range(3):
        check(f, args, by_front_door)


def test_what_the_program_itself_may_not_do():
    def whole_numbers_changed(x):
        k = np.arange(3)
        k[1:] += 0.5
        return x * k[1]

    with pytest.raises(Refused, match="whole numbers is changed to floats"):
        by_tier(whole_numbers_changed, (1.0,))
    for _ in range(3):
        with pytest.raises(TypeError, match="Cannot cast"):
            vjp(whole_numbers_changed, 1.0)


def test_a_number_that_is_whole():
    """What is written into whole numbers is cut off, and has no derivative."""
    f = CASES["a_number_that_may_be_whole"][0]
    with pytest.raises(Unfollowed, match="an array of whole numbers"):
        by_tier(f, (X, 1.5, 0))
    for _ in range(3):
        with pytest.raises(UnsupportedProgram, match="into a floating array"):
            vjp(f, X, 1.5, Const(0))
