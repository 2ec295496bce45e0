"""`rules-core bench`: what a function and its rules cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from timeit import Timer
from typing import Any

from rules_core._rules.frule_rrule import frule, rrule
from rules_core._tangents.canonical import zero_tangent
from rules_core._tangents.zeros import NoTangent

__all__ = ["bench"]

REPEATS = 7


def bench(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], seconds: float
) -> Iterator[tuple[str, ...]]:
    """Rows of a table: the part, its median time, the ratio to the function's own.

    The rules run as an AD system for NumPy calls them; cotangents and tangents are
    zeros, which cost as much as any.
    """
    value = _time(lambda: f(*args, **kwargs), seconds)
    yield _row("the function", value, value)
    pair = rrule(f, *args, **kwargs)
    if pair is None:
        yield "rrule", "no rule applies", ""
    else:
        y, pullback = pair
        dy = zero_tangent(y)
        spent = _time(lambda: rrule(f, *args, **kwargs), seconds)
        yield _row("rrule", spent, value)
        yield _row("its pullback", _time(lambda: pullback(dy), seconds), value)
    tangents = (NoTangent(), *map(zero_tangent, args))
    if frule(tangents, f, *args, **kwargs) is None:
        yield "frule", "no rule applies", ""
    else:
        spent = _time(lambda: frule(tangents, f, *args, **kwargs), seconds)
        yield _row("frule", spent, value)


def _time(run: Callable[[], Any], seconds: float) -> float:
    """The median time of one call, of several series that take `seconds` together."""
    timer = Timer(run)
    number = 1
    while (took := timer.timeit(number)) < seconds / REPEATS / 10:
        number *= 10
    number = max(1, int(number * seconds / REPEATS / max(took, 1e-9)))
    return median(timer.timeit(number) / number for _ in range(REPEATS))


def _row(name: str, spent: float, unit: float) -> tuple[str, str, str]:
    return name, _seconds(spent), f"{spent / unit:.2f} x"


def _seconds(spent: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if spent * factor >= 1:
            return f"{spent * factor:.3g} {unit}"
    return f"{spent * 1e9:.3g} ns"
