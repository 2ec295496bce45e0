"""Wrong rules, which must raise an error that names them."""

from __future__ import annotations

from typing import Any

from rules_core import NoTangent, not_implemented as not_implemented_tangent

from .containers import LINE, line_with
from .host import Host, X, Y, case, product_with


def shape(host: Host) -> None:
    """A cotangent or tangent of another shape is an error."""

    def short(dx: Any, dy: Any) -> Any:
        return NoTangent(), dx[:2], dy

    host.refuses("product_", product_with(short, lambda dz: dz[:2]), X, Y)


def tangent_shape(host: Host) -> None:
    """A tangent is not summed."""
    only = host.only("jvp")
    wide = product_with(push=lambda dz: dz * (0 * dz[:, None] + 1.0))
    only.refuses("product_frule", wide, X, Y)


def count(host: Host) -> None:
    """As many cotangents as arguments, after that of the function, in a tuple."""
    only = host.only("vjp")
    for what, back in (
        ("one too few", lambda dx, dy: (dx, dy)),
        ("one too many", lambda dx, dy: (NoTangent(), dx, dy, dy)),
        ("a list", lambda dx, dy: [NoTangent(), dx, dy]),
        ("an array", lambda dx, dy: dx),
    ):
        with case(what):
            only.refuses("product_rrule", product_with(back), X, Y)


def structure(host: Host) -> None:
    """A cotangent of another structure than its container is an error."""
    only = host.only("vjp")
    only.refuses("line_rrule", line_with(lambda a, b, c: (a, b, c)), LINE, Y)
    only.refuses("line_rrule", line_with(lambda a, b, c: (a, (b,))), LINE, Y)
    only.refuses("line_rrule", line_with(lambda a, b, c: {"slop": a}), LINE, Y)


def no_tangent(host: Host) -> None:
    """`NoTangent()` for an array that has a tangent is an error."""
    none = NoTangent()
    host.refuses(
        "product_", product_with(lambda dx, dy: (none, dx, none), lambda dz: none), X, Y
    )


def not_implemented(host: Host) -> None:
    """`not_implemented` is an error if it is needed, and only then."""
    c = Y
    missing = not_implemented_tangent("nobody wrote it")
    product = product_with(
        lambda dx, dy: (NoTangent(), dx, missing), lambda dz: missing
    )
    host.refuses("product_", product, X, Y)
    unneeded = product_with(lambda dx, dy: (NoTangent(), dx, missing))
    host.derivatives(lambda x: unneeded(x, c), X)
