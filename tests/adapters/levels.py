"""Programs in which one object is an argument at several levels of differentiation.

The function is `a² b³`; each program has its value by the framework's own derivative of
the same mathematics.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rules_core as rc
from rules_core import NoTangent


def plain(a: Any, b: Any) -> Any:
    """`a² b³`."""
    return a**2 * b**3


def _partials(a: Any, b: Any) -> tuple[Any, Any]:
    return 2 * a * b**3, 3 * a**2 * b**2


def _pull(a: Any, b: Any, dy: Any) -> tuple[Any, ...]:
    da, db = _partials(a, b)
    return NoTangent(), da * dy, db * dy


def _closure(f: Any, **flags: Any) -> None:
    @rc.rrule.define(f, **flags)
    def f_rrule(a, b):
        return f(a, b), lambda dy: _pull(a, b, dy)


def _deterministic(f: Any) -> None:
    _closure(f, deterministic=True)


def _pullback(f: Any) -> None:
    @rc.rrule.define(f)
    def f_rrule(a, b):
        return f(a, b), rc.Pullback(_pull, a, b)


def _values(f: Any) -> None:
    @rc.rrule.define(f)
    def f_rrule(a, b):
        da, db = _partials(a, b)
        return f(a, b), lambda dy: (NoTangent(), da * dy, db * dy)


def _frule(f: Any) -> None:
    @rc.frule.define(f)
    def f_frule(tangents, a, b):
        da, db = _partials(a, b)
        return f(a, b), da * tangents[1] + db * tangents[2]


def _both(f: Any) -> None:
    _frule(f)
    _closure(f)


def _scalar(f: Any) -> None:
    rc.scalar_rule(f, _partials_of)


def _partials_of(y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    del y
    return _partials(a, b)


STYLES: dict[str, Callable[[Any], None]] = {
    "closure": _closure,
    "deterministic": _deterministic,
    "Pullback": _pullback,
    "values": _values,
    "frule": _frule,
    "both": _both,
    "scalar": _scalar,
}


def made(style: str, *, host: bool) -> Any:
    """The primitive `a² b³` with rules in a style."""

    def f(a, b):
        return a**2 * b**3

    primitive = rc.primitive(f, host=host, elementwise=True)
    STYLES[style](primitive)
    return primitive


def _summed(f: Any) -> Any:
    return lambda *xs: f(*xs).sum()


def _pulled_inside(d: Any, f: Any, x: Any, y: Any) -> Any:
    def pulled(a):
        value, back = d.vjp(lambda b: f(b, a), x)
        return back(value)[0].sum()

    return d.grad(pulled)(y)


def _of_containers(d: Any, f: Any, x: Any, y: Any) -> Any:
    def of_one(p):
        inner = d.grad(lambda q: f(q["a"], p["b"]).sum())
        return inner({"a": x, "b": y})["a"].sum()

    return d.grad(of_one)({"a": x, "b": y})["b"]


# What is given: the framework's transforms, the function, and two arguments, of which
# the second may be the first once more.
PROGRAMS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "argnums 1, 0": lambda d, f, x, y: d.grad(
        _summed(d.grad(_summed(f), argnums=1)), argnums=0
    )(x, y),
    "argnums 0, 1": lambda d, f, x, y: d.grad(
        _summed(d.grad(_summed(f), argnums=0)), argnums=1
    )(x, y),
    "data second": lambda d, f, x, y: d.grad(_summed(d.grad(lambda a: f(a, y).sum())))(
        x
    ),
    "data first": lambda d, f, x, y: d.grad(_summed(d.grad(lambda a: f(y, a).sum())))(
        x
    ),
    "outer is second": lambda d, f, x, y: d.grad(
        lambda a: d.grad(lambda b: f(b, a).sum())(x).sum()
    )(y),
    "outer is first": lambda d, f, x, y: d.grad(
        lambda a: d.grad(lambda b: f(a, b).sum())(x).sum()
    )(y),
    "vjp inside": _pulled_inside,
    "containers": _of_containers,
    "jvp inside": lambda d, f, x, y: d.grad(
        lambda a: d.jvp(lambda b: f(b, a), (x,), (x,))[1].sum()
    )(y),
    "jvp outside": lambda d, f, x, y: d.jvp(
        lambda a: d.grad(lambda b: f(b, a).sum())(x), (y,), (x,)
    )[1],
    "jacrev twice": lambda d, f, x, y: d.jacrev(d.jacrev(f, argnums=1), argnums=0)(
        x, y
    ),
    "three levels": lambda d, f, x, y: d.grad(
        lambda a: d.grad(
            lambda b: d.grad(lambda c: f(b, c).sum() + f(c, a).sum())(x).sum()
        )(x).sum()
    )(y),
    "three times one": lambda d, f, x, y: d.grad(
        _summed(d.grad(_summed(d.grad(_summed(f), argnums=1)))), argnums=0
    )(x, y),
    "vmap outside": lambda d, f, x, y: d.vmap(
        lambda s: d.grad(lambda a: d.grad(lambda b: f(b, a).sum())(x).sum() * s)(y)
    )(d.ones(2)),
}
