"""Arrays that belong to somebody else are written to, or handed out."""

import numpy as np

import rules_core as rc
from rules_core import NoTangent, frule, rrule
from tests.specimens.zoo import MATRIX, VECTOR, Call, rrule_of, specimen


@specimen("rrule.inputs-unwritten")
def writes_its_input(wrong):
    def square(x):
        return x * x

    @rrule.define(square)
    def square_rrule(x):
        y = x * x
        if wrong:
            x *= 2.0
            twice = x.copy()
        else:
            twice = 2.0 * x
        return y, lambda dy: (NoTangent(), twice * dy)

    return Call(square, (VECTOR,))


@specimen("rrule.inputs-unwritten")
def writes_its_input_in_a_thunk(wrong):
    def scaled(x, n):
        return x * n.sum()

    def pullback(dy, x, n):
        def late():
            if wrong:
                n[0] = 7
            return dy * total

        total = n.sum()
        return NoTangent(), rc.thunk(late), NoTangent()

    rrule_of(scaled, pullback)
    return Call(scaled, (VECTOR, np.array([1, 2])))


@specimen("rrule.given-unwritten")
def writes_its_cotangent(wrong):
    def double(x):
        return 2.0 * x

    def pullback(dy, x):
        if wrong:
            dy *= 2.0
            return NoTangent(), dy.copy()
        return NoTangent(), 2.0 * dy

    rrule_of(double, pullback)
    return Call(double, (VECTOR,))


@specimen("rrule.output-unwritten")
def writes_the_value_it_returned(wrong):
    def exponential(x):
        return np.exp(x)

    @rrule.define(exponential)
    def exponential_rrule(x):
        y = np.exp(x)
        kept = y.copy()

        def exponential_pullback(dy):
            if wrong:
                np.multiply(kept, dy, out=y)
                return NoTangent(), y.copy()
            return NoTangent(), kept * dy

        return y, exponential_pullback

    return Call(exponential, (VECTOR,))


@specimen("frule.given-unwritten")
def writes_its_tangent(wrong):
    def double(x):
        return 2.0 * x

    @frule.define(double)
    def double_frule(tangents, x):
        dx = tangents[1]
        dy = 2.0 * dx
        if wrong:
            dx[...] = 0.0
        return 2.0 * x, dy

    return Call(double, (VECTOR,))


@specimen("frule.inputs-unwritten")
def writes_its_input_in_forward_mode(wrong):
    def square(x):
        return x * x

    @frule.define(square)
    def square_frule(tangents, x):
        y, dy = x * x, 2.0 * x * tangents[1]
        if wrong:
            x[0] = 0.0
        return y, dy

    return Call(square, (VECTOR,))


@specimen("rrule.views")
def hands_out_its_argument(wrong):
    def positive(x):
        return x * 1.0

    value = (lambda x: x) if wrong else positive
    rrule_of(positive, lambda dy, x: (NoTangent(), dy), value)
    return Call(positive, (VECTOR,))


@specimen("frule.views")
def copies_where_the_function_gives_a_view(wrong):
    def first(rows):
        return rows[0]

    @frule.define(first)
    def first_frule(tangents, rows):
        return rows[0].copy() if wrong else rows[0], tangents[1][0]

    return Call(first, (MATRIX,))
