"""`scipy.spatial` in NumPy programs and in frameworks, against differences of SciPy."""

import pytest
import scipy.spatial as sp

from rules_scipy import spatial as own

from .calls import (
    check_in_jax,
    check_in_numpy,
    check_in_torch,
    check_second_order,
    with_parts,
)
from .spatial_cases import CASES, NUMPY_ONLY

SHARED = [name for name in CASES if name not in NUMPY_ONLY]


@pytest.mark.covering(every=18)
@pytest.mark.parametrize("name", CASES)
def test_programs_for_numpy(name):
    check_in_numpy(*CASES[name], sp, own)


@pytest.mark.covering(every=60)
@pytest.mark.parametrize("name", CASES)
def test_second_order_in_numpy(name):
    check_second_order(*CASES[name], sp)


@pytest.mark.covering(every=60, start=30)
@pytest.mark.parametrize(("name", "part"), with_parts(SHARED))
def test_jax(name, part):
    check_in_jax(*CASES[name], sp, own, part)


@pytest.mark.covering(every=70, start=17)
@pytest.mark.parametrize("name", SHARED)
def test_torch(name):
    check_in_torch(*CASES[name], sp, own)
