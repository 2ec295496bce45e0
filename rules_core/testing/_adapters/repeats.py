"""Calls after and beside other calls: nothing is left over from one for the next."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, BrokenBarrierError, Thread
from typing import Any

import numpy as np

from rules_core import NoTangent, frule, primitive, rrule
from rules_core.testing._report import Failure

from .containers import Line, line_with
from .host import Host, X, Y, case, product_with
from .results import pair_with

WORDS = "the author's own words"


def _kinds_of_constants() -> Any:
    """Powers by a constant's class and value; 1 and True are equal, and differ."""

    def power(n: Any) -> int:
        return 4 if n is True else int(n)

    @primitive
    def raised(x: Any, n: Any = 2, *, by: Any = "times") -> Any:
        y = 1.0 * x
        for _ in range(power(n) - 1):
            y = y * x
        return y * 5.0 if by == "five times" else y

    def slope(x: Any, n: Any, by: Any) -> Any:
        factor = 5.0 if by == "five times" else 1.0
        return factor * power(n) * (raised(x, power(n) - 1) if power(n) > 1 else 1.0)

    @rrule.define(raised)
    def raised_rrule(x: Any, n: Any, *, by: Any) -> Any:
        return raised(x, n, by=by), lambda dy: (NoTangent(), slope(x, n, by) * dy, None)

    @frule.define(raised)
    def raised_frule(tangents: Any, x: Any, n: Any, *, by: Any) -> Any:
        return raised(x, n, by=by), slope(x, n, by) * tangents[1]

    return raised


def other_values(host: Host) -> None:
    """One function at other values, dtypes and shapes."""
    product = product_with()
    for x, y in (
        (X, Y),
        (Y, X),
        (X.astype("f4"), Y.astype("f4")),
        (X, Y),
        (X[:2], Y[:2]),
        (np.stack([X, Y]), np.stack([Y, Y])),
        (np.stack([X, Y]).T, np.stack([Y, Y]).T),
    ):
        with case(f"{x.dtype} of shape {x.shape}"):
            host.values(product, x, y)
            host.derivatives(product, x, y)


def other_constants(host: Host) -> None:
    """One function with other constants, among them some that are equal."""
    raised = _kinds_of_constants()
    for n, by in (
        (1, "times"),
        (True, "times"),
        (2, "times"),
        (3, "times"),
        (3, "five times"),
        (1, "five times"),
        (1, "times"),
    ):
        with case(f"n={n!r}, by={by!r}"):
            f: Callable[[Any], Any] = lambda x: raised(x, n, by=by)  # noqa: B023, E731  at once
            host.values(f, X)
            host.derivatives(f, X)


def other_containers(host: Host) -> None:
    """One function of containers that hold equally many arrays, and its results."""

    @primitive
    def weighted(p: Any) -> Any:
        a, b = parts(p)
        return like(p, weight(p) * a * b, 2.0 * a)

    def names(p: Any) -> tuple[Any, Any]:
        """In an order of our own: a framework may sort them."""
        return ("k" if "k" in p else "a", "b") if isinstance(p, dict) else (0, 1)

    def parts(p: Any, of: Any = None) -> list[Any]:
        return [(p if of is None else of)[name] for name in names(p)]

    def like(p: Any, *values: Any) -> Any:
        named = dict(zip(names(p), values, strict=True))
        return named if isinstance(p, dict) else values

    def weight(p: Any) -> float:
        if isinstance(p, dict):
            return 5.0 if "k" in p else 4.0
        return 2.0 if isinstance(p, tuple) else 3.0

    @rrule.define(weighted)
    def weighted_rrule(p: Any) -> Any:
        a, b = parts(p)

        def pullback(dy: Any) -> Any:
            dc, da = parts(p, dy)
            found = weight(p) * b * dc + 2.0 * da, weight(p) * a * dc
            return NoTangent(), like(p, *found)

        return weighted(p), pullback

    @frule.define(weighted)
    def weighted_frule(tangents: Any, p: Any) -> Any:
        a, b = parts(p)
        da, db = parts(p, tangents[1])
        return weighted(p), like(p, weight(p) * (da * b + a * db), 2.0 * da)

    for p in ((X, Y), [X, Y], {"a": X, "b": Y}, {"k": X, "b": Y}, (X, Y)):
        with case(repr(p)):
            host.values(weighted, p)
            host.derivatives(weighted, p)


def other_functions(host: Host) -> None:
    """Two functions from one definition, which differ in what they capture."""

    def scaled_by(factor: float) -> Any:
        @primitive
        def scaled(x: Any) -> Any:
            return factor * x

        @rrule.define(scaled)
        def scaled_rrule(x: Any) -> Any:
            return factor * x, lambda dy: (NoTangent(), 2 * factor * dy)

        @frule.define(scaled)
        def scaled_frule(tangents: Any, x: Any) -> Any:
            return factor * x, 2 * factor * tangents[1]

        return scaled

    two, three = scaled_by(2.0), scaled_by(3.0)
    for scaled in (two, three, two):
        host.values(scaled, X)
        host.derivatives(scaled, X, factor=2.0)
    host.derivatives(lambda x: two(three(x)), X, factor=4.0)


def mixed_programs(host: Host) -> None:
    """Functions of different arguments and results in one program."""
    product, line, pair = product_with(), _canonical_line(), pair_with([])

    def program(x: Any, y: Any) -> Any:
        z, s = pair(x, y)
        w = line(Line(z, [s["s"], x]), product(x, y))
        return pair(w, x)[1]["s"], product(w, z)

    host.derivatives(program, X, Y)


def _canonical_line() -> Any:
    return line_with(lambda a, b, c: Line(a, [b, c]))


def errors(host: Host) -> None:
    """Errors of an author's code reach the caller, and later calls are right."""

    def stop(*_: Any) -> Any:
        raise ValueError(WORDS)

    host.refuses(WORDS, product_with(stop, stop), X, Y)
    product = product_with()

    @primitive
    def broken(x: Any) -> Any:
        return x * x

    rrule.define(broken)(stop)
    frule.define(broken)(stop)
    host.refuses(WORDS, lambda x: product(x, broken(x)), X)
    with case("after an error"):
        host.values(product, X, Y)
        host.derivatives(product, X, Y)


def threads(host: Host) -> None:
    """Two threads are inside calls of one function at once."""
    # Forward mode may be one for the process, and so may a compiler.
    only = Host(host.adapter, host.only("vjp").cells[:1])
    meeting = Barrier(2)

    def meet(x: Any) -> Any:
        try:
            meeting.wait(0.2)
        except BrokenBarrierError:  # a framework may let in one at a time
            meeting.reset()
        return x

    product = product_with(lambda dx, dy: meet((NoTangent(), dx, dy)), meet)
    found: list[BaseException] = []

    def run(*primals: Any) -> None:
        try:
            program = lambda x, y: product(product(x, y), x)  # noqa: E731  a new one
            only.derivatives(program, *primals)
        except BaseException as error:  # told by the thread that waits
            found.append(error)

    both = [Thread(target=run, args=xs) for xs in ((X, Y), (Y[:2], X[:2]))]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    if found:
        message = f"{type(found[0]).__name__}: {found[0]}"
        raise Failure(message) from found[0]
