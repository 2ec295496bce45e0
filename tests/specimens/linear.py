"""What a rule returns is no linear map, or not the same twice."""

import numpy as np

from rules_core import AbstractZero, NoTangent, ZeroTangent, frule, rrule
from tests.specimens.zoo import VECTOR, Call, rrule_of, specimen


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


@specimen("rrule.strong-zeros")
def a_guard_for_all_zeros_at_once(wrong):
    def root(x):
        return np.sqrt(x)

    def pullback(dy, x):
        if wrong and not np.any(dy):
            return NoTangent(), np.zeros_like(x)
        with np.errstate(divide="ignore"):
            slope = 0.5 / np.sqrt(x)
        dead = ~np.isfinite(slope) & (dy == 0)
        return NoTangent(), dy * (slope if wrong else np.where(dead, 0.0, slope))

    rrule_of(root, pullback)
    return Call(root, (np.array([0.0, 1.0]),))


@specimen("rrule.symbolic-zeros")
def takes_a_zero_of_one_output_for_all(wrong):
    def both(x):
        return 2.0 * x, 3.0 * x

    @rrule.define(both, symbolic_zeros=True)
    def both_rrule(x):
        def both_pullback(dy):
            first, second = dy
            if wrong and isinstance(first, AbstractZero):
                return NoTangent(), ZeroTangent()
            return NoTangent(), 2.0 * first + 3.0 * second

        return both(x), both_pullback

    return Call(both, (VECTOR,))


@specimen("rrule.symbolic-zeros")
def needs_an_array_where_it_takes_zeros(wrong):
    def double(x):
        return 2.0 * x

    @rrule.define(double, symbolic_zeros=True)
    def double_rrule(x):
        def double_pullback(dy):
            return NoTangent(), 2.0 * (np.concatenate([dy]) if wrong else dy)

        return double(x), double_pullback

    return Call(double, (VECTOR,))


@specimen("frule.symbolic-zeros")
def forgets_the_rest_where_one_is_zero(wrong):
    def product(x, y):
        return x * y

    @frule.define(product, symbolic_zeros=True)
    def product_frule(tangents, x, y):
        _, dx, dy = tangents
        if isinstance(dx, AbstractZero):
            return x * y, ZeroTangent() if wrong else x * dy
        return x * y, dx * y + x * dy

    return Call(product, (VECTOR, VECTOR + 1))


def by_size(name, fails, change, count=3):
    """A specimen whose pullback or pushforward looks at sizes beside others."""

    def make(wrong):
        def double(x):
            return 2.0 * x

        def through(dx):
            return 2.0 * (change(dx) if wrong else dx)

        if fails.startswith("rrule"):
            rrule_of(double, lambda dy, x: (NoTangent(), through(dy)))
        else:
            frule.define(double)(lambda dxs, x: (2.0 * x, through(dxs[1])))
        return Call(double, (np.linspace(-1.0, 2.0, count),))

    make.__name__ = name
    specimen(fails)(make)


def without_small(dx, share):
    return np.where(abs(dx) < share * np.max(abs(dx)), 0.0, dx)


def without_outliers(dx):
    largest = 3.0 * np.sqrt(np.mean(dx * dx))
    return np.clip(dx, -largest, largest)


def without_the_first(dx):
    keep = abs(dx[0]) >= 1e-5 * abs(dx[1])
    return np.concatenate([keep * dx[:1], dx[1:]])


for _mode in ("rrule", "frule"):
    _fails = f"{_mode}.linearity"
    by_size(f"drops_entries_a_thousandth_of_the_largest_{_mode}", _fails,
            lambda dx: without_small(dx, 1e-3))  # fmt: skip
    by_size(f"drops_entries_a_millionth_of_the_largest_{_mode}", _fails,
            lambda dx: without_small(dx, 1e-6), count=20)  # fmt: skip
    by_size(f"clips_beside_the_mean_square_{_mode}", _fails, without_outliers, 20)
    by_size(f"drops_one_entry_beside_another_{_mode}", _fails, without_the_first, 6)
