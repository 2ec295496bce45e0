"""Every program that the engine's tests know, and generated ones: derivatives agree.

A program may be refused in words; two ways to one derivative must not differ.
"""

import sys
from contextlib import nullcontext

import numpy as np
import pytest

from rules_autodiff import EngineError, grad
from rules_autodiff._front import jacobians
from rules_autodiff._transforms import linear_map
from rules_autodiff.straight._tier import tier
from rules_autodiff.straight._tier.signatures import Left
from rules_autodiff.testing._vectors import copy_of
from rules_core import NoTangent, frule, rrule
from rules_core.testing import isolated_rules
from tests.engine import test_corners, test_language, test_mooncake, test_real_life
from tests.engine.agreement import (
    CHECKS,
    Disagreement,
    active_in,
    is_scalar_sum,
    is_written,
    known_of,
    reduced,
)
from tests.engine.straight.random_programs import arguments, program

PROGRAMS = [
    *test_corners.PROGRAMS,
    *test_language.PROGRAMS,
    *test_real_life.PROGRAMS,
    *[(f, args) for _, f, args in test_mooncake.PORTED],
]
COUNT = 400


def taken(f, args):
    """Whether the checks can take a program: numbers in, numbers out."""
    return bool(active_in(args)) and is_scalar_sum(f(*copy_of(args)))


def run(check, f, args):
    """Apply a check; False where the engine refuses the program."""
    whole = reduced(f, args)
    try:
        CHECKS[check](whole, args, known_of(whole, args))
    except EngineError:
        return False
    return True


SUITABLE = [(f, args) for f, args in PROGRAMS if taken(f, args)]


def test_most_programs_are_suitable():
    assert len(SUITABLE) > len(PROGRAMS) * 0.6


@pytest.mark.covering(every=50, start=0)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("part", range(24))
def test_known_programs(part, check):
    said = [run(check, f, args) for f, args in SUITABLE[part::24]]
    assert sum(said) > 0.7 * len(said)


@pytest.mark.parametrize("check", CHECKS)
def test_some_generated_programs(check):
    for seed in range(0, COUNT, 320):
        assert run(check, program(seed)[0], arguments(seed)), seed


@pytest.mark.full
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("part", range(16))
def test_generated_programs(part, check):
    for seed in range(part, COUNT, 16):
        assert run(check, program(seed)[0], arguments(seed)), seed


def test_code_is_written_for_many_programs():
    """Else the checks would compare the tape with itself."""
    generated = [(program(seed)[0], arguments(seed)) for seed in range(0, COUNT, 32)]
    said = [is_written(reduced(f, args), args) for f, args in generated]
    assert sum(said) > 0.5 * len(said)
    said = [is_written(reduced(f, args), args) for f, args in SUITABLE[::16]]
    assert sum(said) > 0.1 * len(said)


def two_arguments(a, b):
    total = 0.0
    for x in a:
        total = total + x * x * b
    return total


ARGS = (np.array([3.0, 1.0]), 2.0)


def written(a, b):
    c = a * 1.0
    c[0] = c[1] * b
    return np.sum(c * c) * b


def caught(check, f):
    with pytest.raises(Disagreement):
        CHECKS[check](f, ARGS, known_of(f, ARGS))


def test_it_sees_derivatives_in_another_order(monkeypatch):
    monkeypatch.setattr(tier, "as_asked", lambda active, order, found: found)
    caught("argnums", two_arguments)


def test_it_sees_threads_that_share_a_pullback(monkeypatch):
    monkeypatch.setattr(linear_map, "RLock", nullcontext)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(40):
            try:
                CHECKS["threads"](written, ARGS, known_of(written, ARGS))
            except Exception:  # a race ends in whatever error comes first
                return
    finally:
        sys.setswitchinterval(interval)
    pytest.fail("forty rounds without a lock must differ")


def test_it_sees_a_second_run_on_what_the_first_has_written(monkeypatch):
    whole, forward = jacobians.forward_blocks, jacobians.forward

    def one_by_one(below, f, args, kwargs, active, *rest):
        parts = [whole(below, f, args, kwargs, (i,), *rest) for i in active]
        return [block for blocks, _ in parts for block in blocks], parts[0][1]

    def together(*args, apart, **kwargs):
        return forward(*args, **kwargs)

    def left(*_args, **_kwargs):
        raise Left

    monkeypatch.setattr(jacobians, "written_blocks", left)
    monkeypatch.setattr(jacobians, "forward_blocks", one_by_one)
    monkeypatch.setattr(jacobians, "forward", together)
    caught("forward", scaled_in_place)


def scaled_in_place(a, b):
    a *= b
    return np.sum(a * a)


def test_it_sees_a_wrong_forward_rule():
    with isolated_rules():

        @frule.define(twice)
        def twice_frule(tangents, x):
            return 2.0 * x, 3.0 * tangents[1]

        @rrule.define(twice)
        def twice_rrule(x):
            return 2.0 * x, lambda dy: (NoTangent(), 2.0 * dy)

        caught("forward", through_twice)
        CHECKS["each_call"](through_twice, ARGS, known_of(through_twice, ARGS))


def test_rules_that_come_and_go():
    derived = grad(through_twice, (0, 1))
    plain = [derived(*ARGS) for _ in range(3)]
    with isolated_rules():

        @rrule.define(twice)
        def twice_rrule(x):
            return 2.0 * x, lambda dy: (NoTangent(), 5.0 * dy)

        with_rule = [derived(*ARGS) for _ in range(3)]
        rrule.undefine(twice)
        without = derived(*ARGS)
    after = [derived(*ARGS) for _ in range(3)]
    for found in (*plain, without, *after):
        assert found[1] == pytest.approx(8.0)
    for found in with_rule:
        assert found[1] == pytest.approx(20.0)


def twice(x):
    return 2.0 * x


def through_twice(a, b):
    return np.sum(a) * twice(b)
