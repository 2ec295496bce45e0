"""`check_program`: each of its checks catches a rule that is wrong in that way."""

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import CoDual, NoRData, frule_mutating, rrule_mutating
from rules_autodiff._boundary import leave as outputs
from rules_autodiff.testing import ProgramError, check_program
from rules_core import NoTangent, rrule
from rules_core.testing import isolated_rules
from tests.engine.wrong_mutating import (
    KEPT,
    WRONG,
    Forward,
    RestoresNothing,
    Reverse,
    forward_rule,
    isolated_mutating_rules,
    kernel,
    program,
    reverse_rule,
)

X = np.array([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def _isolated():
    KEPT.clear()
    with isolated_rules(), isolated_mutating_rules():
        yield


def check(reverse=Reverse, forward=Forward, f=program):
    rrule_mutating.define(kernel)(reverse_rule(reverse()))
    frule_mutating.define(kernel)(forward_rule(forward()))
    return check_program(f, X, 1.5)


def test_the_right_rules_pass():
    assert len(check().checks) == 14


def read_afterwards(x, c):
    """As `program`; the rule's output lives in the argument."""
    return kernel(x[:1], x[1:2] * 1.0, c)


@pytest.mark.parametrize(("text", "steps"), WRONG, ids=[w.__name__ for _, w in WRONG])
def test_wrong_rules(text, steps):
    forward = issubclass(steps, Forward)
    f = read_afterwards if steps is RestoresNothing else program
    with pytest.raises((ProgramError, rc.RuleDefinitionError), match=text):
        check(**{"forward" if forward else "reverse": steps}, f=f)


def fresh(x):
    """Imagine compiled code that returns a new array."""
    return x * 2.0


def test_one_shadow_for_two_arrays():
    """The aliasing check: the arrays are two, their shadows one."""

    def rule(f, x):
        if not KEPT:
            KEPT.append(np.zeros_like(x.primal))
        dy = KEPT[0]

        def pullback(_):
            x.fdata[...] += 2.0 * dy
            return NoRData(), NoRData()

        return CoDual(x.primal * 2.0, dy), pullback

    rrule_mutating.define(fresh)(rule)
    with pytest.raises(ProgramError, match="reverse mode: aliasing must hold"):
        check_program(lambda x: [fresh(x), fresh(x * x)], X, forward=False)


def test_a_shadow_of_its_own_for_an_argument():
    def rule(f, x):
        def pullback(_):
            return NoRData(), NoRData()

        return CoDual(x.primal, np.zeros_like(x.primal)), pullback

    rrule_mutating.define(fresh)(rule)
    with pytest.raises(rc.RuleDefinitionError, match="must alias argument 1"):
        check_program(lambda x: fresh(x * 1.0), X, forward=False)


def test_cotangents_that_are_shared(monkeypatch):
    """The engine's own step, left out: what a rule gave is handed out as it is."""
    monkeypatch.setattr(outputs, "taken", lambda slot, below: slot and slot.take(below))
    with pytest.raises(ProgramError, match="cotangents own their memory must hold"):
        check_program(lambda x: x, X, forward=False)


def test_interface_types(monkeypatch):
    """The engine's own step, left out: a float32 gets a cotangent of float64."""
    monkeypatch.setattr(outputs, "like_number", lambda primal, dx, below: float(dx))
    with pytest.raises(ProgramError, match="interface types must hold"):
        check_program(lambda x: x * x, np.float32(0.5), forward=False, rtol=1e-2)


def test_wrong_second_derivatives():
    def square(x):
        return x * x

    @rrule.define(square)
    def square_rrule(x):
        kept = rc.ignore_derivatives(x)

        def square_pullback(dy):
            return NoTangent(), 2.0 * kept * dy

        return x * x, square_pullback

    def f(x):
        return square(x) * 1.0

    check_program(f, 1.5)
    with pytest.raises(ProgramError, match="forward over reverse must hold"):
        check_program(f, 1.5, second=True)
