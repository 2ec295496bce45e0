"""The same faults in forward mode."""

import array_api_strict
import numpy as np

import rules_core as rc
from rules_core import ZeroTangent, frule
from tests.specimens.zoo import VECTOR, Call, frule_of, specimen


@specimen("frule.result")
def a_tangent_alone_instead_of_a_pair(wrong):
    def square(x):
        return x * x

    @frule.define(square)
    def square_frule(tangents, x):
        dy = 2 * x * tangents[1]
        return dy if wrong else (x * x, dy)

    return Call(square, (VECTOR,))


@specimen("frule.device")
def a_tangent_on_another_device(wrong):
    elsewhere = array_api_strict.Device("device1")

    def identity(x):
        return x + 0.0

    def pushforward(tangents, x):
        dx = tangents[1]
        return dx.to_device(elsewhere) if wrong else dx

    frule_of(identity, pushforward)
    return Call(identity, (array_api_strict.asarray(VECTOR),))


@specimen("frule.cauchy-riemann")
def claimed_holomorphic_in_forward_mode(wrong):
    def squared_modulus(z):
        return z * z.conj()

    def square(z):
        return z * z

    f = squared_modulus if wrong else square
    frule_of(f, lambda tangents, z: 2 * z * tangents[1])
    frule.resolve(f, (VECTOR,)).rule.function.holomorphic = True
    return Call(f, (VECTOR,))


@specimen("frule.repeat")
def an_frule_that_remembers(wrong):
    def double(x):
        return 2.0 * x

    def pushforward(tangents, x):
        again = any(x is old for old in seen)
        if wrong:
            seen.append(x)
        return (3.0 if again else 2.0) * tangents[1]

    seen = []
    frule_of(double, pushforward)
    return Call(double, (VECTOR,))


@specimen("frule.thunks")
def a_tangent_that_works_once(wrong):
    def double(x):
        return 2.0 * x

    def pushforward(tangents, x):
        parts = [2.0 * tangents[1]]
        return rc.thunk(lambda: parts.pop() if wrong else parts[0])

    frule_of(double, pushforward)
    return Call(double, (VECTOR,))


@specimen("frule.needs")
def needs_off_by_one_in_forward_mode(wrong):
    def product(x, y):
        return x * y

    @frule.define(product)
    def product_frule(tangents, x, y, *, needs):
        _, dx, dy = tangents
        first, second = needs[::-1] if wrong else needs
        left = dx * y if first else ZeroTangent()
        return x * y, left + (x * dy if second else ZeroTangent())

    return Call(product, (VECTOR, VECTOR + 1))


@specimen("frule.batching")
def an_frule_that_is_wrong_only_when_batched(wrong):
    def exponential(x):
        return np.exp(x)

    def pushforward(tangents, x):
        y = np.exp(x)
        return (np.max(y) if wrong else y) * tangents[1]

    handle = rc.primitive(exponential, elementwise=True, host=True)
    frule_of(handle.fun, pushforward)
    return Call(handle, (np.array(0.5),))
