"""Large arrays go other ways, in time and memory; here small ones do."""

import numpy as np
import pytest

from rules_autodiff.straight._runtime import arrays, helpers
from tests.engine.straight import cases_arrays, cases_linear
from tests.engine.straight.cases_elementwise import some
from tests.engine.straight.checks import check
from tests.engine.straight.written import cotangents, forward, of

REDUCED = (np.sum, np.mean, np.max, np.min, "sum", "mean", "max", "min")
PRODUCTS = (np.matmul, np.dot, "matmul", "dot")


@pytest.fixture
def all_are_large(monkeypatch):
    monkeypatch.setattr(helpers, "LARGE", 0)
    monkeypatch.setattr(arrays, "LARGE", 0)


@pytest.mark.usefixtures("all_are_large")
@pytest.mark.parametrize("keys", [REDUCED, PRODUCTS], ids=["reductions", "products"])
def test_every_way(keys):
    cases = [*cases_arrays.CASES, *cases_linear.CASES]
    chosen = [case for case in cases if case.key in keys][::3]
    assert chosen
    for case in chosen:
        check(case)


def test_a_sum_stores_one_number(monkeypatch):
    monkeypatch.setattr(helpers, "LARGE", 5)
    case = of(np.sum, some(3, 4))
    (found,) = cotangents(case, case.written, forward(case, case.written), 0.5)
    assert found.strides == (0, 0)


def test_a_small_sum_has_memory_of_its_own():
    case = of(np.sum, some(3, 4))
    (found,) = cotangents(case, case.written, forward(case, case.written), 0.5)
    assert found.flags.c_contiguous
    assert found.flags.writeable
