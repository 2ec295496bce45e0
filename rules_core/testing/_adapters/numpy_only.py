"""Functions and rules that need NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_core import (
    NoTangent,
    frule,
    opt_out,
    primitive,
    rrule,
    scalar_rule,
)

from .host import Host, X, Y, expect


def _is_numpy(*xs: Any) -> None:
    given = [type(x).__name__ for x in xs if not isinstance(x, (np.ndarray, float))]
    expect(not given, f"NumPy-only code was given {', '.join(given)}")


def host_function(host: Host) -> None:
    """A NumPy-only function is given arrays of NumPy."""
    c = Y

    @primitive(host=True, elementwise=True)
    def product(x: Any, y: Any) -> Any:
        _is_numpy(x, y)
        return np.multiply(x, y)

    scalar_rule(product, lambda _, x, y: (y, x))
    host.values(product, X, Y)
    host.derivatives(product, X, Y)
    host.derivatives(lambda x: product(x, c), X)


def host_rule(host: Host) -> None:
    """So are its NumPy-only rules."""

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


def no_rule(host: Host) -> None:
    """A NumPy-only function without rules has no derivative."""

    @primitive(host=True, elementwise=True)
    def opaque(x: Any) -> Any:
        return np.multiply(x, x)

    opt_out(rrule, opaque, Any)  # so that none is derived from its code
    opt_out(frule, opaque, Any)
    host.refuses("opaque", opaque, X)
