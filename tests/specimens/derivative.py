"""The derivative itself is wrong."""

import numpy as np

import rules_core as rc
from rules_core import NoTangent, ZeroTangent, frule, rrule
from tests.specimens.zoo import MATRIX, VECTOR, Call, holomorphic, rrule_of, specimen


@specimen("rrule.derivative")
def half_the_gradient(wrong):
    def square(x):
        return x * x

    factor = 1.0 if wrong else 2.0
    rrule_of(square, lambda dy, x: (NoTangent(), factor * x * dy))
    return Call(square, (VECTOR,))


@specimen("rrule.derivative")
def batch_size_times_too_large(wrong):
    def mean_square(A):
        return np.mean(np.sum(A * A, axis=1))

    def pullback(dy, A):
        return NoTangent(), 2.0 * A * dy / (1 if wrong else A.shape[0])

    rrule_of(mean_square, pullback)
    return Call(mean_square, (MATRIX,))


@specimen("rrule.derivative")
def transposed_matrix(wrong):
    A = np.array([[2.0, -1.0], [0.5, 3.0]])

    def image(x):
        return A @ x

    rrule_of(image, lambda dy, x: (NoTangent(), (A if wrong else A.T) @ dy))
    return Call(image, (np.array([1.0, 2.0]),))


@specimen("rrule.derivative")
def the_gradient_of_a_field_forgotten(wrong):
    class Line:
        def __init__(self, slope):
            self.slope = slope

        def __call__(self, x):
            return self.slope * x

    @rrule.define(Line.__call__)
    def line_rrule(line, x):
        def line_pullback(dy):
            dslope = ZeroTangent() if wrong else float(x @ dy)
            return rc.MutableTangent(Line, slope=dslope), line.slope * dy

        return line(x), line_pullback

    return Call(Line(3.0), (VECTOR,))


@specimen("frule.derivative")
def half_the_pushforward(wrong):
    def square(x):
        return x * x

    @frule.define(square)
    def square_frule(tangents, x):
        return x * x, (1.0 if wrong else 2.0) * x * tangents[1]

    return Call(square, (VECTOR,))


@specimen("rrule.complex-derivative")
def forgotten_conjugate(wrong):
    def square(z):
        return z * z

    rrule_of(square, lambda dy, z: (NoTangent(), 2 * (z if wrong else z.conj()) * dy))
    return Call(square, (VECTOR + 0.5j,))


@specimen("frule.complex-derivative")
def real_part_of_the_tangent_only(wrong):
    def square(z):
        return z * z

    @frule.define(square)
    def square_frule(tangents, z):
        dz = tangents[1]
        return z * z, 2 * z * (dz.real if wrong else dz)

    return Call(square, (VECTOR + 0.5j,))


@specimen("rrule.cauchy-riemann")
def claimed_holomorphic(wrong):
    def squared_modulus(z):
        return z * z.conj()

    def square(z):
        return z * z

    f = squared_modulus if wrong else square
    rrule_of(f, lambda dy, z: (NoTangent(), 2 * z * dy))
    holomorphic(f)
    return Call(f, (VECTOR,))


# Entries that others outweigh


@specimen("rrule.derivative")
def small_entry_of_an_array(wrong):
    """∂y/∂x[1] is 1e-9, ∂y/∂x[0] is 1e9."""

    def product(x):
        return x[0] * x[1]

    small = 2.0 if wrong else 1.0

    def pullback(dy, x):
        return NoTangent(), dy * np.stack([x[1], small * x[0]])

    rrule_of(product, pullback)
    return Call(product, (np.array([1e-9, 1e9]),))


@specimen("frule.derivative")
def small_result_beside_a_large_one(wrong):
    scale = np.array([1e18, 1.0])

    def scaled(x):
        return scale * x

    @frule.define(scaled)
    def scaled_frule(tangents, x):
        return scaled(x), scale * np.array([1.0, 0.0 if wrong else 1.0]) * tangents[1]

    return Call(scaled, (np.array([1.2, 0.8]),))


@specimen("rrule.derivative")
def argument_with_little_influence(wrong):
    def corrected(x, y):
        return x + 1e-12 * y

    slope = 0.0 if wrong else 1e-12
    rrule_of(corrected, lambda dy, x, y: (NoTangent(), dy, slope * dy))
    return Call(corrected, (1.2, 0.7))


@specimen("rrule.derivative")
def small_entries_of_a_long_array(wrong):
    scale = np.logspace(0.0, 20.0, 21)

    def scaled(x):
        return scale * x

    slopes = np.where(np.arange(21) < 3, 2.0, 1.0) * scale if wrong else scale
    rrule_of(scaled, lambda dy, x: (NoTangent(), slopes * dy))
    return Call(scaled, (np.linspace(1.0, 2.0, 21),))
