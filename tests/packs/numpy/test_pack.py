"""The pack as a whole, and the host primitives that its rules use."""

from __future__ import annotations

import numpy as np
import pytest

import rules_core as rc
from rules_core.testing import check_pack
from rules_numpy._declare.axes import scatter_add
from rules_numpy.arrays.indexing import put_zeros
from rules_numpy.linalg.solves import cofactor

RNG = np.random.default_rng(13)


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("name", ["numpy", "math", "builtins", "rules_numpy"])
def test_pack(name):
    check_pack(name)


INDEX = np.array([[0, 2, 2], [5, -1, 1]])
CALLS = [
    (scatter_add, (RNG.normal(size=(2, 3)), INDEX, (2, 3))),
    (put_zeros, (RNG.normal(size=3), (slice(None), 1), (3, 2))),
    (cofactor, (RNG.normal(size=(3, 3)),)),
]


@pytest.mark.parametrize(("f", "args"), CALLS)
def test_host_primitives(check, f, args):
    check(f, *args)


def test_names_and_places():
    """`explain` and errors lead to the derivative, not to the helper."""
    text = rc.explain(np.linalg.inv, np.eye(2))
    assert "inv_derivative" in text
    assert "solves.py" in text
