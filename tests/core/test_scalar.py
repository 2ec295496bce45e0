"""`scalar_rule`, `derivatives_given_output`, strong zeros."""

import cmath
import math
import typing

import numpy as np
import pytest

import rules_core as rc
from rules_core import (
    NoTangent,
    RuleDefinitionError,
    ZeroTangent,
    derivatives_given_output,
    frule,
    rrule,
    scalar_rule,
)


def square_root(x):
    return np.sqrt(x)


def square_root_partials(y, x):
    with np.errstate(divide="ignore"):
        return (0.5 / y,)


def quotient(x, y):
    return x / y


def quotient_partials(_q, x, y):
    return 1 / y, -x / y**2


def polar(z):
    return abs(z), cmath.phase(z)


def both(x, y):
    return x * y, x + y


def both_partials(_out, x, y):
    return (y, x), (1.0, 1.0)


def test_frule_and_rrule_follow_from_the_partials():
    scalar_rule(quotient, quotient_partials)
    y, pullback = rrule(quotient, 3.0, 2.0)
    assert (y, pullback(4.0)) == (1.5, (NoTangent(), 2.0, -3.0))
    assert frule((NoTangent(), 1.0, 2.0), quotient, 3.0, 2.0) == (1.5, -1.0)


def test_several_outputs():
    scalar_rule(both, both_partials)
    _, pullback = rrule(both, 3.0, 2.0)
    assert pullback((1.0, 10.0)) == (NoTangent(), 12.0, 13.0)
    assert pullback(rc.Tangent(tuple, 1.0, ZeroTangent())) == (NoTangent(), 2.0, 3.0)
    _, dy = frule((NoTangent(), 1.0, 0.0), both, 3.0, 2.0)
    assert dy == rc.Tangent(tuple, 2.0, 1.0)


def test_broadcast_axes_are_summed():
    scalar_rule(quotient, quotient_partials)
    x, y = np.ones((2, 3)), np.full(3, 2.0)
    _, pullback = rrule(quotient, x, y)
    _, dx, dy = pullback(np.ones((2, 3)))
    np.testing.assert_allclose(dx, np.full((2, 3), 0.5))
    np.testing.assert_allclose(dy, np.full(3, -0.5))
    _, pullback = rrule(quotient, 1.0, y)
    assert pullback(np.ones(3))[1] == 1.5
    assert isinstance(pullback(np.ones(3))[1], float)


def test_single_precision_is_kept():
    scalar_rule(quotient, quotient_partials)
    x = np.ones(2, np.float32)
    _, dy = frule((NoTangent(), x, NoTangent()), quotient, x, 2)
    assert dy.dtype == np.float32
    _, pullback = rrule(quotient, x, 2.0)
    assert pullback(np.ones(2, np.float32))[1].dtype == np.float32


def test_integers_have_no_tangent():
    scalar_rule(quotient, quotient_partials)
    _, pullback = rrule(quotient, 3.0, 2)
    assert pullback(4.0) == (NoTangent(), 2.0, NoTangent())


def test_pullbacks_conjugate_and_project():
    def times_i(x):
        return 1j * x

    scalar_rule(times_i, lambda y, x: (1j,), holomorphic=True)
    _, pullback = rrule(times_i, 2.0)
    assert pullback(1j) == (NoTangent(), 1.0)
    assert pullback(1.0 + 0j) == (NoTangent(), 0.0)
    _, pullback = rrule(times_i, 2.0 + 0j)
    assert pullback(1.0 + 0j) == (NoTangent(), -1j)
    assert frule((NoTangent(), 1.0), times_i, 2.0)[1] == 1j


@pytest.mark.parametrize("zero", [0.0, np.zeros(())], ids=["float", "array"])
def test_a_zero_is_strong_against_an_infinite_partial(zero):
    scalar_rule(square_root, square_root_partials)
    _, pullback = rrule(square_root, np.asarray(0.0))
    assert pullback(zero)[1] == 0.0
    assert pullback(zero + 1.0)[1] == math.inf
    assert frule((NoTangent(), np.asarray(0.0)), square_root, np.asarray(0.0))[1] == 0


def test_a_nan_partial_is_silenced_by_zero_only():
    def odd(x):
        return x

    scalar_rule(odd, lambda y, x: (math.nan,))
    _, pullback = rrule(odd, 1.0)
    assert pullback(0.0)[1] == 0.0
    assert math.isnan(pullback(1.0)[1])


def test_strong_zeros_in_arrays_are_entry_by_entry():
    scalar_rule(square_root, square_root_partials)
    _, pullback = rrule(square_root, np.array([0.0, 0.0, 4.0]))
    np.testing.assert_array_equal(
        pullback(np.array([0.0, 1.0, 0.0]))[1], [0.0, math.inf, 0.0]
    )


def test_the_pullback_is_linear_at_a_zero_cotangent():
    """Masking the product where dy is zero would make this derivative zero."""
    jax = pytest.importorskip("jax")
    xp = jax.numpy
    from rules_core._primitives.strong_zero import strong_product

    p = xp.asarray([2.0, 3.0, xp.inf])
    slope = jax.jacfwd(lambda dy: strong_product(p, dy))(xp.zeros(3))
    np.testing.assert_array_equal(slope, np.diag([2.0, 3.0, 0.0]))


def test_symbolic_zeros_pass_without_arithmetic():
    scalar_rule(quotient, quotient_partials)
    _, pullback = rrule(quotient, 3.0, 2.0)
    assert pullback(ZeroTangent()) == (NoTangent(), ZeroTangent(), ZeroTangent())


def test_not_implemented_partials():
    def order(v, x):
        return v * x

    why = "the order has no formula"
    scalar_rule(order, lambda y, v, x: (rc.not_implemented(why), v))
    _, dv, dx = rrule(order, 2.0, 3.0)[1](1.0)
    assert dx == 2.0
    assert isinstance(dv, rc.NotImplementedTangent)
    assert rrule(order, 2, 3.0)[1](1.0)[1] == NoTangent()


def test_needs_reaches_the_partials():
    seen = []

    def partials(y, x, z, *, needs):
        seen.append(needs)
        return 1 / z, (-x / z**2 if needs[1] else NoTangent())

    scalar_rule(quotient, partials)
    call = rrule.resolve(quotient, (3.0, 2.0))
    _, pullback = call.run(needs=(True, False))
    assert pullback(1.0) == (NoTangent(), 0.5, NoTangent())
    assert seen == [(True, False)]


def test_the_tangent_of_a_float_is_zero_where_nothing_moves():
    scalar_rule(quotient, lambda y, x, z: (NoTangent(), NoTangent()))
    _, dy = frule((NoTangent(), 1.0, 1.0), quotient, 3.0, 2.0)
    assert dy is ZeroTangent()


def test_annotations_restrict():
    def partials(y, x: float):
        return (0.5 / y,)

    scalar_rule(square_root, partials)
    assert rrule(square_root, 4.0)[1](1.0)[1] == 0.25
    assert rrule(square_root, np.ones(2)) is None


def test_the_rule_calls_the_primitive_again():
    calls = []

    @rc.primitive
    def cube(x):
        calls.append(x)
        return x**3

    scalar_rule(cube, lambda y, x: (3 * x**2,))
    assert rrule(cube, 2.0)[1](1.0)[1] == 12.0
    assert calls == [2.0]


def test_derivatives_given_output():
    scalar_rule(both, both_partials)
    assert derivatives_given_output((6.0, 5.0), both, 3.0, 2.0) == (
        (2.0, 3.0),
        (1.0, 1.0),
    )
    with pytest.raises(rc.RuleNotFound, match=r"no scalar_rule applies to polar\(comp"):
        derivatives_given_output((1.0, 0.0), polar, 1j)


def test_derivatives_given_output_without_any():
    @rrule.define(quotient)
    def quotient_rrule(x, z):
        return x / z, None

    with pytest.raises(rc.RuleNotFound) as caught:
        derivatives_given_output(1.0, quotient, 1.0, 1.0)
    assert str(caught.value) == (
        "no scalar_rule applies to quotient(float, float).\n"
        "  None is defined. Write one with scalar_rule(quotient, partials)."
    )


def test_derivatives_given_output_where_another_rule_wins():
    scalar_rule(quotient, lambda y, x, z: (1 / z, -x / z**2))

    @rrule.define(quotient)
    def quotient_rrule(x: float, z: float):
        return x / z, None

    with pytest.raises(rc.RuleNotFound, match=r"would apply, but .*quotient_rrule\("):
        derivatives_given_output(1.0, quotient, 1.0, 1.0)


def test_derivatives_given_output_while_rules_are_watched():
    scalar_rule(quotient, lambda y, x, z: (1 / z, -x / z**2))
    with rc.debug_mode():
        assert derivatives_given_output(1.0, quotient, 1.0, 1.0) == ((1.0, -1.0),)


class Line:
    def __init__(self, slope):
        self.slope = slope

    def at(self, x):
        return self.slope * x


def test_methods():
    def partials(y, self, x):
        return rc.not_implemented("the instance"), self.slope

    scalar_rule(Line.at, partials)
    line = Line(3.0)
    dself, dx = rrule(line.at, 2.0)[1](1.0)
    assert (dself.info, dx) == ("the instance", 3.0)
    assert len(rrule(Line.at, line, 2.0)[1](1.0)) == 3
    resting = rc.frule.resolve(line.at, (2.0,))
    assert resting.run((ZeroTangent(), 5.0)) == (6.0, 15.0)


class Pair(typing.NamedTuple):
    low: float
    high: float


def test_several_outputs_may_have_names():
    def bounds(x):
        return Pair(x, 2.0 * x)

    scalar_rule(bounds, lambda y, x: ((1.0,), (2.0,)))
    _, dy = frule((NoTangent(), 1.0), bounds, 3.0)
    assert dy == rc.Tangent(Pair, low=1.0, high=2.0)
    assert rrule(bounds, 3.0)[1](rc.Tangent(Pair, high=1.0)) == (NoTangent(), 2.0)


@pytest.mark.parametrize(
    ("outputs", "partials", "text"),
    [
        (1, 1.0, "a tuple of 2, one per argument, but got float."),
        (1, [1.0, 1.0], "a tuple of 2, one per argument, but got list."),
        (
            2,
            (1.0, 1.0),
            "a tuple of 2, one per output, each a tuple of 2, one per argument, but "
            "got (float, float).",
        ),
        (
            2,
            ((1.0, 1.0), (1.0,)),
            "a tuple of 2, one per output, each a tuple of 2, one per argument, but "
            "got ((float, float), (float,)).",
        ),
    ],
    ids=["bare", "list", "one row", "short row"],
)
def test_partials_of_the_wrong_form(outputs, partials, text):
    def f(x, z):
        return x if outputs == 1 else (x, z)

    scalar_rule(f, lambda y, x, z: partials)
    for call in (
        lambda: rrule(f, 1.0, 2.0),
        lambda: frule((NoTangent(), 1.0, 1.0), f, 1.0, 2.0),
        lambda: derivatives_given_output(f(1.0, 2.0), f, 1.0, 2.0),
    ):
        with pytest.raises(RuleDefinitionError) as caught:
            call()
        assert str(caught.value).endswith(f": the partials must be {text}")


def test_outputs_of_the_wrong_form():
    def f(x):
        return [x, x]

    scalar_rule(f, lambda y, x: ((1.0,), (1.0,)))
    with pytest.raises(RuleDefinitionError, match="outputs must be a tuple, but got a"):
        rrule(f, 1.0)
    scalar_rule(both, both_partials)
    with pytest.raises(rc.ProjectionError) as caught:
        rrule(both, 3.0, 2.0)[1]((1.0,))
    assert str(caught.value) == (
        "the cotangents must be a tuple of 2, one per output, but got a tuple of 1."
    )


def test_wrong_counts():
    scalar_rule(quotient, lambda y, x, z: (1.0,))
    with pytest.raises(RuleDefinitionError) as caught:
        rrule(quotient, 3.0, 2.0)
    assert str(caught.value).endswith(
        ": the partials must be a tuple of 2, one per argument, but got (float,)."
    )
    with pytest.raises(RuleDefinitionError, match="normal form quotient has 2"):
        scalar_rule(quotient, lambda y, x: (1.0,))
