"""The language: programs in both modes against finite differences."""

import pytest
from tests.engine.programs import PROGRAMS

from rules_autodiff.testing import check_program


@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_program(f, args):
    check_program(f, *args)
