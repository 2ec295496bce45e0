"""Every program that the engine's tests know, and generated ones: derivatives agree.

A program may be refused in words; two ways to one derivative must not differ.
"""

import pytest

from rules_autodiff import EngineError
from rules_autodiff.testing._vectors import copy_of
from tests.engine import test_corners, test_language, test_mooncake, test_real_life
from tests.engine.agreement import (
    CHECKS,
    active_in,
    is_scalar_sum,
    known_of,
    summed,
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
    whole = summed(f)
    try:
        CHECKS[check](whole, args, known_of(whole, args))
    except EngineError:
        return False
    return True


SUITABLE = [(f, args) for f, args in PROGRAMS if taken(f, args)]


def test_most_programs_are_suitable():
    assert len(SUITABLE) > len(PROGRAMS) * 0.6


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("part", range(24))
def test_known_programs(part, check):
    said = [run(check, f, args) for f, args in SUITABLE[part::24]]
    assert sum(said) > 0.7 * len(said)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("part", range(16))
def test_generated_programs(part, check):
    for seed in range(part, COUNT, 16):
        assert run(check, program(seed)[0], arguments(seed)), seed
