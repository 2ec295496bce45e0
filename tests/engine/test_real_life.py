"""Programs as users write them, whole: in both modes, to second order."""

import pytest

from rules_autodiff.testing import check_program
from tests.engine import real_algebra, real_dynamics, real_signals

PROGRAMS = [
    *real_algebra.PROGRAMS,
    *real_dynamics.PROGRAMS,
    *real_signals.PROGRAMS,
]
IDS = [f.__name__ for f, _ in PROGRAMS]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=IDS)
def test_program(f, args):
    check_program(f, *args, rtol=1e-5)


@pytest.mark.nightly
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=IDS)
def test_second_order(f, args):
    check_program(f, *args, second=True, rtol=1e-5)
