"""Mistakes that real programs were found to hold."""

import functools

import numpy as np

import rules_core as rc
from rules_core import NoTangent, frule, rrule
from tests.specimens.zoo import VECTOR, Call, frule_of, rrule_of, specimen


@specimen("rrule.annotations")
def takes_no_arrays_but_numpys(wrong):
    @rc.primitive
    def scaled(x, step):
        return x * step

    def scaled_rrule(x, step):
        xp = rc.array_namespace(x)
        return scaled(x, step), lambda dy: (NoTangent(), step * dy, xp.sum(x * dy))

    kind = np.ndarray if wrong else rc.Array
    scaled_rrule.__annotations__ = {"x": kind, "step": rc.Array}
    rrule.define(scaled)(scaled_rrule)
    return Call(scaled, (VECTOR, 2.0))


@specimen("rrule.annotations")
def takes_a_float_where_hosts_have_an_array(wrong):
    @rc.primitive
    def double(x):
        return 2.0 * x

    def double_rrule(x):
        return double(x), lambda dy: (NoTangent(), 2.0 * dy)

    double_rrule.__annotations__ = {"x": float if wrong else rc.Array}
    rrule.define(double)(double_rrule)
    return Call(double, (np.float64(0.5),))


@specimen("frule.annotations")
def takes_no_arrays_but_numpys_in_forward_mode(wrong):
    @rc.primitive
    def double(x):
        return 2.0 * x

    def double_frule(tangents, x):
        return double(x), 2.0 * tangents[1]

    double_frule.__annotations__ = {"x": np.ndarray if wrong else rc.Array}
    frule.define(double)(double_frule)
    return Call(double, (VECTOR,))


@specimen("rrule.value")
def a_wrapper_changes_a_default_that_it_does_not_name(wrong):
    def scaled(x, scale=2.0):
        return x * scale

    @functools.wraps(scaled)
    def hidden(*args, **kwargs):
        kwargs = kwargs if len(args) > 1 else {"scale": 5.0, **kwargs}
        return scaled(*args, **kwargs)

    @functools.wraps(scaled)
    def named(x, scale=5.0):
        return scaled(x, scale)

    f = hidden if wrong else named
    rrule_of(f, lambda dy, x, scale: (NoTangent(), scale * dy, np.sum(x * dy)))
    return Call(f, (VECTOR,))


@specimen("rrule.linearity")
def takes_small_cotangents_for_zero(wrong):
    def double(x):
        return 2.0 * x

    def pullback(dy, x):
        nothing = np.allclose(dy, 0) if wrong else not np.any(dy)
        return NoTangent(), 0.0 * dy if nothing else 2.0 * dy

    rrule_of(double, pullback)
    # A test for zero is no array code: what a host makes of it, the next check sees.
    return Call(double, (VECTOR,), {"skip": ("rrule.slope-at-zero",)})


@specimen("frule.linearity")
def takes_small_tangents_for_zero(wrong):
    def double(x):
        return 2.0 * x

    def pushforward(tangents, x):
        dx = tangents[1]
        nothing = np.allclose(dx, 0) if wrong else not np.any(dx)
        return 0.0 * dx if nothing else 2.0 * dx

    frule_of(double, pushforward)
    return Call(double, (VECTOR,), {"skip": ("frule.slope-at-zero",)})


def modulus():
    """A primitive that is not linear, with its rule."""

    @rc.primitive
    def modulus(x):
        return rc.array_namespace(x).abs(x)

    rrule_of(modulus, lambda dy, x: (NoTangent(), rc.array_namespace(x).sign(x) * dy))
    return modulus


@specimen("rrule.linearity")
def applies_a_nonlinear_primitive_to_the_cotangent(wrong):
    def double(x):
        return 2.0 * x

    nonlinear = modulus()
    rrule_of(
        double, lambda dy, x: (NoTangent(), 2.0 * (nonlinear(dy) if wrong else dy))
    )
    return Call(double, (VECTOR,))


@specimen("frule.linearity")
def applies_a_nonlinear_primitive_to_the_tangent(wrong):
    def double(x):
        return 2.0 * x

    nonlinear = modulus() if wrong else np.positive
    frule_of(double, lambda tangents, x: 2.0 * nonlinear(tangents[1]))
    return Call(double, (VECTOR,))


@specimen("frule.no-tangent")
def the_tangent_of_the_function_for_that_of_its_argument(wrong):
    def double(x):
        return 2.0 * x

    frule_of(double, lambda tangents, x: 2.0 * tangents[0 if wrong else 1])
    return Call(double, (VECTOR,))


@specimen("rrule.given-unwritten")
def accumulates_into_its_cotangent(wrong):
    def twice(x):
        return 2.0 * x

    def pullback(dy, x):
        return NoTangent(), rc.accumulate(dy, dy.copy(), owned=wrong)

    rrule_of(twice, pullback)
    return Call(twice, (VECTOR,))


@specimen("rrule.given-unwritten")
def writes_into_a_part_of_its_cotangent(wrong):
    def both(x):
        return [2.0 * x, 3.0 * x]

    def pullback(dy, x):
        first = dy[0] if wrong else dy[0].copy()
        first *= 2.0
        return NoTangent(), first + 3.0 * dy[1]

    rrule_of(both, pullback)
    return Call(both, (VECTOR,))


@specimen("rrule.repeat")
def the_function_reuses_its_output_buffer(wrong):
    buffer = np.zeros(3)

    @rc.primitive(host=True)
    def square(x):
        y = np.multiply(x, x, out=buffer)
        return y if wrong else y.copy()

    rrule_of(square, lambda dy, x: (NoTangent(), 2.0 * x * dy))
    return Call(square, (VECTOR,))


@specimen("rrule.repeat")
def the_pullback_reuses_its_output_buffer(wrong):
    def square(x):
        return x * x

    buffer = np.zeros(3)

    def pullback(dy, x):
        out = buffer if wrong else np.zeros(3)
        return NoTangent(), np.multiply(2.0 * x, dy, out=out)

    rrule_of(square, pullback)
    # Writing into an array is no array code.
    skip = ("rrule.second-order", "rrule.slope-at-zero")
    return Call(square, (VECTOR,), {"skip": skip})


@specimen("frule.repeat")
def the_frule_reuses_its_output_buffer(wrong):
    def square(x):
        return x * x

    buffer = np.zeros(3)

    def pushforward(tangents, x):
        out = buffer if wrong else np.zeros(3)
        return np.multiply(2.0 * x, tangents[1], out=out)

    frule_of(square, pushforward)
    skip = ("frule.second-order", "frule.slope-at-zero")
    return Call(square, (VECTOR,), {"skip": skip})


@specimen("rrule.views")
def one_array_for_two_results(wrong):
    def twice(x):
        return 2.0 * x, 2.0 * x

    def value(x):
        y = 2.0 * x
        return y, y if wrong else y.copy()

    rrule_of(twice, lambda dy, x: (NoTangent(), 2.0 * (dy[0] + dy[1])), value)
    return Call(twice, (VECTOR,))
