"""Results of authors' rules: zeros, thunks, broadcast shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_core import NoTangent, ZeroTangent, frule, primitive, rrule, thunk

from .host import Host, X, Y, product_with


def zeros(host: Host) -> None:
    """Zeros in every form: `ZeroTangent`, `None`, zeros of integers."""

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


def thunks(host: Host) -> None:
    """Delayed cotangents and tangents are forced."""

    def lazy(dx: Any, dy: Any) -> Any:
        return NoTangent(), thunk(lambda: dx), thunk(lambda: dy)

    host.derivatives(product_with(lazy, lambda dz: thunk(lambda: dz)), X, Y)


def projection(host: Host) -> None:
    """A cotangent is summed over axes along which its primal was broadcast."""
    host.derivatives(product_with(), X, np.stack([Y, X]))
