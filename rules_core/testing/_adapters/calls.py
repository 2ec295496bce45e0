"""Duties of an adapter towards the arguments of a call."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_core import (
    Array,
    NoTangent,
    Primitive,
    frule,
    ignore_derivatives,
    opt_out,
    primitive,
    rrule,
)
from rules_core.testing._report import Failure

from .host import Host, X, Y, case, expect, product_with


def value(host: Host) -> None:
    """A function has its value in the framework."""
    host.values(product_with(), X, Y)


def derivative(host: Host) -> None:
    """A function with right rules has its derivative."""
    host.derivatives(product_with(), X, Y)


def rules(host: Host) -> None:
    """Rules say something else than the function's own derivative."""
    triple = product_with(
        lambda dx, dy: (NoTangent(), 3 * dx, 3 * dy), lambda dz: 3 * dz
    )
    host.derivatives(triple, X, Y, factor=3.0)


def programs(host: Host) -> None:
    """One function calls several, and gives an array to one twice."""
    product = product_with()
    host.derivatives(lambda x, y: product(product(x, y), x), X, Y)
    host.derivatives(lambda x, y: product(x, x), X, Y)


def constants(host: Host) -> None:
    """Integers, strings and arrays of NumPy reach the rules as they are."""
    c = Y

    @primitive
    def scaled(x: Any, n: Any, how: Any, c: Any) -> Any:
        return x * c * n

    def check(n: Any, how: Any) -> None:
        expect(type(n) is int and how == "by", f"a rule was given {n!r} and {how!r}")

    @rrule.define(scaled)
    def scaled_rrule(x: Any, n: Any, how: Any, c: Any) -> Any:
        check(n, how)
        none = NoTangent()
        return x * c * n, lambda dy: (none, c * n * dy, none, none, x * n * dy)

    @frule.define(scaled)
    def scaled_frule(tangents: Any, x: Any, n: Any, how: Any, c: Any) -> Any:
        check(n, how)
        return x * c * n, tangents[1] * c * n + x * tangents[4] * n

    host.values(lambda x: scaled(x, 3, "by", c), X)
    host.derivatives(lambda x: scaled(x, 3, "by", c), X)


def names(host: Host) -> None:
    """Arguments by name arrive in normal form."""
    product = product_with()
    host.derivatives(lambda x, y: product(y=y, x=x), X, Y)


def _with_keyword() -> Any:
    @primitive
    def scaled(x: Any, *, by: Any) -> Any:
        return x * by

    @rrule.define(scaled)
    def scaled_rrule(x: Any, *, by: Any) -> Any:
        return x * by, lambda dy: (NoTangent(), by * dy)

    @frule.define(scaled)
    def scaled_frule(tangents: Any, x: Any, *, by: Any) -> Any:
        return x * by, tangents[1] * by

    return scaled


def keywords(host: Host) -> None:
    """Keyword-only arguments are constants."""
    c = Y
    scaled = _with_keyword()
    host.derivatives(lambda x: scaled(x, by=c), X)
    host.derivatives(lambda x: scaled(x, by=3), X)


def keyword_derivative(host: Host) -> None:
    """A differentiated keyword-only argument is an error."""
    c = Y
    scaled = _with_keyword()
    host.refuses("scaled", lambda x: scaled(c, by=x), X)


def stop_gradient(host: Host) -> None:
    """`ignore_derivatives` makes a constant."""
    product = product_with()
    host.derivatives(lambda x: product(ignore_derivatives(x), x), X, factor=0.5)


def defaults(host: Host) -> None:
    """Arguments that a call leaves out, and any number of them."""
    seen: list[Any] = []

    @primitive
    def scaled(x: Any, n: Any = 2, *more: Any) -> Any:
        return x * n * more[0] if more else x * n

    def check(n: Any) -> None:
        expect(type(n) is int, f"a rule was given {n!r}, not the default")
        seen.append(n)

    @rrule.define(scaled)
    def scaled_rrule(x: Any, n: Any, *more: Any) -> Any:
        check(n)
        factor = n * more[0] if more else n

        def pullback(dy: Any) -> Any:
            return NoTangent(), factor * dy, None, *(x * n * dy for _ in more)

        return scaled(x, n, *more), pullback

    @frule.define(scaled)
    def scaled_frule(tangents: Any, x: Any, n: Any, *more: Any) -> Any:
        check(n)
        y = scaled(x, n, *more)
        if not more:
            return y, tangents[1] * n
        return y, tangents[1] * n * more[0] + x * n * tangents[3]

    host.derivatives(scaled, X)
    host.derivatives(lambda x: scaled(n=3, x=x), X)
    host.derivatives(lambda x, y: scaled(x, 3, y), X, Y)


class Times:
    """Its instances are functions."""

    def __call__(self, x: Any, y: Any) -> Any:
        """The product."""
        return x * y


def instances(host: Host) -> None:
    """Rules of a callable instance are given the instance first."""
    c = X
    seen: list[Any] = []
    product = Primitive(Times())

    @rrule.define(Times.__call__)
    def times_rrule(self: Any, x: Any, y: Any, *, needs: Any) -> Any:
        seen.append(needs)
        return x * y, lambda dz: (None, 3 * y * dz, 3 * x * dz)

    @frule.define(Times.__call__)
    def times_frule(tangents: Any, self: Any, x: Any, y: Any) -> Any:
        _, dx, dy = tangents
        return x * y, 3 * (dx * y + x * dy)

    host.derivatives(product, X, Y, factor=3.0)
    host.only("vjp").derivatives(lambda y: product(c, y), Y, factor=3.0)
    expected = (False, True, True), (False, False, True)
    wrong = [needs for needs in seen if tuple(needs) not in expected]
    expect(not wrong, f"needs is {wrong}, but must have the instance first")


def own_derivatives(host: Host) -> None:
    """A function without rules, which the framework differentiates itself."""

    @primitive
    def product(x: Any, y: Any) -> Any:
        return x * y + x

    host.derivatives(product, X, Y)


def captured(host: Host) -> None:
    """A derivative by what a function captures is right or an error, never zero."""

    def program(x: Any) -> Any:
        @primitive
        def times_x(y: Any) -> Any:
            return y * x

        @rrule.define(times_x)
        def times_x_rrule(y: Any) -> Any:
            return y * x, lambda dz: (NoTangent(), dz * x)

        @frule.define(times_x)
        def times_x_frule(tangents: Any, y: Any) -> Any:
            return y * x, tangents[1] * x

        return times_x(x)

    for cell in host.of("jvp", "vjp"):
        try:
            Host(host.adapter, [cell]).derivatives(program, X)
        except Failure:
            raise
        except Exception:
            continue


def rule_changes(host: Host) -> None:
    """A rule that is defined after a call applies to the next; one may be opted out."""

    @primitive
    def product(x: Any, y: Any) -> Any:
        return x * y

    host.derivatives(product, X, Y)

    @rrule.define(product)
    def product_rrule(x: Any, y: Any) -> Any:
        return x * y, lambda dz: (NoTangent(), 3 * y * dz, 3 * x * dz)

    @frule.define(product)
    def product_frule(tangents: Any, x: Any, y: Any) -> Any:
        _, dx, dy = tangents
        return x * y, 3 * (dx * y + x * dy)

    with case("after a rule was defined"):
        host.derivatives(product, X, Y, factor=3.0)
    opt_out(rrule, product, Array, Array)
    opt_out(frule, product, Array, Array)
    with case("after the rules were opted out"):
        host.derivatives(product, X, Y)


NUMPY_ARRAYS = {
    "reversed": Y[::-1],
    "of a broken stride": np.stack([Y, X], axis=1)[:, 0],
    "that shares its entries": np.broadcast_to(np.float64(1.5), (3,)),
    "of integers": np.array([1, -2, 3]),
    "of booleans": np.array([True, False, True]),
    "of unsigned bytes": np.array([1, 2, 3], np.uint8),
}


def numpy_arrays(host: Host) -> None:
    """NumPy's arrays beside arrays of the framework are constants."""
    product = product_with()
    for what, c in NUMPY_ARRAYS.items():
        with case(f"an array {what}"):
            host.values(lambda x: product(x, c), X)  # noqa: B023  run at once
            host.derivatives(lambda x: product(x, c), X)  # noqa: B023  run at once
