"""What a check cannot look at stands as *not run*, with the reason."""

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, rrule
from rules_core.testing import CheckFailed, check_rrule

VECTOR = np.array([0.5, -1.25, 2.0])


def test_a_function_that_computes_in_single_precision_throughout():
    def single(x):
        return np.float32(2.0) * np.asarray(x, np.float32)

    @rrule.define(single)
    def single_rrule(x):
        return single(x), lambda dy: (NoTangent(), (2.0 * dy).astype(x.dtype))

    report = check_rrule(single, VECTOR.astype(np.float32))
    for name in ("rrule.second-order", "rrule.slope-at-zero"):
        assert (
            report[name].detail == "the function does not compute in double precision"
        )


def test_a_function_that_jumps_has_no_derivative_to_compare_with():
    """Agreement within an error as large as the derivative is no evidence."""

    def ragged(x):
        return 1e-3 * x + 1e-4 * np.sin(1e9 * x)

    rrule.define(ragged)(lambda x: (ragged(x), lambda dy: (NoTangent(), 1e-3 * dy)))
    with pytest.raises(CheckFailed, match="finite differences"):
        check_rrule(ragged, VECTOR)


def elementwise(annotation):
    """An elementwise primitive whose rule takes some types only."""

    @rc.primitive(elementwise=True)
    def double(x):
        return x * 2.0

    def double_rrule(x):
        return x * 2.0, lambda dy: (NoTangent(), 2.0 * dy)

    double_rrule.__annotations__ = {"x": annotation}
    rrule.define(double)(double_rrule)
    return double


def test_a_rule_for_numbers_is_not_asked_for_a_stack():
    report = check_rrule(elementwise(float), 1.5)
    assert report["rrule.batching"].detail == (
        "the rule's annotations do not admit a stack of arrays"
    )


def test_an_elementwise_rule_is_asked_for_a_stack():
    report = check_rrule(elementwise(object), 1.5)
    assert report["rrule.batching"].status == "passed"


def test_containers_are_not_stacked():
    @rc.primitive(elementwise=True)
    def first(pair):
        return pair[0] * 2.0

    @rrule.define(first)
    def first_rrule(pair):
        return first(pair), lambda dy: (NoTangent(), (2.0 * dy, None))

    report = check_rrule(first, (VECTOR, 1))
    assert report["rrule.batching"].detail == "no argument is an array"


def masked(x):
    return np.nansum(x * x)


def test_entries_that_are_not_finite_are_no_evidence():
    """A `Dual` multiplies what a mask leaves out by zero; the other checks run."""
    point = np.array([1.0, np.nan, 3.0])

    @rrule.define(masked)
    def masked_rrule(x):
        return masked(x), lambda dy: (NoTangent(), 2.0 * np.nan_to_num(x) * dy)

    report = check_rrule(masked, point)
    for name in ("second-order", "slope-at-zero", "value-slope"):
        assert report[f"rrule.{name}"].status == "not run"
        assert "not finite" in report[f"rrule.{name}"].detail
    assert report["rrule.derivative"].status == "passed"


@pytest.mark.parametrize("arguments", [(1.5, 2.0), (2, 2.0)])
def test_orders_that_are_real_numbers_only(arguments):
    """`jv` is holomorphic in its argument; no order of SciPy's is complex."""
    special = pytest.importorskip("scipy.special")  # the core does not need it
    report = check_rrule(special.jv, *arguments)
    status = report["rrule.cauchy-riemann"].status
    assert status == ("not run" if isinstance(arguments[0], float) else "passed")
