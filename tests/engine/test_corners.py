"""The language at its corners: programs in both modes against finite differences."""

from typing import Any

import pytest

from rules_autodiff.testing import check_program
from tests.engine import (
    corners_arrays,
    corners_attributes,
    corners_conversions,
    corners_exceptions,
    corners_flat,
    corners_inplace,
    corners_library,
    corners_operators,
    corners_records,
    corners_scopes,
    corners_special,
    corners_writes,
)

PROGRAMS: list[Any] = [
    *corners_arrays.PROGRAMS,
    *corners_attributes.PROGRAMS,
    *corners_conversions.PROGRAMS,
    *corners_exceptions.PROGRAMS,
    *corners_flat.PROGRAMS,
    *corners_inplace.PROGRAMS,
    *corners_library.PROGRAMS,
    *corners_operators.PROGRAMS,
    *corners_records.PROGRAMS,
    *corners_scopes.PROGRAMS,
    *corners_special.PROGRAMS,
    *corners_writes.PROGRAMS,
]
IDS = [f.__name__ for f, _ in PROGRAMS]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=IDS)
def test_program(f, args):
    check_program(f, *args)
