"""What a host promises, one check each: functions with rules, run in its cells.

What a rule here returns is right but for the one thing that is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rules_core import (
    AbstractZero,
    NoTangent,
    Tangent,
    ZeroTangent,
    frule,
    ignore_derivatives,
    not_implemented,
    opt_out,
    primitive,
    rrule,
    scalar_rule,
    thunk,
)

from ._adapter_host import Host, X, Y, product_with
from ._checks import Spec
from ._report import Failure, NotRun

__all__ = ["PROMISES"]


def _expect(right: bool, message: str) -> None:
    if not right:
        raise Failure(message)


def _is_number(dx: Any) -> bool:
    return not isinstance(dx, AbstractZero) and dx is not None


# Calls


def _value(host: Host) -> None:
    host.values(product_with(), X, Y)


def _derivative(host: Host) -> None:
    host.derivatives(product_with(), X, Y)


def _rules(host: Host) -> None:
    """Rules say something else than the function's own derivative."""
    triple = product_with(
        lambda dx, dy: (NoTangent(), 3 * dx, 3 * dy), lambda dz: 3 * dz
    )
    host.derivatives(triple, X, Y, factor=3.0)


def _programs(host: Host) -> None:
    product = product_with()
    host.derivatives(lambda x, y: product(product(x, y), x), X, Y)
    host.derivatives(lambda x, y: product(x, x), X, Y)


def _constants(host: Host) -> None:
    @primitive
    def scaled(x: Any, n: Any, how: Any, c: Any) -> Any:
        return x * c * n

    def check(n: Any, how: Any) -> None:
        _expect(type(n) is int and how == "by", f"a rule was given {n!r} and {how!r}")

    @rrule.define(scaled)
    def scaled_rrule(x: Any, n: Any, how: Any, c: Any) -> Any:
        check(n, how)
        none = NoTangent()
        return x * c * n, lambda dy: (none, c * n * dy, none, none, x * n * dy)

    @frule.define(scaled)
    def scaled_frule(tangents: Any, x: Any, n: Any, how: Any, c: Any) -> Any:
        check(n, how)
        return x * c * n, tangents[1] * c * n + x * tangents[4] * n

    host.values(lambda x: scaled(x, 3, "by", Y), X)
    host.derivatives(lambda x: scaled(x, 3, "by", Y), X)


def _names(host: Host) -> None:
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


def _keywords(host: Host) -> None:
    scaled = _with_keyword()
    host.derivatives(lambda x: scaled(x, by=Y), X)
    host.derivatives(lambda x: scaled(x, by=3), X)


def _keyword_derivative(host: Host) -> None:
    scaled = _with_keyword()
    host.refuses("scaled", lambda x: scaled(Y, by=x), X)


# Containers


class Line(NamedTuple):
    """An argument of a class."""

    slope: Any
    offset: Any


LINE = Line(X, [Y, 2.0 * X])
MIXED = {"w": X, "b": (Y, 3)}


def _line(answer: Callable[[Any, Any, Any], Any]) -> Any:
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


def _containers(host: Host) -> None:
    line = _line(lambda a, b, c: Tangent(Line, slope=a, offset=Tangent(list, b, c)))
    host.values(line, LINE, Y)
    host.derivatives(line, LINE, Y)


FORMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "an instance": lambda a, b, c: Line(a, [b, c]),
    "a tuple": lambda a, b, c: (a, (b, c)),
    "a dict": lambda a, b, c: {"slope": a, "offset": [b, c]},
    "thunks": lambda a, b, c: thunk(lambda: (thunk(lambda: a), thunk(lambda: [b, c]))),
    "Tangents by place": lambda a, b, c: Tangent(Line, a, Tangent(tuple, b, c)),
}


def _forms(host: Host) -> str:
    for name, answer in FORMS.items():
        try:
            host.derivatives(_line(answer), LINE, Y)
        except Exception as error:
            message = f"{name}: {type(error).__name__}: {error}"
            raise Failure(message) from error
    return ", ".join(FORMS)


def _mixed(host: Host) -> None:
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
        _expect(isinstance(dp["b"][1], NoTangent), "an int was given a tangent")
        return w * b * n, dp["w"] * b * n + w * dp["b"][0] * n

    host.derivatives(mixed, MIXED)


# Results


def _pair(given: list[Any], **flags: Any) -> Any:
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


def _results(host: Host) -> None:
    pair = _pair([])
    host.values(pair, X, Y)
    host.derivatives(pair, X, Y)


def _one_result(host: Host) -> None:
    given: list[Any] = []
    pair = _pair(given)
    host.derivatives(lambda x, y: pair(x, y)[0], X, Y)
    for dz in given:
        right = isinstance(dz, Tangent) and isinstance(dz[1], Tangent)
        numbers = right and _is_number(dz[0]) and _is_number(dz[1]["s"])
        _expect(numbers, f"a pullback was given {dz!r}: zeros must be arrays")


def _symbolic_zeros(host: Host) -> None:
    given: list[Any] = []
    pair = _pair(given, symbolic_zeros=True)
    host.derivatives(lambda x, y: pair(x, y)[0], X, Y)
    host.derivatives(lambda x: pair(x, Y)[1]["s"], X)
    for dz in given:
        parts = (dz[0], dz[1]) if isinstance(dz, Tangent) else (dz,)
        nothing = any(part is None for part in parts)
        _expect(not nothing, "None stands for a zero: it must be ZeroTangent()")


def _integers(host: Host) -> None:
    @primitive
    def counted(x: Any, n: Any) -> Any:
        return x * n, n

    @rrule.define(counted)
    def counted_rrule(x: Any, n: Any) -> Any:
        def pullback(dz: Any) -> Any:
            _expect(isinstance(dz[1], NoTangent), "integers were given a cotangent")
            return NoTangent(), n * dz[0], NoTangent()

        return (x * n, n), pullback

    @frule.define(counted)
    def counted_frule(tangents: Any, x: Any, n: Any) -> Any:
        _expect(isinstance(tangents[2], NoTangent), "integers were given a tangent")
        return (x * n, n), (tangents[1] * n, NoTangent())

    host.derivatives(lambda x: counted(x, np.array([1, 2, 3])), X)


def _needs(host: Host) -> None:
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
        (lambda x: product(x, (Y,)), (True, False)),
        (lambda y: product(X, (y,)), (False, True)),
        (lambda x: product(x, (x,)), (True, True)),
    ):
        seen.clear()
        host.derivatives(f, X)
        wrong = [needs for needs in seen if tuple(needs) != expected]
        _expect(bool(seen) and not wrong, f"needs is {wrong}, but must be {expected}")


# What authors return


def _zeros(host: Host) -> None:
    @primitive
    def square(x: Any, y: Any, z: Any) -> Any:
        return y * y, 0 * x

    @rrule.define(square)
    def square_rrule(x: Any, y: Any, z: Any) -> Any:
        zero = ZeroTangent()
        return square(x, y, z), lambda d: (NoTangent(), zero, 2 * y * d[0], None)

    @frule.define(square)
    def square_frule(tangents: Any, x: Any, y: Any, z: Any) -> Any:
        return square(x, y, z), (2 * y * tangents[2], ZeroTangent())

    host.derivatives(square, X, Y, X)


def _thunks(host: Host) -> None:
    def lazy(dx: Any, dy: Any) -> Any:
        return NoTangent(), thunk(lambda: dx), thunk(lambda: dy)

    host.derivatives(product_with(lazy, lambda dz: thunk(lambda: dz)), X, Y)


def _projection(host: Host) -> None:
    """A cotangent is summed over axes along which its primal was broadcast."""
    host.derivatives(product_with(), X, np.stack([Y, X]))


# Errors


def _shape(host: Host) -> None:
    def short(dx: Any, dy: Any) -> Any:
        return NoTangent(), dx[:2], dy

    host.refuses("product_", product_with(short, lambda dz: dz[:2]), X, Y)


def _tangent_shape(host: Host) -> None:
    """A tangent is not summed."""
    if next(host.of("jvp"), None) is None:
        message = "no cell is a jvp"
        raise NotRun(message)
    only = Host(list(host.of("jvp")))
    wide = product_with(push=lambda dz: dz * (0 * dz[:, None] + 1.0))
    only.refuses("product_frule", wide, X, Y)


def _count(host: Host) -> None:
    only = Host(list(host.of("vjp")))
    only.refuses("product_rrule", product_with(lambda dx, dy: (dx, dy)), X, Y)


def _structure(host: Host) -> None:
    only = Host(list(host.of("vjp")))
    only.refuses("line_rrule", _line(lambda a, b, c: (a, b, c)), LINE, Y)
    only.refuses("line_rrule", _line(lambda a, b, c: (a, (b,))), LINE, Y)
    only.refuses("line_rrule", _line(lambda a, b, c: {"slop": a}), LINE, Y)


def _no_tangent(host: Host) -> None:
    none = NoTangent()
    host.refuses(
        "product_", product_with(lambda dx, dy: (none, dx, none), lambda dz: none), X, Y
    )


def _not_implemented(host: Host) -> None:
    missing = not_implemented("nobody wrote it")
    product = product_with(
        lambda dx, dy: (NoTangent(), dx, missing), lambda dz: missing
    )
    host.refuses("product_", product, X, Y)
    only = Host(list(host.of("vjp")))
    only.derivatives(lambda x: product(x, Y), X)


# Functions and rules that need NumPy


def _is_numpy(*xs: Any) -> None:
    given = [type(x).__name__ for x in xs if not isinstance(x, (np.ndarray, float))]
    _expect(not given, f"NumPy-only code was given {', '.join(given)}")


def _host_function(host: Host) -> None:
    @primitive(host=True, elementwise=True)
    def product(x: Any, y: Any) -> Any:
        _is_numpy(x, y)
        return np.multiply(x, y)

    scalar_rule(product, lambda _, x, y: (y, x))
    host.values(product, X, Y)
    host.derivatives(product, X, Y)
    host.derivatives(lambda x: product(x, Y), X)


def _host_rule(host: Host) -> None:
    @primitive(host=True, elementwise=True)
    def product(x: Any, y: Any) -> Any:
        return np.multiply(x, y)

    @rrule.define(product, host=True)
    def product_rrule(x: Any, y: Any) -> Any:
        _is_numpy(x, y)
        kept = np.array(x), np.array(y)

        def pullback(dz: Any) -> Any:
            _is_numpy(dz)
            return NoTangent(), kept[1] * dz, kept[0] * dz

        return np.multiply(x, y), pullback

    @frule.define(product, host=True)
    def product_frule(tangents: Any, x: Any, y: Any) -> Any:
        _, dx, dy = tangents
        _is_numpy(x, y, dx, dy)
        return np.multiply(x, y), np.multiply(dx, y) + np.multiply(x, dy)

    host.derivatives(product, X, Y)


def _no_rule(host: Host) -> None:
    @primitive(host=True, elementwise=True)
    def opaque(x: Any) -> Any:
        return np.multiply(x, x)

    opt_out(rrule, opaque, Any)  # so that none is derived from its code
    opt_out(frule, opaque, Any)
    host.refuses("opaque", opaque, X)


def _stop_gradient(host: Host) -> None:
    product = product_with()
    host.derivatives(lambda x: product(ignore_derivatives(x), x), X, factor=0.5)


_VALUE = ("adapter.owns", "adapter.cells", "value")
_CALL = (*_VALUE, "derivative", "rules")
_TREES = (*_CALL, "containers")
PROMISES: tuple[Spec[Host], ...] = (
    Spec("value", _value, _VALUE[:2]),
    Spec("derivative", _derivative, _VALUE),
    Spec("rules", _rules, (*_VALUE, "derivative")),
    Spec("programs", _programs, _CALL),
    Spec("constants", _constants, _CALL),
    Spec("names", _names, _CALL),
    Spec("keywords", _keywords, _CALL),
    Spec("keyword-derivative", _keyword_derivative, _CALL),
    Spec("thunks", _thunks, _CALL),
    Spec("containers", _containers, _CALL),
    Spec("container-forms", _forms, (*_TREES, "thunks")),
    Spec("constants-inside", _mixed, (*_TREES, "container-forms")),
    Spec("results", _results, _CALL),
    Spec("one-result", _one_result, (*_CALL, "results")),
    Spec("symbolic-zeros", _symbolic_zeros, (*_CALL, "results")),
    Spec("integers", _integers, _CALL),
    Spec("needs", _needs, (*_TREES, "container-forms", "programs")),
    Spec("zeros", _zeros, _CALL),
    Spec("projection", _projection, _CALL),
    Spec("shape", _shape, (*_CALL, "projection")),
    Spec("tangent-shape", _tangent_shape, _CALL),
    Spec("count", _count, _CALL),
    Spec("structure", _structure, _TREES),
    Spec("no-tangent", _no_tangent, _CALL),
    Spec("not-implemented", _not_implemented, _CALL),
    Spec("host-function", _host_function, _CALL),
    Spec("host-rule", _host_rule, _CALL),
    Spec("no-rule", _no_rule, (*_CALL, "host-function")),
    Spec("stop-gradient", _stop_gradient, _CALL),
)
