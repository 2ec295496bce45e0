"""The rule of `docs/how-to/call-back-into-ad.md`, as it is written there."""

import re
from pathlib import Path

import jax
import numpy as np
import pytest
import torch

from rules_core.testing import check_rule

PAGE = Path(__file__).parents[2] / "docs/how-to/call-back-into-ad.md"


@pytest.fixture
def fixed_point():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (rule,) = [block for block in blocks if "def fixed_point_rrule" in block]
    names = {}
    exec("import rules_core as rc\nfrom rules_core import *\n" + rule, names)
    return names["fixed_point"]


def test_in_jax(fixed_point):
    def root(a):
        return fixed_point(lambda a, x: 0.5 * (x + a / x), a, jax.numpy.ones(()))

    _, slope = jax.jvp(root, (4.0,), (1.0,))
    np.testing.assert_allclose(slope, 0.25, rtol=1e-5)
    np.testing.assert_allclose(jax.hessian(root)(4.0), -0.03125, rtol=1e-5)


def test_in_torch(fixed_point):
    a = torch.tensor(4.0, dtype=torch.float64)

    def root(a):
        return fixed_point(lambda a, x: 0.5 * (x + a / x), a, torch.ones_like(a))

    _, slope = torch.func.jvp(root, (a,), (torch.ones_like(a),))
    assert slope.item() == pytest.approx(0.25)
    assert torch.func.hessian(root)(a).item() == pytest.approx(-0.03125)


@pytest.mark.full
def test_in_the_tester(fixed_point):
    def step(a, x):
        return 0.5 * (x + a / x)

    found = check_rule(fixed_point, step, np.float64(4.0), np.float64(1.0))
    assert found["rrule.derivative"].status == "passed"
