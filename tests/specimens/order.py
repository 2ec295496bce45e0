"""Wrong beyond the first order, only in a batch, or for some orders of memory."""

import numpy as np

import rules_core as rc
from rules_core import NoTangent, frule, rrule
from tests.specimens.zoo import MATRIX, VECTOR, Call, rrule_of, specimen


@specimen("rrule.second-order")
def right_at_first_order_only(wrong):
    def cube(x):
        return x**3

    @rrule.define(cube)
    def cube_rrule(x):
        slope = 3.0 * x**2
        if wrong:
            slope = rc.ignore_derivatives(slope)
        return cube(x), lambda dy: (NoTangent(), slope * dy)

    return Call(cube, (VECTOR,))


@specimen("frule.second-order")
def forward_mode_right_at_first_order_only(wrong):
    def cube(x):
        return x**3

    @frule.define(cube)
    def cube_frule(tangents, x):
        at = rc.ignore_derivatives(x) if wrong else x
        return cube(x), 3.0 * at**2 * tangents[1]

    return Call(cube, (VECTOR,))


@specimen("rrule.slope-at-zero")
def masks_the_zero_cotangent(wrong):
    def root(x):
        return np.sqrt(x)

    def pullback(dy, x):
        slope = 0.5 / np.sqrt(x)
        dead = dy == 0 if wrong else np.isinf(slope) & (dy == 0)
        return NoTangent(), np.where(dead, 0.0, slope) * dy

    rrule_of(root, pullback)
    return Call(root, (np.array([1.0, 4.0]),))


@specimen("frule.slope-at-zero")
def masks_the_zero_tangent(wrong):
    def root(x):
        return np.sqrt(x)

    @frule.define(root)
    def root_frule(tangents, x):
        y, dx = np.sqrt(x), tangents[1]
        slope = np.where(dx == 0, 0.0, 0.5 / y) if wrong else 0.5 / y
        return y, slope * dx

    return Call(root, (np.array([1.0, 4.0]),))


@specimen("rrule.value-slope")
def value_without_derivative(wrong):
    def sine(x):
        return np.sin(x)

    @rrule.define(sine)
    def sine_rrule(x):
        y = rc.ignore_derivatives(sine(x)) if wrong else sine(x)
        return y, lambda dy: (NoTangent(), np.cos(x) * dy)

    return Call(sine, (VECTOR,))


@specimen("frule.value-slope")
def value_with_another_derivative(wrong):
    def both(x):
        return np.sin(x), x**2

    @frule.define(both)
    def both_frule(tangents, x):
        s, q = both(x)
        if wrong:
            q = 2.0 * rc.ignore_derivatives(q) - q
        dx = tangents[1]
        return (s, q), rc.Tangent(tuple, np.cos(x) * dx, 2.0 * x * dx)

    return Call(both, (VECTOR,))


@specimen("rrule.batching")
def a_rule_that_is_wrong_only_when_batched(wrong):
    def exponential(x):
        return np.exp(x)

    def pullback(dy, x):
        y = np.exp(x)
        return NoTangent(), np.max(y) * dy if wrong else y * dy

    handle = rc.primitive(exponential, elementwise=True, host=True)
    rrule_of(handle.fun, pullback)
    return Call(handle, (np.array(0.5),))


@specimen("batch-rule")
def wrong_only_when_batched(wrong):
    @rc.primitive(host=True)
    def centred(x):
        return x - np.mean(x)

    rrule_of(centred, lambda dy, x: (NoTangent(), dy - np.mean(dy)))

    @rc.batch_rule.define(centred)
    def centred_batch(axis_size, in_batched, x):
        axis = None if wrong else 1
        return x - np.mean(x, axis=axis, keepdims=True), True

    return Call(centred, (VECTOR,))


@specimen("shape-rule")
def wrong_shape_rule(wrong):
    @rc.primitive(host=True)
    def total(A):
        return np.sum(A, axis=0)

    def pullback(dy, A):
        return NoTangent(), np.broadcast_to(dy, A.shape).copy()

    rrule_of(total, pullback)

    @rc.shape_rule.define(total)
    def total_shape(A):
        return rc.ShapeDtype(A.shape[:1] if wrong else A.shape[1:], A.dtype)

    return Call(total, (MATRIX,))


def halves(x):
    return 0.5 * x, -0.5 * x


def halves_of(wrong_batch, wrong_shape):
    """A host primitive with two outputs, its shape rule and its batch rule."""
    split = rc.primitive(host=True)(lambda x: halves(x))
    rrule_of(split, lambda dy, x: (NoTangent(), 0.5 * (dy[0] - dy[1])))

    @rc.shape_rule.define(split)
    def split_shape(x):
        shape = rc.ShapeDtype(x.shape, x.dtype)
        return shape if wrong_shape else (shape, shape)

    @rc.batch_rule.define(split)
    def split_batch(axis_size, in_batched, x):
        return halves(x), True if wrong_batch else (True, True)

    return Call(split, (VECTOR,))


@specimen("shape-rule")
def one_shape_for_two_outputs(wrong):
    return halves_of(wrong_batch=False, wrong_shape=wrong)


@specimen("batch-rule")
def one_flag_for_two_outputs(wrong):
    return halves_of(wrong_batch=wrong, wrong_shape=False)


@specimen("batch-rule")
def a_batch_without_its_axis(wrong):
    double = rc.primitive(host=True)(lambda x: 2.0 * x)
    rrule_of(double, lambda dy, x: (NoTangent(), 2.0 * dy))

    @rc.batch_rule.define(double)
    def double_batch(axis_size, in_batched, x):
        return 2.0 * (x[0] if wrong else x), True

    return Call(double, (VECTOR,))


@specimen("batch-rule")
def a_batch_that_is_said_to_be_none(wrong):
    scale = rc.primitive(host=True)(lambda x, w: x * np.sum(w))

    def pullback(dy, x, w):
        return NoTangent(), dy * np.sum(w), np.ones_like(w) * np.sum(dy * x)

    rrule_of(scale, pullback)

    @rc.batch_rule.define(scale)
    def scale_batch(axis_size, in_batched, x, w):
        total = np.sum(w, axis=-1, keepdims=True)
        return x * total, in_batched[0] if wrong else any(in_batched)

    return Call(scale, (VECTOR, np.array([1.0, 2.0])))


@specimen("rrule.layout")
def reads_the_cotangent_as_it_lies(wrong):
    def turned(A):
        return A.T * 1.0

    def pullback(dy, A):
        flat = dy.ravel(order="K" if wrong else "C")
        return NoTangent(), flat.reshape(A.shape[::-1]).T

    rrule_of(turned, pullback)
    return Call(turned, (MATRIX,))


@specimen("frule.layout")
def reads_a_vector_without_its_gaps(wrong):
    def double(x):
        return 2.0 * x

    @frule.define(double)
    def double_frule(tangents, x):
        dx = tangents[1]
        if wrong and dx.strides != (dx.itemsize,):
            dx = np.ndarray(dx.shape, dx.dtype, dx.base)
        return double(x), 2.0 * dx

    return Call(double, (VECTOR,))
