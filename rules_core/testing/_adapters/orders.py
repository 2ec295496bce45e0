"""Second derivatives and batches, where an adapter has cells for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_core import (
    NoTangent,
    ShapeDtype,
    batch_rule,
    frule,
    primitive,
    rrule,
    scalar_rule,
    shape_rule,
)

from .containers import LINE, Line, line_with
from .host import Host, X, Y, case, product_with
from .results import pair_with


def second(host: Host) -> None:
    """Second derivatives come from the rules, and from the rules that these call."""
    only = host.only("second")
    product = product_with()
    only.second(product, X, Y)
    only.second(lambda x, y: product(product(x, y), x), X, Y)
    triple = product_with(
        lambda dx, dy: (NoTangent(), 3 * dx, 3 * dy), lambda dz: 3 * dz
    )
    with case("by rules whose factor is 3"):
        only.second(triple, X, Y, factor=3.0)


def second_rules(host: Host) -> None:
    """A rule calls a function whose own rules say 5 times its derivative."""
    only = host.only("second")
    fivefold = product_with(
        lambda dx, dy: (NoTangent(), 5 * dx, 5 * dy), lambda dz: 5 * dz
    )

    @primitive
    def square(x: Any) -> Any:
        return x * x

    @rrule.define(square)
    def square_rrule(x: Any) -> Any:
        return x * x, lambda dy: (NoTangent(), fivefold(2.0 * x, dy))

    @frule.define(square)
    def square_frule(tangents: Any, x: Any) -> Any:
        return x * x, fivefold(2.0 * x, tangents[1])

    only.second(square, X, factor=5.0)


def second_containers(host: Host) -> None:
    """Second derivatives of containers."""
    only = host.only("second")
    only.second(line_with(lambda a, b, c: Line(a, [b, c])), LINE, Y)
    pair = pair_with([])
    only.second(lambda x, y: pair(*pair(x, y)[:1], x), X, Y)


def batches(host: Host) -> None:
    """Values of a batch; constants and containers are the same in each."""
    c = Y
    only = host.only("batched")
    product, pair = product_with(), pair_with([])
    rows = (X, Y), (Y, X), (2.0 * X, X)
    only.batched(product, *rows)
    only.batched(pair, *rows)
    with case("a constant"):
        only.batched(lambda x, y: product(x, c), *rows)
    with case("an elementwise NumPy-only function"):
        only.batched(_elementwise(), *rows)
    with case("a NumPy-only function with a batch rule"):
        only.batched(_with_batch_rule(), *rows)


def batched_derivatives(host: Host) -> None:
    """Derivatives of a batch, each with its own cotangent."""
    only = host.only("batched_vjp")
    product, pair = product_with(), pair_with([])
    rows = (X, Y), (Y, X), (2.0 * X, X)
    triple = product_with(
        lambda dx, dy: (NoTangent(), 3 * dx, 3 * dy), lambda dz: 3 * dz
    )
    only.batched_derivatives(product, *rows)
    only.batched_derivatives(triple, *rows, factor=3.0)
    only.batched_derivatives(pair, *rows)
    only.batched_derivatives(_elementwise(), *rows)


def _elementwise() -> Any:
    @primitive(host=True, elementwise=True)
    def product(x: Any, y: Any) -> Any:
        return np.multiply(x, y)

    scalar_rule(product, lambda _, x, y: (y, x))
    return product


def _with_batch_rule() -> Any:
    """Sums along an array: a batch is not one long array."""

    @primitive(host=True)
    def running(x: Any, y: Any) -> Any:
        return np.cumsum(np.multiply(x, y))

    shape_rule.define(running)(lambda x, y: ShapeDtype(x.shape, x.dtype))

    @batch_rule.define(running)
    def running_batch(size: int, batched: Any, x: Any, y: Any) -> Any:
        return np.cumsum(np.multiply(x, y), axis=1), True

    return running
