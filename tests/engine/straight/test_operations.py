"""Every call that is written out has the tape's derivative, and that of differences."""

import math

import numpy as np
import pytest

from tests.engine.straight import cases_arrays, cases_elementwise, cases_linear
from tests.engine.straight.checks import check
from tests.engine.straight.written import TABLES

CASES = [*cases_elementwise.CASES, *cases_arrays.CASES, *cases_linear.CASES]
GROUPS: dict[str, list] = {}
for _case in CASES:
    GROUPS.setdefault(_case.operation, []).append(_case)


def each_case(operation, check):
    for case in GROUPS[operation]:
        try:
            check(case)
        except Exception as error:
            error.add_note(case.name)
            raise


@pytest.mark.covering(every=16)
@pytest.mark.parametrize("operation", GROUPS)
def test_cotangents(operation):
    each_case(operation, check)


def test_every_operation_has_a_case():
    """But for `numpy.empty`, whose values nobody knows.

    Functions of written code are operations of second derivatives, which are tested
    as such; the words of Python's `math` with several arguments too.
    """
    known = {(case.table, case.key) for case in CASES}
    registered = {(name, key) for name, table in TABLES.items() for key in table}
    nobody = {("function", np.empty), ("function", np.empty_like)}
    own = {
        (name, key) for name, key in registered
        if str(getattr(key, "__module__", "")).startswith("rules_autodiff")
    }  # fmt: skip
    own |= {("function", math.prod), ("function", np.maximum.reduce)}
    own |= {("function", np.add.reduce), ("function", np.minimum.reduce)}
    assert registered - known - own == nobody
