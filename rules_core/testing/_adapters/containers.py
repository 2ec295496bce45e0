"""Containers among the arguments, and their tangents in every form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from rules_core import NoTangent, Tangent, frule, primitive, rrule, thunk
from rules_core.testing._report import Failure

from .host import Host, X, Y, expect


class Line(NamedTuple):
    """An argument of a class."""

    slope: Any
    offset: Any


LINE = Line(X, [Y, 2.0 * X])
MIXED = {"w": X, "b": (Y, 3)}


def line_with(answer: Callable[[Any, Any, Any], Any]) -> Any:
    """A function of a named tuple that holds a list."""

    @primitive
    def line(p: Any, x: Any) -> Any:
        return p.slope * x + p.offset[0] * p.offset[1]

    @rrule.define(line)
    def line_rrule(p: Any, x: Any) -> Any:
        def pullback(dy: Any) -> Any:
            a, (b, c) = p.slope, p.offset
            return NoTangent(), answer(x * dy, c * dy, b * dy), a * dy

        return line(p, x), pullback

    @frule.define(line)
    def line_frule(tangents: Any, p: Any, x: Any) -> Any:
        _, dp, dx = tangents
        (b, c), (db, dc) = p.offset, dp.offset
        return line(p, x), dp.slope * x + p.slope * dx + db * c + b * dc

    return line


def containers(host: Host) -> None:
    """A named tuple that holds a list."""
    line = line_with(lambda a, b, c: Tangent(Line, slope=a, offset=Tangent(list, b, c)))
    host.values(line, LINE, Y)
    host.derivatives(line, LINE, Y)


FORMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "an instance": lambda a, b, c: Line(a, [b, c]),
    "a tuple": lambda a, b, c: (a, (b, c)),
    "a dict": lambda a, b, c: {"slope": a, "offset": [b, c]},
    "thunks": lambda a, b, c: thunk(lambda: (thunk(lambda: a), thunk(lambda: [b, c]))),
    "Tangents by place": lambda a, b, c: Tangent(Line, a, Tangent(tuple, b, c)),
}


def forms(host: Host) -> str:
    """A tangent of a container in every form that authors may return."""
    for name, answer in FORMS.items():
        try:
            host.derivatives(line_with(answer), LINE, Y)
        except Exception as error:
            message = f"{name}: {type(error).__name__}: {error}"
            raise Failure(message) from error
    return ", ".join(FORMS)


def mixed(host: Host) -> None:
    """A dict with a constant in it, and a part without a tangent left out."""

    @primitive
    def mixed(p: Any) -> Any:
        return p["w"] * p["b"][0] * p["b"][1]

    @rrule.define(mixed)
    def mixed_rrule(p: Any) -> Any:
        w, (b, n) = p["w"], p["b"]
        return w * b * n, lambda dy: (
            NoTangent(),
            {"w": b * n * dy, "b": (w * n * dy, None)},
        )

    @frule.define(mixed)
    def mixed_frule(tangents: Any, p: Any) -> Any:
        dp = tangents[1]
        w, (b, n) = p["w"], p["b"]
        expect(isinstance(dp["b"][1], NoTangent), "an int was given a tangent")
        return w * b * n, dp["w"] * b * n + w * dp["b"][0] * n

    host.derivatives(mixed, MIXED)


def dicts(host: Host) -> None:
    """Dicts whose keys are not sorted, as argument and as result."""

    @primitive
    def swapped(p: Any) -> Any:
        return {"t": p["z"] * p["a"], "b": 2.0 * p["z"], "m": 3.0 * p["a"] * p["k"]}

    @rrule.define(swapped)
    def swapped_rrule(p: Any) -> Any:
        def pullback(dy: Any) -> Any:
            z, a, k = p["z"], p["a"], p["k"]
            t, b, m = dy["t"], dy["b"], dy["m"]
            dz, da = a * t + 2.0 * b, z * t + 3.0 * k * m
            return NoTangent(), {"k": 3.0 * a * m, "z": dz, "a": da}

        return swapped(p), pullback

    @frule.define(swapped)
    def swapped_frule(tangents: Any, p: Any) -> Any:
        z, a, k = p["z"], p["a"], p["k"]
        dz, da, dk = tangents[1]["z"], tangents[1]["a"], tangents[1]["k"]
        t, m = dz * a + z * da, 3.0 * (da * k + a * dk)
        return swapped(p), {"m": m, "t": t, "b": 2.0 * dz}

    given = {"z": X, "a": Y, "k": 1.0 + X}
    host.values(swapped, given)
    host.derivatives(swapped, given)
    host.derivatives(lambda p: swapped(_renamed(swapped(p))), given)


def _renamed(p: Any) -> Any:
    return {"k": p["b"], "a": p["t"], "z": p["m"]}


def result_containers(host: Host) -> None:
    """A named tuple with a list in it as result, beside None and a number."""

    @primitive
    def spread(x: Any, y: Any) -> Any:
        return Line(x * y, [2.0 * x, None, (3.0 * y,)])

    @rrule.define(spread)
    def spread_rrule(x: Any, y: Any) -> Any:
        def pullback(dp: Any) -> Any:
            a, (b, none, (c,)) = dp.slope, dp.offset
            expect(none is None or isinstance(none, NoTangent), f"None has {none!r}")
            return NoTangent(), y * a + 2.0 * b, x * a + 3.0 * c

        return spread(x, y), pullback

    @frule.define(spread)
    def spread_frule(tangents: Any, x: Any, y: Any) -> Any:
        _, dx, dy = tangents
        return spread(x, y), (dx * y + x * dy, (2.0 * dx, None, (3.0 * dy,)))

    host.values(spread, X, Y)
    host.derivatives(spread, X, Y)
