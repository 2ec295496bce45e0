"""Several results, and what rules are given and need."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_core import AbstractZero, NoTangent, Tangent, frule, primitive, rrule

from .host import Host, X, Y, case, expect


def _is_number(dx: Any) -> bool:
    return not isinstance(dx, AbstractZero) and dx is not None


def pair_with(given: list[Any], **flags: Any) -> Any:
    """Two results; what the pullback is given is appended."""

    @primitive
    def pair(x: Any, y: Any) -> Any:
        return x * y, {"s": x + y}

    @rrule.define(pair, **flags)
    def pair_rrule(x: Any, y: Any) -> Any:
        def pullback(dz: Any) -> Any:
            given.append(dz)
            if isinstance(dz, AbstractZero):
                return NoTangent(), dz, dz
            dp, ds = dz[0], dz[1]
            ds = ds if isinstance(ds, AbstractZero) else ds["s"]
            return NoTangent(), dp * y + ds, dp * x + ds

        return pair(x, y), pullback

    @frule.define(pair, **flags)
    def pair_frule(tangents: Any, x: Any, y: Any) -> Any:
        _, dx, dy = tangents
        return pair(x, y), (dx * y + x * dy, {"s": dx + dy})

    return pair


def results(host: Host) -> None:
    """Two results, one of them in a dict."""
    pair = pair_with([])
    host.values(pair, X, Y)
    host.derivatives(pair, X, Y)


def one_result(host: Host) -> None:
    """A result that is not used has a cotangent of zeros."""
    given: list[Any] = []
    pair = pair_with(given)
    host.derivatives(lambda x, y: pair(x, y)[0], X, Y)
    for dz in given:
        right = isinstance(dz, Tangent) and isinstance(dz[1], Tangent)
        numbers = right and _is_number(dz[0]) and _is_number(dz[1]["s"])
        expect(numbers, f"a pullback was given {dz!r}: zeros must be arrays")


def symbolic_zeros(host: Host) -> None:
    """A rule that asks for them is given `ZeroTangent()`, never None."""
    c = Y
    given: list[Any] = []
    pair = pair_with(given, symbolic_zeros=True)
    host.derivatives(lambda x, y: pair(x, y)[0], X, Y)
    host.derivatives(lambda x: pair(x, c)[1]["s"], X)
    for dz in given:
        parts = (dz[0], dz[1]) if isinstance(dz, Tangent) else (dz,)
        nothing = any(part is None for part in parts)
        expect(not nothing, "None stands for a zero: it must be ZeroTangent()")


def integers(host: Host) -> None:
    """Integers have no cotangent, as arguments and as results."""

    @primitive
    def counted(x: Any, n: Any) -> Any:
        return x * n, n

    @rrule.define(counted)
    def counted_rrule(x: Any, n: Any, *, needs: Any) -> Any:
        expect(needs[1] is False, f"needs is {needs}: integers have no cotangent")

        def pullback(dz: Any) -> Any:
            expect(isinstance(dz[1], NoTangent), "integers were given a cotangent")
            return NoTangent(), n * dz[0], NoTangent()

        return (x * n, n), pullback

    @frule.define(counted)
    def counted_frule(tangents: Any, x: Any, n: Any) -> Any:
        expect(isinstance(tangents[2], NoTangent), "integers were given a tangent")
        return (x * n, n), (tangents[1] * n, NoTangent())

    host.derivatives(lambda x: counted(x, np.array([1, 2, 3])), X)
    with case("integers that another function returned"):
        host.derivatives(lambda x: _again(counted, x), X)


def _again(counted: Any, x: Any) -> Any:
    y, n = counted(x, np.array([1, 2, 3]))
    return counted(y, n)[0]


def needs(host: Host) -> None:
    """A rule is told which arguments need a cotangent."""
    d = X
    c = Y
    seen: list[Any] = []

    @primitive
    def product(x: Any, p: Any) -> Any:
        return x * p[0]

    @rrule.define(product)
    def product_rrule(x: Any, p: Any, *, needs: Any) -> Any:
        seen.append(needs)
        return x * p[0], lambda dy: (NoTangent(), p[0] * dy, (x * dy,))

    @frule.define(product)
    def product_frule(tangents: Any, x: Any, p: Any, *, needs: Any) -> Any:
        seen.append(needs)
        return x * p[0], tangents[1] * p[0] + x * tangents[2][0]

    for f, expected in (
        (lambda x: product(x, (c,)), (True, False)),
        (lambda y: product(d, (y,)), (False, True)),
        (lambda x: product(x, (x,)), (True, True)),
    ):
        seen.clear()
        host.derivatives(f, X)
        wrong = [needs for needs in seen if tuple(needs) != expected]
        expect(bool(seen) and not wrong, f"needs is {wrong}, but must be {expected}")
