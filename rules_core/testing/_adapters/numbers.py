"""Kinds of numbers: complex, of every precision, scalars and empty arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_core import (
    NoTangent,
    ShapeDtype,
    array_namespace,
    frule,
    primitive,
    rrule,
    shape_rule,
)

from .host import CLOSE, Host, X, Y, case, expect, product_with

Z = np.array([0.5 + 1.0j, -1.25j, 2.0 - 0.5j])
W = np.array([1.0 - 0.5j, 0.75 + 0.25j, -0.5j])


def _conj(x: Any) -> Any:
    return array_namespace(x).conj(x)


def _complex_product() -> Any:
    @primitive
    def product(x: Any, y: Any) -> Any:
        return x * y

    @rrule.define(product)
    def product_rrule(x: Any, y: Any) -> Any:
        return x * y, lambda dz: (NoTangent(), _conj(y) * dz, _conj(x) * dz)

    @frule.define(product)
    def product_frule(tangents: Any, x: Any, y: Any) -> Any:
        return x * y, tangents[1] * y + x * tangents[2]

    return product


def _rotated() -> Any:
    """A complex result of real arguments."""

    @primitive
    def rotated(x: Any) -> Any:
        return x * (1.0 + 2.0j)

    @rrule.define(rotated)
    def rotated_rrule(x: Any) -> Any:
        return x * (1.0 + 2.0j), lambda dy: (NoTangent(), dy * (1.0 - 2.0j))

    @frule.define(rotated)
    def rotated_frule(tangents: Any, x: Any) -> Any:
        return x * (1.0 + 2.0j), tangents[1] * (1.0 + 2.0j)

    return rotated


def _size() -> Any:
    """A real result of complex arguments."""

    @primitive
    def size(x: Any) -> Any:
        return array_namespace(x).real(x * _conj(x))

    @rrule.define(size)
    def size_rrule(x: Any) -> Any:
        return size(x), lambda dy: (NoTangent(), 2 * dy * x)

    @frule.define(size)
    def size_frule(tangents: Any, x: Any) -> Any:
        return size(x), 2 * array_namespace(x).real(_conj(x) * tangents[1])

    return size


def complex_numbers(host: Host) -> None:
    """Complex arguments and results, each beside real ones."""
    rotated, size = _rotated(), _size()
    for what, f, primals in (
        ("a complex result of complex arguments", _complex_product(), (Z, W)),
        ("a complex result of a real argument", rotated, (X,)),
        ("a real result of a complex argument", size, (Z,)),
        ("a complex value between real ones", lambda x: size(rotated(x)), (X,)),
        ("a real and a complex argument", _complex_product(), (X, Z)),
    ):
        with case(what):
            host.values(f, *primals)
            host.derivatives(f, *primals)


def precisions(host: Host) -> None:
    """Each precision of reals that the framework has, alone and beside a wider one."""
    _precise(host, X.astype("f4") / 3, Y.astype("f4") / 3)
    _precise(host, X / 3, Y / 3)
    _precise(host, X.astype("f4") / 3, Y / 3)


def half_precision(host: Host) -> None:
    """Arrays of half precision, where the framework has them."""
    _precise(host, X.astype("f2"), Y.astype("f2"))


def _precise(host: Host, x: Any, y: Any) -> None:
    product = product_with()
    dtypes = [_dtype_of(host, dx) for dx in (x, y)]
    close = max(_CLOSE[dtype] for dtype in dtypes)
    with case(f"{x.dtype} and {y.dtype}"):
        for run in host.runs(product, x, y):
            run.compare(close)
            if run.cell.kind == "vjp":
                found = [str(np.asarray(dx).dtype) for dx in run.got]
                message = f"{run.cell.name}: cotangents are {found}, not {dtypes}"
                expect(found == dtypes, message)


_CLOSE = {"float64": 1e-9, "float32": CLOSE, "float16": 2.0**-8}


def _dtype_of(host: Host, x: Any) -> str:
    """An array as the framework has it, which may lack double precision."""
    product = product_with()
    cell = next(host.of("value"))
    return str(np.asarray(cell.run(lambda x: product(x, x), (x,), {})).dtype)


def _total(**flags: Any) -> Any:
    """A number out of arrays: a Python number, if NumPy computes it."""
    is_numpy = bool(flags)

    @primitive(**flags)
    def total(x: Any, y: Any) -> Any:
        found = array_namespace(x, y).sum(x * y)
        return float(found) if is_numpy else found

    shape_rule.define(total)(lambda x, y: ShapeDtype((), x.dtype))

    @rrule.define(total)
    def total_rrule(x: Any, y: Any) -> Any:
        return total(x, y), lambda dz: (NoTangent(), y * dz, x * dz)

    @frule.define(total)
    def total_frule(tangents: Any, x: Any, y: Any) -> Any:
        _, dx, dy = tangents
        return total(x, y), array_namespace(x).sum(dx * y + x * dy)

    return total


def scalars(host: Host) -> None:
    """Arrays of no axes, NumPy's scalars and Python's numbers."""
    total, product = _total(), product_with()
    with case("a scalar result"):
        host.values(total, X, Y)
        host.derivatives(total, X, Y)
        host.derivatives(lambda x, y: product(total(x, y), x), X, Y)
    for what, x in (
        ("an array of no axes", np.array(0.75)),
        ("a NumPy scalar", np.float64(0.75)),
        ("a Python number", 0.75),
    ):
        with case(f"{what} as argument"):
            host.values(product, x, Y)
            host.derivatives(product, x, Y)
            host.derivatives(lambda x: product(x, x), x)
        with case(f"{what} as constant"):
            host.derivatives(lambda y: product(y, x), Y)  # noqa: B023  run at once


def numbers_of_numpy(host: Host) -> None:
    """A NumPy-only function that returns a Python number."""
    total, product = _total(host=True), product_with()
    host.values(total, X, Y)
    host.derivatives(total, X, Y)
    host.derivatives(lambda x, y: product(total(x, y), x), X, Y)


def empty(host: Host) -> None:
    """An array without entries beside one that has some."""

    @primitive
    def shifted(x: Any, e: Any) -> Any:
        return x + array_namespace(x).sum(e)

    @rrule.define(shifted)
    def shifted_rrule(x: Any, e: Any) -> Any:
        xp = array_namespace(x)
        return shifted(x, e), lambda dy: (NoTangent(), dy, e + xp.sum(dy))

    @frule.define(shifted)
    def shifted_frule(tangents: Any, x: Any, e: Any) -> Any:
        _, dx, de = tangents
        return shifted(x, e), dx + array_namespace(x).sum(de)

    host.values(shifted, X, np.zeros(0))
    host.derivatives(shifted, X, np.zeros(0))
