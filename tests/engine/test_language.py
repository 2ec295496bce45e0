"""The language: programs in both modes against finite differences."""

import pytest

from rules_autodiff.testing import check_program
from tests.engine import more_programs, programs

PROGRAMS = [*programs.PROGRAMS, *more_programs.PROGRAMS]
IDS = [f"{number}-{f.__name__}" for number, (f, _) in enumerate(PROGRAMS)]


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=IDS)
def test_program(f, args):
    check_program(f, *args, second=True)
