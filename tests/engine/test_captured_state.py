"""The lifted program is the program: what it writes to what it captures.

A program that writes to a closure's variable, a global, an attribute, a default or what
these hold must leave there what it leaves plainly. The pullback puts back what objects,
containers and arrays held; names keep what they were given.
"""

import math
import random
from collections import Counter
from itertools import groupby

import pytest

from rules_autodiff import jvp, vjp
from rules_autodiff._hooks.run import Run
from rules_autodiff._tape.reverse import ReverseRun
from tests.engine.captured_state import NAMES, programs, seen

X = 1.3
EVERY = programs()


def plainly(f, x):
    return f(x)


def reverse(f, x):
    return vjp(f, x, tier="tape")[0]


def by_either_tier(f, x):
    return vjp(f, x)[0]


def forward(f, x):
    return jvp(f, (x,), (1.0,))[0]


WAYS = (reverse, by_either_tier, forward)


def outcome(program, way, times=1):
    """What came of calls, and the state: as a program reads it, and the object."""
    f, read, start = program.made()
    random.seed(3)
    said = []
    for _ in range(times):
        try:
            said.append(seen(way(f, X)))
        except Exception as error:
            ours = type(error).__module__.startswith("rules_")
            said.append("refused" if ours else repr(error))
    return said, seen(read()), seen(start), read() is start


def faults(chosen, ways=WAYS, times=1):
    """What differs from the plain program, and how many runs were refused."""
    found, counted = {}, Counter()
    for program in chosen:
        plain = outcome(program, plainly, times)
        for way in ways:
            told = outcome(program, way, times)
            refused = "refused" in told[0]
            counted["refused" if refused else "compared"] += 1
            if not refused and told != plain:
                found[program] = told
    return found, counted


def returning(chosen):
    return [program for program in chosen if program.end == "returns"]


def slope_faults(chosen):
    """Programs whose derivative is wrong, or whose state does not come back."""
    found = {}
    for program in chosen:
        f, read, start = program.made()
        random.seed(3)
        before = seen(start)
        _, pullback = vjp(f, X)
        slopes = [pullback(1.0)[0], pullback(1.0)[0], jvp_slope(program)]
        kept = seen(start), seen(read())
        restored = kept[0] == before and (program.place in NAMES or kept[1] == before)
        true = (value_at(program, X + 1e-5) - value_at(program, X - 1e-5)) / 2e-5
        near = [math.isclose(s, true, rel_tol=1e-4, abs_tol=1e-6) for s in slopes]
        if not (restored and all(near)):
            found[program] = kept, slopes, true
    return found


def value_at(program, x):
    random.seed(3)
    return program.made()[0](x)


def jvp_slope(program):
    random.seed(3)
    return jvp(program.made()[0], (X,), (1.0,))[1]


def test_there_are_programs_of_each_kind():
    assert len(EVERY) > 3500
    places = {place for place, _ in groupby(EVERY, lambda program: program.place)}
    assert len(places) > 20


EACH = 47


def test_some_writes():
    found, counted = faults(returning(EVERY)[::EACH])
    assert found == {}
    assert counted["refused"] == 0


def test_some_writes_in_three_calls():
    found, counted = faults(returning(EVERY)[1::EACH], times=3)
    assert found == {}
    assert counted["refused"] == 0


def test_some_derivatives_of_writes():
    assert slope_faults(returning(EVERY)[2::EACH]) == {}


def test_some_programs_that_raise_after_a_write():
    """Forward mode leaves what Python leaves, reverse mode what was before."""
    raising = [program for program in EVERY if program.end == "raises"][::EACH]
    found, counted = faults(raising, [forward])
    assert found == {}
    assert counted["refused"] == 0
    for program in raising:
        _, state, start, _ = outcome(program, reverse)
        _, _, before = program.made()
        assert start == seen(before)
        assert program.place in NAMES or state == start


def test_lists_that_contain_themselves():
    """Each call enters the list that an earlier one left."""
    chosen = [p for p in returning(EVERY) if p.write == "{s}.append({s})"]
    assert len(chosen) > 10
    found, counted = faults(chosen, times=3)
    assert found == {}
    assert counted["refused"] == 0


# In a later call the state holds the argument of an earlier one, to which the search
# compares this one, and is read where a loop may have stored nothing: as in a cache.
AS_CACHES = {("generator", "bisect.insort({s}, x)")}


def is_as_cache(program):
    return (program.place, program.write) in AS_CACHES


def test_a_search_in_what_an_earlier_call_left_is_refused():
    for program in filter(is_as_cache, returning(EVERY)):
        assert outcome(program, reverse)[0] != ["refused"]
        assert outcome(program, reverse, 2)[0][1] == "refused"


SLICES = 8


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(SLICES))
def test_all_writes(part):
    chosen = returning(EVERY)[part::SLICES]
    for times in (1, 3):
        compared = [p for p in chosen if times == 1 or not is_as_cache(p)]
        found, counted = faults(compared, times=times)
        assert found == {}
        assert counted["refused"] == 0
    assert slope_faults(chosen) == {}


# Writes that are not noted: the oracle must see each of them.


def test_it_sees_attributes_that_are_not_put_back(monkeypatch):
    chosen = [p for p in returning(EVERY) if (p.place, p.state) == ("slot", "number")]
    assert slope_faults(chosen) == {}
    monkeypatch.setattr(ReverseRun, "note_attribute", lambda *_: None)
    assert slope_faults(chosen)


def test_it_sees_containers_that_are_not_put_back(monkeypatch):
    chosen = [p for p in returning(EVERY) if (p.place, p.state) == ("default", "deque")]
    assert slope_faults(chosen) == {}
    monkeypatch.setattr(ReverseRun, "changing", lambda *_: None)
    assert slope_faults(chosen)


def test_it_sees_writes_that_are_lost(monkeypatch):
    chosen = [
        p for p in returning(EVERY) if (p.place, p.write) == ("entry", "{s} = 5.0")
    ]
    assert faults(chosen)[0] == {}
    monkeypatch.setattr(Run, "store_item", lambda *_: None)
    assert faults(chosen)[0]
