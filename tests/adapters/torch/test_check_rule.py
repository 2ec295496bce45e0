"""`check_rule` runs PyTorch's whole matrix, and the matrix can fail."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import rules_core as rc
from rules_core import NoTangent
from rules_core.testing import check_rule
from rules_torch._adapter import adapter
from tests.adapters.torch.formulas import KINDS, cube, expo, host_sine, sinmul

# torch's own compiler stack warns about itself.
pytestmark = pytest.mark.filterwarnings("ignore")
X = np.array([0.3, 0.7])


def rows(report):
    return {name: outcome for name, outcome in outcomes(report) if "torch" in name}


def outcomes(report):
    for line in str(report).splitlines():
        parts = line.split()
        if parts and parts[0] in ("passed", "failed", "not", "refused"):
            yield line.strip().split(None, 1)[1].strip(), parts[0]


@pytest.mark.parametrize("kind", KINDS)
def test_quick_level(kind):
    report = check_rule(sinmul(kind).f, X, hosts=["torch"], level="quick")
    found = rows(report)
    assert len(found) == 9
    # The tester has no reference for second derivatives without an rrule, nor for
    # batches of cotangents.
    assert set(found.values()) <= {"passed", *(["not"] if kind == "frule" else [])}


@pytest.mark.full
@pytest.mark.parametrize(
    "make",
    [
        sinmul,
        host_sine,
        pytest.param(cube, marks=pytest.mark.nightly),
        pytest.param(expo, marks=pytest.mark.nightly),
    ],
)
def test_full_level_with_compilation(make):
    report = check_rule(make("both").f, X, hosts=["torch"], level="full")
    found = rows(report)
    assert len(found) == 17
    assert set(found.values()) <= {"passed"}


def test_a_rule_that_is_wrong_at_second_order_only_is_found():
    """The pullback computes outside of torch's sight: right once, wrong twice."""

    @rc.primitive
    def cubed(x):
        return x * x * x

    @rc.rrule.define(cubed)
    def cubed_rrule(x):
        slope = rc.ignore_derivatives(3 * x * x)
        return x * x * x, lambda dy: (NoTangent(), dy * slope)

    with pytest.raises(AssertionError) as info:
        check_rule(cubed, X, hosts=["torch"], level="quick")
    report = getattr(info.value, "report", info.value)
    assert "second" in str(report)


def is_batched(x):
    """Whether `vmap` has made a tensor, at any level."""
    functorch = torch._C._functorch
    while isinstance(x, torch.Tensor) and functorch.is_functorch_wrapped_tensor(x):
        if functorch.is_batchedtensor(x):
            return True
        x = functorch.get_unwrapped(x)
    return False


@pytest.mark.parametrize("mode", ["rrule", "frule"])
def test_a_rule_that_is_wrong_in_batches_only_is_found(mode):
    @rc.primitive
    def squared(x):
        return x * x

    def slope(x):
        return (3 if is_batched(x) else 2) * x

    if mode == "rrule":
        rc.rrule.define(squared)(
            lambda x: (x * x, lambda dy: (NoTangent(), slope(x) * dy))
        )
    else:
        rc.frule.define(squared)(lambda dxs, x: (x * x, slope(x) * dxs[1]))
    with pytest.raises(AssertionError) as info:
        check_rule(squared, X, hosts=["torch"], level="quick")
    failed = {check.name for check in info.value.report.failed}
    assert failed <= {"torch: vmap(vjp)", "torch: vmap(jvp)"}
    assert f"torch: vmap({'vjp' if mode == 'rrule' else 'jvp'})" in failed


@rc.primitive(host=True, elementwise=True)
def power(a, x):
    return x**a


def slope(a, x):
    """Three times the derivative, so that one sees whether a rule was used."""
    return 3 * a * x ** (a - 1)


@rc.rrule.define(power)
def power_rrule(a, x):
    missing = rc.not_implemented("no formula")
    return power(a, x), lambda dy: (NoTangent(), missing, slope(a, x) * dy)


@rc.frule.define(power)
def power_frule(tangents, a, x):
    return power(a, x), slope(a, x) * tangents[2]


def restricted(a):
    """As the tester calls a function that has no derivative in `a`."""
    closed = [a, None]
    return lambda x: power(closed[0], x)


@pytest.mark.parametrize("name", ["compile", "compile(vjp)", "compile(jvp)"])
def test_arrays_that_are_closed_over_are_compiled(name):
    (cell,) = [cell for cell in adapter.cells("full") if cell.name == name]
    a, dx = np.array([1.5, 2.5]), np.array([0.2, -1.0])
    given = {"value": (), "vjp": (dx,), "jvp": ((dx,),)}[cell.kind]
    found = cell.run(restricted(a), (X,), {}, *given)
    expected = X**a if cell.kind == "value" else slope(a, X) * dx
    if cell.kind == "vjp":
        (found,) = found
    np.testing.assert_allclose(found, expected, rtol=1e-12)
