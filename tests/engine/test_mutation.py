"""Mutation and aliasing: programs in both modes, with state and finite differences."""

import pytest

from rules_autodiff.testing import check_program
from tests.engine.mutations import PROGRAMS

IDS = [f"{number}-{f.__name__}" for number, (f, _) in enumerate(PROGRAMS)]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=IDS)
def test_program(f, args):
    check_program(f, *args, second=True)
