"""The language: programs in both modes against finite differences."""

import pytest

from rules_autodiff.testing import check_program
from tests.engine import (
    language_classes,
    language_flow,
    language_library,
    language_objects,
)

PROGRAMS = [
    *language_flow.PROGRAMS,
    *language_objects.PROGRAMS,
    *language_classes.PROGRAMS,
    *language_library.PROGRAMS,
]
IDS = [f.__name__ for f, _ in PROGRAMS]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=IDS)
def test_program(f, args):
    check_program(f, *args, second=True)
