"""`check_scalar`: the whole real Jacobian of functions of numbers."""

import cmath
import math

import pytest

from rules_core import NoTangent, frule, rrule, scalar_rule
from rules_core.testing import CheckFailed, check_scalar


def sine(z):
    return cmath.sin(z) if isinstance(z, complex) else math.sin(z)


def cosine(z):
    return cmath.cos(z) if isinstance(z, complex) else math.cos(z)


@pytest.mark.parametrize("z", [0.5, -2.0, 0.3 + 1j, -1j])
def test_a_holomorphic_function_passes_everywhere(z):
    def partials(y, z):
        return (cosine(z),)

    scalar_rule(sine, partials, holomorphic=True)
    report = check_scalar(sine, z)
    expected = "not run" if isinstance(z, complex) else "passed"
    assert report["complex-point"].status == expected
    assert report["rrule.cauchy-riemann"].status == "passed"


def test_several_arguments_are_taken_one_by_one():
    def partials(y, x, n, z):
        return n * x ** (n - 1) * z, NoTangent(), x**n

    def power(x, n, z):
        return x**n * z

    scalar_rule(power, partials)
    assert check_scalar(power, 1.5, 3, 2.0)


def test_a_wrong_partial_is_found():
    def partials(y, z):
        return (2.0 * cosine(z),)

    scalar_rule(sine, partials)
    with pytest.raises(CheckFailed, match="the rule is 2 times the derivative"):
        check_scalar(sine, 0.5)


def test_a_claim_that_fails_off_the_real_axis_is_found():
    def squared(z):
        return z * z.conjugate()

    def partials(y, z):
        return (2.0 * z,)

    scalar_rule(squared, partials, holomorphic=True)
    with pytest.raises(CheckFailed, match=r"failed +rrule.cauchy-riemann"):
        check_scalar(squared, 0.5)


def test_both_rules_are_expected():
    rrule.define(sine)(lambda z: (sine(z), lambda dy: (NoTangent(), cosine(z) * dy)))
    with pytest.raises(CheckFailed, match=r"failed +frule.exists"):
        check_scalar(sine, 0.5)


def test_a_real_tangent_of_a_complex_number_is_embedded():
    def double(z):
        return 2 * z

    @frule.define(double)
    def double_frule(tangents, z):
        dz = tangents[1]
        return 2 * z, 2 * dz if isinstance(dz, complex) else 3 * dz

    rrule.define(double)(lambda z: (2 * z, lambda dy: (NoTangent(), 2 * dy)))
    with pytest.raises(CheckFailed, match=r"frule.embedding +y.real: 3.0 .* 2.0 for"):
        check_scalar(double, 1j)


def test_embedding_is_a_question_about_numbers():
    import numpy as np

    def double(z):
        return 2 * z

    scalar_rule(double, lambda y, z: (2.0,), holomorphic=True)
    report = check_scalar(double, np.array([1j, 2.0]))
    assert report["rrule.embedding"].detail == "only for numbers"
    assert check_scalar(double, 1j)["rrule.embedding"].status == "passed"
    assert (
        check_scalar(double, 1.0)["rrule.embedding"].detail == "no tangent is complex"
    )


def test_a_rule_that_is_wrong_beside_the_real_axis_only():
    def double(z):
        return 2 * z

    def partials(y, z):
        return (2.0 if not isinstance(z, complex) else 3.0,)

    scalar_rule(double, partials, holomorphic=True)
    with pytest.raises(CheckFailed, match=r"failed +complex-point +rrule.complex-deri"):
        check_scalar(double, 0.5)
