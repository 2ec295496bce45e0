"""Rules that are right, and that a careless tester fails."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import rules_core as rc
from rules_core import HasReverseMode, NoTangent, RuleConfig, ZeroTangent, rrule
from rules_core.testing import Seeded
from tests.specimens.zoo import VECTOR, Call, rrule_of

HONEST: dict[str, Callable[[], Call]] = {}


def honest(make):
    """Put a rule among those that must pass."""
    HONEST[make.__name__] = make
    return make


class Pair(NamedTuple):
    """Two arrays."""

    first: Any
    second: Any


CONTAINERS = ("list", "tuple", "dict", "named", "nested")


def halves_as(kind, x):
    """The two parts of a vector, in a container of a kind."""
    a, b = x[:2], x[2:]
    return {
        "list": lambda: [a, b],
        "tuple": lambda: (a, b),
        "dict": lambda: {"a": a, "b": b},
        "named": lambda: Pair(a, b),
        "nested": lambda: [{"a": a}, ("label", (b,))],
    }[kind]()


def arrays_in(tree):
    """The arrays of nested containers, in their order."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in arrays_in(item)]
    return [] if isinstance(tree, str) else [tree]


def joining(kind):
    """A linear function of one container."""

    @rc.primitive
    def join(parts):
        arrays = arrays_in(parts)
        return rc.array_namespace(*arrays).concat(arrays)

    rc.linear_rule(join, lambda dy, parts: (halves_as(kind, dy),), argnums=(0,))
    return Call(join, (halves_as(kind, VECTOR),))


def cutting(kind):
    """A linear function whose value is a container."""

    @rc.primitive
    def cut(x):
        return halves_as(kind, 2.0 * x)

    def cut_adjoint(dy, x):
        return 2.0 * rc.array_namespace(x).concat(arrays_in(dy))

    rc.linear_rule(cut, cut_adjoint)
    return Call(cut, (VECTOR,))


for _kind in CONTAINERS:
    HONEST[f"linear in a container: {_kind}"] = functools.partial(joining, _kind)
    if _kind != "nested":  # a text is no result of a host
        HONEST[f"linear into a container: {_kind}"] = functools.partial(cutting, _kind)


def host_primitive(f):
    """A host primitive whose value is like its argument."""
    handle = rc.primitive(f, host=True)
    rc.shape_rule.define(handle)(lambda x: x)
    return handle


@honest
def first_order_by_a_host_function_without_a_rule():
    @host_primitive
    def slope_of_cube(x):
        return 3.0 * np.asarray(x) ** 2

    @host_primitive
    def cube(x):
        return np.asarray(x) ** 3

    rrule_of(cube, lambda dy, x: (NoTangent(), slope_of_cube(x) * dy))
    return Call(cube, (VECTOR,))


@honest
def a_named_tuple_is_returned():
    @rc.primitive
    def moments(x):
        xp = rc.array_namespace(x)
        return Pair(xp.mean(x), xp.sum(x * x))

    def pullback(dy, x):
        xp = rc.array_namespace(x)
        return NoTangent(), dy.first * xp.ones_like(x) / x.shape[0] + 2 * x * dy.second

    rrule_of(moments, pullback)
    return Call(moments, (VECTOR,))


@honest
def a_host_function_returns_an_array_in_fortran_order_and_a_number():
    @rc.primitive(host=True)
    def turned(x):
        return np.asfortranarray(np.outer(x, x)), float(np.sum(x))

    @rc.shape_rule.define(turned)
    def turned_shape(x):
        n = x.shape[0]
        return rc.ShapeDtype((n, n), x.dtype), rc.ShapeDtype((), x.dtype)

    def pullback(dy, x):
        square, total = dy
        return NoTangent(), square @ x + square.T @ x + total

    rrule_of(turned, pullback)
    return Call(turned, (VECTOR,))


@honest
def a_fixed_point_does_not_depend_on_its_start():
    @rc.primitive
    def fixed_point(f, theta, x):
        for _ in range(60):
            x = f(theta, x)
        return x

    @rrule.define(fixed_point, config=RuleConfig[HasReverseMode])
    def fixed_point_rrule(config, f, theta, x):
        x = fixed_point(f, theta, x)
        _, pullback_at_x = rc.rrule_via_ad(config, f, theta, x)

        def fixed_point_pullback(dy):
            def adjoint(dy, w):
                return dy + pullback_at_x(w)[2]

            w = fixed_point(adjoint, dy, dy)
            df, dtheta, _ = pullback_at_x(w)
            return NoTangent(), df, dtheta, ZeroTangent()

        return x, fixed_point_pullback

    return Call(fixed_point, (lambda a, x: 0.5 * (x + a / x), 4.0, 1.0))


@honest
def an_argument_that_may_not_move_freely():
    def logdet(A):
        if not np.allclose(A, A.T, rtol=0, atol=1e-14):
            message = "A must be symmetric"
            raise TypeError(message)
        return np.linalg.slogdet(A)[1]

    rrule_of(logdet, lambda dy, A: (NoTangent(), dy * np.linalg.inv(A)))
    A, dA = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, -2.0], [-2.0, 0.5]])
    return Call(logdet, (Seeded(A, dA),))


@honest
def a_pullback_that_packs_constant_and_cotangent():
    """As the adjoint of an augmented state does."""

    @rc.primitive
    def scale(z):
        return z[:1] * z[1:]

    def scale_pullback(dy, z):
        xp = rc.array_namespace(z)
        head = xp.sum(dy * z[1:], keepdims=True)
        return NoTangent(), xp.concat([head, dy * z[:1]])

    @rc.primitive
    def square(x):
        return x * x

    def square_pullback(dy, x):
        return NoTangent(), scale(rc.array_namespace(x).concat([2 * x, dy]))

    rrule_of(scale, scale_pullback)
    rrule_of(square, square_pullback)
    return Call(square, (np.array([3.0]),))


@honest
def a_foreign_pullback_that_leaves_early_for_zeros():
    @host_primitive
    def double(x):
        return 2.0 * np.asarray(x)

    @rrule.define(double, host=True)
    def double_rrule(x):
        def double_pullback(dy):
            if not np.any(dy):
                return NoTangent(), np.zeros_like(x)
            return NoTangent(), 2.0 * dy

        return double(x), double_pullback

    return Call(double, (VECTOR,))


@honest
def a_wrapper_with_a_default_of_its_own():
    def scaled(x, scale=2.0):
        return x * scale

    @functools.wraps(scaled)
    def wrapper(x, scale=5.0):
        return scaled(x, scale)

    handle = rc.primitive(wrapper)
    rrule_of(
        handle.fun,
        lambda dy, x, scale: (
            NoTangent(),
            scale * dy,
            rc.array_namespace(x).sum(x * dy),
        ),
    )
    return Call(handle, (VECTOR,))
