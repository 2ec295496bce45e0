"""Existence, form and value: what a rule returns."""

import array_api_strict
import numpy as np

from rules_core import NoTangent, ZeroTangent, frule, not_implemented, rrule
from tests.specimens.zoo import MATRIX, VECTOR, Call, frule_of, rrule_of, specimen


@specimen("rrule.exists")
def no_rule_for_these_types(wrong):
    def square(x):
        return x * x

    def square_rrule(x):
        return square(x), lambda dy: (NoTangent(), 2 * x * dy)

    square_rrule.__annotations__ = {"x": int if wrong else np.ndarray}
    rrule.define(square)(square_rrule)
    return Call(square, (VECTOR,))


@specimen("rrule.result")
def one_cotangent_too_few(wrong):
    def product(x, y):
        return x * y

    def pullback(dy, x, y):
        return (dy * y, dy * x) if wrong else (NoTangent(), dy * y, dy * x)

    rrule_of(product, pullback)
    return Call(product, (VECTOR, VECTOR + 1))


@specimen("rrule.result")
def one_value_instead_of_a_pair(wrong):
    def square(x):
        return x * x

    @rrule.define(square)
    def square_rrule(x):
        def square_pullback(dy):
            return NoTangent(), 2 * x * dy

        return square_pullback if wrong else (x * x, square_pullback)

    return Call(square, (VECTOR,))


@specimen("rrule.implemented")
def nothing_is_implemented(wrong):
    def square(x, n):
        return x**n

    def pullback(dy, x, n):
        dx = not_implemented("TODO") if wrong else n * x ** (n - 1) * dy
        return NoTangent(), dx, NoTangent()

    rrule_of(square, pullback)
    return Call(square, (VECTOR, 2))


@specimen("frule.implemented")
def nothing_is_implemented_in_forward_mode(wrong):
    def square(x):
        return x * x

    def pushforward(tangents, x):
        return not_implemented("TODO") if wrong else 2.0 * x * tangents[1]

    frule_of(square, pushforward)
    return Call(square, (VECTOR,))


@specimen("rrule.value")
def wrong_primal(wrong):
    def sine(x):
        return np.sin(x)

    value = np.cos if wrong else np.sin
    rrule_of(sine, lambda dy, x: (NoTangent(), dy * np.cos(x)), value)
    return Call(sine, (VECTOR,))


@specimen("rrule.value")
def a_value_of_another_precision(wrong):
    def double(x):
        return 2.0 * x

    def value(x):
        return double(x).astype(np.float32 if wrong else np.float64)

    rrule_of(double, lambda dy, x: (NoTangent(), 2.0 * dy), value)
    return Call(double, (np.array([0.5, -1.25]),))


@specimen("rrule.value")
def a_value_of_another_structure(wrong):
    def with_total(x):
        return 2.0 * x, np.sum(x)

    def value(x):
        y = with_total(x)
        return list(y)[:1] if wrong else y

    def pullback(dy, x):
        return NoTangent(), 2.0 * dy[0] + dy[1]

    rrule_of(with_total, pullback, value)
    return Call(with_total, (VECTOR,))


@specimen("rrule.value")
def another_integer_beside_the_value(wrong):
    def with_count(x):
        return 2.0 * x, x.size

    def value(x):
        return 2.0 * x, x.size + wrong

    rrule_of(with_count, lambda dy, x: (NoTangent(), 2.0 * dy[0]), value)
    return Call(with_count, (VECTOR,))


@specimen("frule.value")
def wrong_primal_in_forward_mode(wrong):
    def square(x):
        return x * x

    @frule.define(square)
    def square_frule(tangents, x):
        return (x if wrong else x * x), 2 * x * tangents[1]

    return Call(square, (VECTOR,))


@specimen("rrule.shape")
def not_summed_over_the_broadcast_axis(wrong):
    def shifted(A, b):
        return A + b

    def pullback(dy, A, b):
        return NoTangent(), dy, dy if wrong else dy.sum(axis=0)

    rrule_of(shifted, pullback)
    return Call(shifted, (MATRIX, VECTOR))


@specimen("rrule.shape")
def a_list_for_an_array(wrong):
    def double(x):
        return 2.0 * x

    def pullback(dy, x):
        return NoTangent(), (2.0 * dy).tolist() if wrong else 2.0 * dy

    rrule_of(double, pullback)
    return Call(double, (VECTOR,))


@specimen("rrule.shape")
def a_field_that_the_primal_does_not_have(wrong):
    def total(pair):
        return pair["a"] + pair["b"]

    def pullback(dy, pair):
        return NoTangent(), {"a": dy, "b": [dy] if wrong else dy}

    rrule_of(total, pullback)
    return Call(total, ({"a": VECTOR, "b": VECTOR},))


@specimen("frule.shape")
def a_tangent_with_an_axis_too_many(wrong):
    def total(x):
        return np.sum(x)

    @frule.define(total)
    def total_frule(tangents, x):
        return np.sum(x), np.sum(tangents[1], keepdims=wrong)

    return Call(total, (VECTOR,))


@specimen("rrule.no-tangent")
def no_tangent_for_a_float(wrong):
    def first(x, y):
        return x + 0.0 * y

    zero = NoTangent() if wrong else ZeroTangent()
    rrule_of(first, lambda dy, x, y: (NoTangent(), dy, zero))
    return Call(first, (2.0, 3.0))


@specimen("rrule.no-tangent")
def a_number_for_an_integer(wrong):
    def power(x, n):
        return x**n

    def pullback(dy, x, n):
        dn = dy * x**n * np.log(x) if wrong else NoTangent()
        return NoTangent(), dy * n * x ** (n - 1), dn

    rrule_of(power, pullback)
    return Call(power, (2.0, 3))


@specimen("frule.no-tangent")
def no_tangent_for_a_float_value(wrong):
    def step(x):
        return np.floor(x)

    @frule.define(step)
    def step_frule(tangents, x):
        return np.floor(x), NoTangent() if wrong else ZeroTangent()

    return Call(step, (1.1 * VECTOR,))


@specimen("rrule.dtype")
def double_precision_for_single(wrong):
    def square(x):
        return x * x

    def pullback(dy, x):
        dx = 2 * x * dy
        return NoTangent(), dx.astype(np.float64) if wrong else dx

    rrule_of(square, pullback)
    return Call(square, (VECTOR.astype(np.float32),))


@specimen("rrule.dtype")
def complex_cotangent_of_a_real_argument(wrong):
    def turned(x):
        return 1j * x

    def pullback(dy, x):
        return NoTangent(), (-1j * dy if wrong else np.real(-1j * dy))

    rrule_of(turned, pullback)
    return Call(turned, (VECTOR,))


@specimen("frule.dtype")
def single_precision_for_double(wrong):
    def square(x):
        return x * x

    @frule.define(square)
    def square_frule(tangents, x):
        dy = 2 * x * tangents[1]
        return x * x, dy.astype(np.float32) if wrong else dy

    return Call(square, (np.array([0.5, 1.0]),), {"tangents": (np.array([1.0, 2.0]),)})


@specimen("rrule.device")
def another_device(wrong):
    elsewhere = array_api_strict.Device("device1")

    def identity(x):
        return x + 0.0

    def pullback(dy, x):
        return NoTangent(), dy.to_device(elsewhere) if wrong else dy

    rrule_of(identity, pullback)
    return Call(identity, (array_api_strict.asarray(VECTOR),))
