"""Mooncake's own test programs, ported: both modes, state, aliasing, second order."""

import pytest

from rules_autodiff.testing import check_program
from tests.engine import (
    mooncake_arguments,
    mooncake_steps,
    mooncake_values,
    mooncake_writes,
)

PORTED = [
    *mooncake_values.PORTED,
    *mooncake_arguments.PORTED,
    *mooncake_steps.PORTED,
    *mooncake_writes.PORTED,
]
LONG = {"large_tuple_inference", "test_for_loop"}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(("name", "f", "args"), PORTED, ids=[p[0] for p in PORTED])
def test_program(name, f, args):
    single = name in {"type_unstable_tester_2", "test_union_of_arrays"}
    check_program(f, *args, second=name not in LONG, rtol=1e-3 if single else 1e-6)


def test_names_are_unique():
    names = [p[0] for p in PORTED]
    assert len(set(names)) == len(names) >= 70
