"""What a rule returns, and what it declares as not implemented: whole texts."""

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, frule, rrule
from rules_core.testing import CheckFailed, check_frule, check_rrule, check_rule

VECTOR = np.array([0.5, -1.25, 2.0])


def square(x, *, sign=1.0):
    return sign * x * x


def complaint(pullback, **options):
    """What `rrule.result` says of such a pullback."""
    rrule.define(square)(lambda x, *, sign=1.0: (square(x, sign=sign), pullback))
    with pytest.raises(CheckFailed) as caught:
        check_rrule(square, VECTOR, **options)
    (failed,) = caught.value.report.failed
    assert failed.name == "rrule.result"
    return failed.detail


def test_a_pullback_of_several_parameters():
    assert complaint(lambda first, second: None) == (
        "the pullback must take the cotangent dy alone, of several outputs their "
        "tuple, but its parameters are (first, second)"
    )


def test_a_pullback_without_a_parameter():
    assert complaint(lambda: None).endswith("but its parameters are ()")


def test_a_value_in_place_of_the_pullback():
    assert complaint(VECTOR).endswith(
        "must return the pair (y, pullback), but its second entry is one value of type "
        "ndarray, which cannot be called with a cotangent."
    )


def test_an_frule_that_takes_its_tangents_for_an_argument():
    @frule.define(square)
    def square_frule(x, dx):
        return x * x, 2 * x * dx

    with pytest.raises(CheckFailed) as caught:
        check_frule(square, VECTOR)
    detail = caught.value.report["frule.result"].detail
    assert detail.startswith("TypeError: ")
    assert detail.endswith("\nan frule is called as rule((dself, dx1, …), x)")


def test_a_pullback_whose_parameters_nobody_knows():
    """Of a builtin they may be unknown; it is called all the same."""
    assert complaint(max).startswith("the pullback must return a tuple of 2 cotangents")


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_cotangent_for_a_keyword(sign):
    def pullback(dy):
        return NoTangent(), sign * 2.0 * VECTOR * dy, 0.0

    assert complaint(pullback, fkwargs={"sign": sign}) == (
        "the pullback must return a tuple of 2 cotangents, one for each of (f, x), but "
        "got a tuple of 3; keyword-only arguments have none"
    )


def test_an_error_that_names_the_rule_is_not_located_again():
    rrule.define(square)(lambda x: (square(x), abs))
    with pytest.raises(CheckFailed) as caught:
        check_rrule(square, VECTOR, fkwargs={"sign": 2.0})
    assert caught.value.report["rrule.result"].detail.endswith("and use it.")


@pytest.mark.parametrize("symbolic", [True, False])
def test_a_derivative_that_is_not_implemented_is_refused_in_words(symbolic):
    """A rule that gets dense zeros looks at the tangent."""

    def bessel(v, x):
        return v * np.sin(x)

    @rrule.define(bessel)
    def bessel_rrule(v, x):
        def bessel_pullback(dy):
            return NoTangent(), rc.not_implemented("in the order"), v * np.cos(x) * dy

        return bessel(v, x), bessel_pullback

    @frule.define(bessel, symbolic_zeros=symbolic)
    def bessel_frule(tangents, v, x):
        dv = rc.not_implemented("in the order")
        if isinstance(tangents[1], float) and tangents[1] == 0.0:
            dv = rc.ZeroTangent()
        return bessel(v, x), dv * tangents[1] + v * np.cos(x) * tangents[2]

    report = check_rule(bessel, 1.5, 0.5, hosts=())
    assert report["rrule.implemented"].status == "refused"
    detail = "v was not checked, its derivative is not implemented: in the order"
    assert report["rrule.implemented"].detail == detail
    assert report["frule.implemented"].detail == detail
    assert report["frule.derivative"].status == "passed"
    assert report["adjoint"].status == "passed"


def test_a_rule_of_which_nothing_is_implemented_must_be_declared():
    @rrule.define(square)
    def square_rrule(x):
        return square(x), lambda dy: (NoTangent(), rc.not_implemented("in x"))

    with pytest.raises(CheckFailed, match="Nothing of this rule was checked. If") as e:
        check_rrule(square, VECTOR)
    assert [check.name for check in e.value.report.failed] == ["rrule.implemented"]
    report = check_rrule(square, VECTOR, tangents=(NoTangent(),))
    assert report["rrule.implemented"].status == "refused"
