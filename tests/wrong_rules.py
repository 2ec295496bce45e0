"""A zoo of deliberately wrong rules: each fails exactly the check named for its fault.

`make(wrong)` defines the rules of one specimen, wrong or corrected, and returns the
call to check. The corrected twin passes everything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import array_api_strict
import numpy as np

import rules_core as rc
from rules_core import NoTangent, ZeroTangent, frule, rrule

ZOO: list[Specimen] = []


@dataclass(frozen=True)
class Call:
    """What `check_rule` is called with."""

    f: Callable[..., Any]
    args: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Specimen:
    """A wrong rule with its corrected twin.

    Attributes:
        name: What is wrong.
        fails: The one check that must see it.
        make: Defines the rules and returns the call.
    """

    name: str
    fails: str
    make: Callable[[bool], Call]


def specimen(fails: str) -> Callable[[Callable[[bool], Call]], Callable[[bool], Call]]:
    """Put a rule into the zoo."""

    def keep(make: Callable[[bool], Call]) -> Callable[[bool], Call]:
        ZOO.append(Specimen(make.__name__, fails, make))
        return make

    return keep


VECTOR = np.array([0.5, -1.25, 2.0])
MATRIX = np.array([[0.5, -1.25, 2.0], [1.5, 0.25, -0.75]])


def rrule_of(f, pullback_at, value=None):
    """Define `(y, dy ↦ pullback_at(dy, *args))` as the rrule of `f`."""

    @rrule.define(f)
    def zoo_rrule(*args):
        y = f(*args) if value is None else value(*args)

        def zoo_pullback(dy):
            return pullback_at(dy, *args)

        return y, zoo_pullback


# Existence, form and value


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


@specimen("rrule.value")
def wrong_primal(wrong):
    def sine(x):
        return np.sin(x)

    value = np.cos if wrong else np.sin
    rrule_of(sine, lambda dy, x: (NoTangent(), dy * np.cos(x)), value)
    return Call(sine, (VECTOR,))


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


# Ownership


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


# The derivative


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


def holomorphic(f):
    """Claim of the rrule of `f` what `scalar_rule(holomorphic=True)` claims."""
    rule = rrule.resolve(f, (VECTOR,)).rule
    rule.function.holomorphic = True


# Linear maps


@specimen("rrule.linearity")
def clips_large_cotangents(wrong):
    def double(x):
        return 2.0 * x

    def pullback(dy, x):
        return NoTangent(), 2.0 * (np.clip(dy, -10, 10) if wrong else dy)

    rrule_of(double, pullback)
    return Call(double, (VECTOR,))


@specimen("frule.linearity")
def drops_small_tangents(wrong):
    def double(x):
        return 2.0 * x

    @frule.define(double)
    def double_frule(tangents, x):
        dx = tangents[1]
        return 2.0 * x, 2.0 * (np.where(abs(dx) < 1e-4, 0.0, dx) if wrong else dx)

    return Call(double, (VECTOR,))


@specimen("rrule.strong-zeros")
def zero_times_infinity(wrong):
    def root(x):
        return np.sqrt(x)

    def pullback(dy, x):
        slope = 0.5 / np.sqrt(x)
        if not wrong:
            slope = np.where(np.isinf(slope) & (dy == 0), 0.0, slope)
        return NoTangent(), slope * dy

    rrule_of(root, pullback)
    return Call(root, (np.array([0.0, 4.0]),))


@specimen("frule.strong-zeros")
def zero_times_infinity_in_forward_mode(wrong):
    def power(x, p):
        return x**p

    @frule.define(power)
    def power_frule(tangents, x, p):
        _, dx, dp = tangents
        y = x**p
        slope = y * np.log(x if wrong else np.where(x == 0, 1.0, x))
        return y, p * x ** (p - 1) * dx + slope * dp

    options = {"skip": ("frule.derivative",)}
    return Call(power, (np.array(0.0), np.array(2.0)), options)


@specimen("rrule.repeat")
def one_shot_pullback(wrong):
    def square(x):
        return x * x

    @rrule.define(square)
    def square_rrule(x):
        residuals = [2.0 * x]

        def square_pullback(dy):
            slope = residuals.pop() if wrong else residuals[0]
            return NoTangent(), slope * dy

        return x * x, square_pullback

    return Call(square, (VECTOR,))


@specimen("rrule.repeat")
def accumulates_over_calls(wrong):
    def double(x):
        return 2.0 * x

    @rrule.define(double)
    def double_rrule(x):
        total = np.zeros_like(x)

        def double_pullback(dy):
            nonlocal total
            total = 2.0 * dy + (total if wrong else 0.0)
            return NoTangent(), total

        return 2.0 * x, double_pullback

    return Call(double, (VECTOR,))


@specimen("adjoint")
def frule_and_rrule_that_disagree(wrong):
    # Single precision inside: no finite difference sees the seventh digit.
    def coarse(x):
        return np.sin(x).astype(np.float32).astype(np.float64)

    factor = 1.0 + 1e-7 if wrong else 1.0
    rrule_of(coarse, lambda dy, x: (NoTangent(), factor * np.cos(x) * dy))

    @frule.define(coarse)
    def coarse_frule(tangents, x):
        return coarse(x), np.cos(x) * tangents[1]

    return Call(coarse, (VECTOR,))


# Laziness


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


# Higher order and batches


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


# The same faults in forward mode


def frule_of(f, pushforward_at):
    """Define `(f(*args), pushforward_at(tangents, *args))` as the frule of `f`."""

    @frule.define(f)
    def zoo_frule(tangents, *args):
        return f(*args), pushforward_at(tangents, *args)


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
