"""Thunks, in-place halves and `needs` that break their promise."""

import numpy as np

import rules_core as rc
from rules_core import NoTangent, ZeroTangent, frule, rrule
from tests.specimens.zoo import VECTOR, Call, rrule_of, specimen


@specimen("rrule.thunks")
def a_thunk_that_works_once(wrong):
    def double(x):
        return 2.0 * x

    def pullback(dy, x):
        parts = [2.0 * dy]
        return NoTangent(), rc.thunk(lambda: parts.pop() if wrong else parts[0])

    rrule_of(double, pullback)
    return Call(double, (VECTOR,))


@specimen("rrule.thunks")
def a_thunk_that_changes_its_mind(wrong):
    def total(pair):
        return pair[0] + pair[1]

    def pullback(dy, pair):
        calls = []

        def late():
            calls.append(dy)
            factor = len(calls) if wrong else 1
            return factor * dy, dy

        return NoTangent(), rc.thunk(late)

    rrule_of(total, pullback)
    return Call(total, ((VECTOR, VECTOR + 1),))


@specimen("rrule.thunks")
def a_thunk_that_is_forced_before_it_is_returned(wrong):
    def product(x, y):
        return x * y

    def pullback(dy, x, y):
        dx = rc.thunk(lambda: dy * y)
        dself = rc.unthunk(dx) if wrong else None
        del dself
        return NoTangent(), dx, dy * x

    rrule_of(product, pullback)
    return Call(product, (VECTOR, VECTOR + 1))


@specimen("rrule.accumulation")
def wrong_in_place_half(wrong):
    def double(x):
        return 2.0 * x

    def pullback(dy, x):
        def add(buffer):
            buffer += (200.0 if wrong else 2.0) * dy
            return buffer

        return NoTangent(), rc.InplaceableThunk(add, rc.thunk(lambda: 2.0 * dy))

    rrule_of(double, pullback)
    return Call(double, (VECTOR,))


@specimen("rrule.accumulation")
def overwrites_instead_of_accumulating(wrong):
    def picked(x):
        return x[1]

    def pullback(dy, x):
        def add(buffer):
            if wrong:
                buffer[1] = dy
            else:
                buffer[1] += dy
            return buffer

        def value():
            dx = np.zeros_like(x)
            dx[1] = dy
            return dx

        return NoTangent(), rc.InplaceableThunk(add, rc.thunk(value))

    rrule_of(picked, pullback)
    return Call(picked, (VECTOR,))


@specimen("frule.accumulation")
def wrong_in_place_half_in_forward_mode(wrong):
    def double(x):
        return 2.0 * x

    @frule.define(double)
    def double_frule(tangents, x):
        dx = tangents[1]

        def add(buffer):
            buffer += (3.0 if wrong else 2.0) * dx
            return buffer

        return 2.0 * x, rc.InplaceableThunk(add, rc.thunk(lambda: 2.0 * dx))

    return Call(double, (VECTOR,))


@specimen("rrule.needs")
def needs_off_by_one(wrong):
    def product(x, y):
        return x * y

    @rrule.define(product)
    def product_rrule(x, y, *, needs):
        first, second = needs[::-1] if wrong else needs

        def product_pullback(dy):
            dx = dy * y if first else ZeroTangent()
            dz = dy * x if second else ZeroTangent()
            return NoTangent(), dx, dz

        return x * y, product_pullback

    return Call(product, (VECTOR, VECTOR + 1))
