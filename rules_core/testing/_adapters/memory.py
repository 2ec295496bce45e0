"""Arrays that several places share: none is written to, and each counts by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rules_core import NoTangent, ShapeDtype, frule, primitive, rrule, shape_rule
from rules_core.testing._checks_writes import snapshot

from .host import Host, X, Y, case, expect, product_with


def _doubled_sum() -> Any:
    """`2 (x + y)`; its pullback returns one array for both arguments."""

    @primitive
    def doubled(x: Any, y: Any) -> Any:
        return 2.0 * (x + y)

    @rrule.define(doubled)
    def doubled_rrule(x: Any, y: Any) -> Any:
        def pullback(dz: Any) -> Any:
            both = 2.0 * dz
            return NoTangent(), both, both

        return doubled(x, y), pullback

    @frule.define(doubled)
    def doubled_frule(tangents: Any, x: Any, y: Any) -> Any:
        return doubled(x, y), 2.0 * (tangents[1] + tangents[2])

    return doubled


def shared_cotangents(host: Host) -> None:
    """A pullback returns one array twice, and other cotangents are added to it."""
    doubled, product = _doubled_sum(), product_with()

    def program(x: Any, y: Any) -> Any:
        first = product(x, x)
        return first, doubled(x, y), product(first, y)

    host.derivatives(program, X, Y)
    host.derivatives(lambda x, y: (product(y, y), doubled(x, y)), X, Y)


def kept_cotangents(host: Host) -> None:
    """A pullback returns an array that its author keeps."""
    kept: list[tuple[Any, Any]] = []
    product = product_with()

    @primitive(host=True, elementwise=True)
    def scaled(x: Any) -> Any:
        return np.multiply(x, 2.0)

    @rrule.define(scaled, host=True)
    def scaled_rrule(x: Any) -> Any:
        def pullback(dy: Any) -> Any:
            dx = np.multiply(dy, 2.0)
            kept.append((dx, np.array(dx)))
            return NoTangent(), dx

        return np.multiply(x, 2.0), pullback

    @frule.define(scaled, host=True)
    def scaled_frule(tangents: Any, x: Any) -> Any:
        return np.multiply(x, 2.0), np.multiply(tangents[1], 2.0)

    host.derivatives(lambda x: (product(x, x), scaled(x)), X)
    written = any(not np.array_equal(*pair) for pair in kept)
    expect(not written, "an array that a pullback returned was written to")


def unwritten(host: Host) -> None:
    """A result that is used again: its given cotangent is not a buffer for sums."""
    product = product_with()

    def program(x: Any, y: Any) -> Any:
        z = product(x, y)
        return z, product(z, x)

    primals = (np.array(X), np.array(Y))
    for run in host.runs(program, *primals):
        after = snapshot(run.given, run.what)
        message = f"{run.cell.name}: {run.what} that the caller gave was written to"
        expect(after == run.before, message)
        run.compare()
    same = np.array_equal(primals[0], X) and np.array_equal(primals[1], Y)
    expect(same, "an argument was written to")


def _tripled() -> Any:
    """`x` itself, with rules by which its derivative is 3."""

    @primitive
    def same(x: Any) -> Any:
        return x

    @rrule.define(same)
    def same_rrule(x: Any) -> Any:
        return x, lambda dy: (NoTangent(), 3.0 * dy)

    @frule.define(same)
    def same_frule(tangents: Any, x: Any) -> Any:
        return x, 3.0 * tangents[1]

    return same


def returned_arguments(host: Host) -> None:
    """A function returns its argument: the rule applies all the same."""
    same = _tripled()
    host.values(same, X)
    host.derivatives(same, X, factor=3.0)


def repeated_results(host: Host) -> None:
    """One array is two results, and a constant is a third."""

    @primitive
    def twice(x: Any, y: Any) -> Any:
        z = x * y
        return z, [z, 1.0 * z], z

    @rrule.define(twice)
    def twice_rrule(x: Any, y: Any) -> Any:
        z = x * y

        def pullback(dy: Any) -> Any:
            # The results differ for the framework: each has its own cotangent.
            both = dy[0] + dy[1][0] + dy[1][1] + dy[2]
            return NoTangent(), y * both, x * both

        return (z, [z, 1.0 * z], z), pullback

    @frule.define(twice)
    def twice_frule(tangents: Any, x: Any, y: Any) -> Any:
        dz = tangents[1] * y + x * tangents[2]
        return twice(x, y), (dz, [dz, dz], dz)

    host.values(twice, X, Y)
    host.derivatives(twice, X, Y)
    host.derivatives(lambda x, y: twice(x, y)[2], X, Y)
    host.derivatives(lambda x: twice(x, x), X)


def shared_leaves(host: Host) -> None:
    """One array stands twice in an argument: each place has its own cotangent."""

    @primitive
    def weighted(p: Any) -> Any:
        return p[0] * p[1][0] + 2.0 * p[1][1]

    @rrule.define(weighted)
    def weighted_rrule(p: Any) -> Any:
        a, (b, _) = p
        return weighted(p), lambda dy: (NoTangent(), (b * dy, [a * dy, 2.0 * dy]))

    @frule.define(weighted)
    def weighted_frule(tangents: Any, p: Any) -> Any:
        (a, (b, _)), (da, (db, dc)) = p, tangents[1]
        return weighted(p), da * b + a * db + 2.0 * dc

    host.derivatives(lambda x: weighted((x, [x, x])), X)


RESULTS: dict[str, Callable[[Any], Any]] = {
    "reversed": lambda x: np.multiply(x, 2.0)[::-1],
    "of a broken stride": lambda x: np.stack([2.0 * x, x], axis=1)[:, 0],
    "that shares its entries": lambda x: np.broadcast_to(np.sum(x), x.shape),
    "that is read-only": lambda x: _read_only(np.multiply(x, 2.0)),
}


def _read_only(x: Any) -> Any:
    x.flags.writeable = False
    return x


def numpy_results(host: Host) -> None:
    """Arrays of every layout that NumPy-only functions and rules return."""
    product = product_with()
    for what, change in RESULTS.items():
        transposed = np.stack([change(unit) for unit in np.eye(3)])
        with case(f"an array {what}"):
            linear = _linear(change, transposed)
            host.derivatives(lambda x: (linear(x), product(linear(x), x)), X)  # noqa: B023  run at once


def _linear(change: Any, transposed: Any) -> Any:
    @primitive(host=True)
    def linear(x: Any) -> Any:
        return change(np.asarray(x))

    shape_rule.define(linear)(lambda x: ShapeDtype(x.shape, x.dtype))

    @rrule.define(linear, host=True)
    def linear_rrule(x: Any) -> Any:
        def pullback(dy: Any) -> Any:
            return NoTangent(), (transposed @ np.asarray(dy))[::-1][::-1]

        return change(np.asarray(x)), pullback

    @frule.define(linear, host=True)
    def linear_frule(tangents: Any, x: Any) -> Any:
        return change(np.asarray(x)), change(np.asarray(tangents[1]))

    return linear
