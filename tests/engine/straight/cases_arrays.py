"""Reductions and functions that move entries, of arrays of every layout."""

from typing import Any

import numpy as np

from tests.engine.straight.cases_elementwise import arrays, some
from tests.engine.straight.written import Case, Literal, method, of

__all__ = ["CASES"]

L = Literal
FILLED = [x for x in arrays() if x.size]


def axes(x: Any) -> list[Any]:
    """Axes of every form: none, counted from either end, several."""
    found: list[Any] = [None, *range(-x.ndim, x.ndim)]
    if x.ndim > 1:
        found += [(0, 1), (-1, 0)]
    return [*found, (0,)]


REDUCED = {
    "sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod,
    "var": np.var, "std": np.std,
}  # fmt: skip


def reduction_cases() -> list[Case]:
    found = []
    for name, f in REDUCED.items():
        for x in FILLED:
            found += [of(f, x), method(name, x)]
            found += [of(f, x, axis=a) for a in axes(x)]
            found += [of(f, x, L(a)) for a in axes(x)]
            found += [method(name, x, L(a), keepdims=True) for a in axes(x)]
            found += [of(f, x, axis=a, keepdims=True) for a in axes(x)]
    found += [
        of(f, some(3, 4), axis=a, ddof=1) for f in (np.var, np.std) for a in (None, 1)
    ]
    found += [
        method("std", some(4), ddof=1),
        of(np.amax, some(3, 2)),
        of(np.amin, some(4)),
    ]
    found += [of(np.sum, x) for x in (some(0), some(2, 0))]
    found += [of(np.sum, some(2, 0), axis=0), of(np.sum, some(2, 0), axis=1)]
    found += [of(f, np.arange(5)) for f in (np.sum, np.max, np.min)]
    found += [method(n, np.arange(6).reshape(2, 3)) for n in ("sum", "max", "min")]
    return found


def other_cases() -> list[Case]:
    matrices = [some(3, 2), some(2, 3).T, some(2, 2), some(1, 3), some(0, 2)]
    found = [of(np.cumsum, x) for x in arrays()]
    found += [
        of(np.cumsum, x, axis=a) for x in arrays() for a in range(-x.ndim, x.ndim)
    ]
    found += [method("cumsum", x, L(0)) for x in FILLED]
    vectors = (some(4), some(8)[::-2], -some(3), some(1), some(0))
    found += [of(np.cumprod, x) for x in vectors]
    found += [method("cumprod", x, L(0)) for x in vectors]
    found += [of(np.linalg.norm, x, ord=1) for x in vectors]
    found += [of(np.linalg.norm, x, L("fro")) for x in (some(3, 2), some(2, 3).T)]
    masks = (np.arange(5), some(3, 2) > 0.5)
    found += [of(f, x) for f in (np.sum, np.mean) for x in masks]
    found += [method(name, x) for name in ("sum", "mean") for x in masks]
    found += [of(np.linalg.norm, x) for x in FILLED]
    found += [of(np.linalg.norm, x, L(2)) for x in FILLED if x.ndim == 1]
    found += [of(np.linalg.norm, x, axis=a, keepdims=k) for x in FILLED
              for a in range(-x.ndim, x.ndim) for k in (True, False)]  # fmt: skip
    found += [of(np.linalg.norm, some(3, 2), L(2), L(1)), of(np.linalg.norm, -some(4))]
    found += [of(np.trace, x) for x in matrices] + [method("trace", some(3, 2))]
    return found


def shape_cases() -> list[Case]:
    x, y, z = some(3, 4), some(2, 3).T, some(2, 1, 3)
    found = [
        method("reshape", a, *s) for a in (x, y) for s in ((-1,), (a.size,), (2, -1))
    ]
    found += [method("reshape", x, (4, 3)), method("reshape", x, L((2, 6)))]
    found += [
        method("reshape", x, np.int64(2), 6),
        method("reshape", np.arange(6), 2, 3),
    ]
    found += [of(np.reshape, a, s) for a in (x, y) for s in (-1, (a.size,), L((2, -1)))]
    found += [f(a) for a in arrays() for f in (
        lambda a: of(np.ravel, a), lambda a: method("ravel", a),
        lambda a: method("flatten", a), lambda a: method("T", a),
        lambda a: of(np.transpose, a), lambda a: method("transpose", a),
        lambda a: of(np.copy, a), lambda a: method("copy", a),
        lambda a: of(np.asarray, a), lambda a: of(np.asanyarray, a),
        lambda a: of(np.ascontiguousarray, a),
        lambda a: of(np.atleast_1d, a), lambda a: of(np.atleast_2d, a),
    )]  # fmt: skip
    found += [method("mT", x), method("mT", z), method("T", x > 0.5)]
    found += [
        of(np.transpose, z, L((1, 2, 0))),
        method("transpose", z, L(2), L(0), L(-2)),
    ]
    found += [method("transpose", z, L((2, 0, 1))), of(np.transpose, z, axes=(0, 2, 1))]
    found += [
        of(np.transpose, x, L(None)),
        method("transpose", np.arange(6).reshape(2, 3)),
    ]
    found += [of(np.swapaxes, z, L(0), L(-1)), method("swapaxes", x, L(1), L(0))]
    found += [of(np.moveaxis, z, L(0), L(-1)), of(np.moveaxis, z, L(2), L(1))]
    found += [of(np.expand_dims, a, L(i)) for a in (x, y) for i in range(-3, 3)]
    found += [of(np.expand_dims, some(4), axis=0)]
    found += [
        of(np.squeeze, z, L(1)),
        of(np.squeeze, z, axis=(1,)),
        method("squeeze", z, L(-2)),
    ]
    found += [of(np.broadcast_to, 0.3, 4), of(np.broadcast_to, 0.3, (2, 3)),
              of(np.broadcast_to, some(4), (3, 4)), of(np.broadcast_to, some(4), (4,)),
              of(np.broadcast_to, some(3, 1), (2, 3, 4))]  # fmt: skip
    found += [of(np.asarray, x, dtype="float"), method("astype", y, dtype="float64")]
    found += [method("astype", x, L("float")), method("astype", np.arange(3), L("d"))]
    found += [method("astype", x > 0, L(t)) for t in ("int64", "bool", "float64")]
    found += [method("astype", np.arange(3), L(t)) for t in ("int64", "bool")]
    found += [method("astype", x, dtype="bool")]
    found += [
        method("astype", x, L("float64")),
        method("item", some(1)),
        method("item", some(1, 1)),
    ]
    return found


def moving_cases() -> list[Case]:
    x, y = some(3, 4), some(2, 3).T
    found = [of(np.roll, a, s) for a in (x, y, some(5)) for s in (1, -2)]
    found += [
        of(np.roll, a, L(s), axis=i) for a in (x, y) for s in (1, -2) for i in (0, -1)
    ]
    found += [of(np.flip, a) for a in arrays()]
    found += [of(np.sort, a) for a in (some(5), some(8)[::-2], some(0), -some(4))]
    found += [of(np.pad, x, L(w)) for w in (1, 0, (1, 2), ((0, 1), (2, 0)))]
    found += [
        of(np.pad, y, pad_width=1, mode="constant"),
        of(np.pad, some(4), L((2, 0))),
    ]
    found += [
        of(np.flip, x, L(0)),
        of(np.flip, x, axis=-1),
        of(np.flip, x, axis=(0, 1)),
    ]
    found += [of(f, x) for f in (np.flipud, np.fliplr)] + [of(np.flipud, some(4))]
    found += [of(np.diff, a) for a in (*FILLED, some(1), some(0))]
    found += [of(np.diff, a, axis=0) for a in FILLED] + [of(np.diff, x, L(1), L(0))]
    found += [
        of(np.repeat, some(4), 3),
        method("repeat", some(4), L(2)),
        of(np.repeat, some(0), 2),
    ]
    found += [of(np.repeat, a, 2, axis=i) for a in (x, y) for i in (0, 1, -1)]
    found += [of(np.tile, a, 3) for a in (some(4), some(8)[::-2], some(0))]
    found += [of(np.diag, a, L(k)) for a in (some(4), x, y) for k in (0, 1, -1, 2)]
    found += [
        of(np.diag, some(3)),
        of(np.diag, x),
        of(np.diag, y, k=-2),
        of(np.diag, some(0)),
    ]
    found += [
        of(np.diagonal, x),
        of(np.diagonal, x, L(1)),
        method("diagonal", y, offset=-1),
    ]
    found += [of(f, a, L(k)) for f in (np.triu, np.tril) for a in (x, y, some(2, 2, 3))
              for k in (0, 1, -1)] + [of(np.triu, x), of(np.tril, y)]  # fmt: skip
    return found


def joining_cases() -> list[Case]:
    a, b, v, w = some(3, 4), some(2, 4), some(4), some(2)
    found = [
        of(np.concatenate, v, w),
        of(np.concatenate, v),
        of(np.concatenate, a, b, a),
    ]
    found += [of(np.concatenate, a, some(3, 1), axis=i) for i in (1, -1)]
    found += [of(np.concatenate, L((0.0, 1.0)), v), of(np.concatenate, v, L((2,)), w)]
    found += [of(np.concatenate, np.arange(3), v), of(np.concatenate, v, some(0), w)]
    found += [of(np.concatenate, np.arange(3), np.arange(2))]
    found += [of(np.stack, v, v[::-1]), of(np.stack, v, w.repeat(2), v, axis=1)]
    found += [of(np.stack, a, a[::-1], axis=i) for i in range(-3, 3)] + [
        of(np.stack, v)
    ]
    found += [of(np.stack, 0.3, np.float64(0.4), 2, axis=i) for i in (0, -1)]
    found += [of(np.vstack, v, a, v), of(np.vstack, v, v), of(np.vstack, b, v, a)]
    found += [
        of(np.hstack, v, w),
        of(np.hstack, v, 0.3, w, 2),
        of(np.hstack, a, some(3, 2)),
    ]
    found += [of(np.hstack, 0.3, v), of(np.hstack, some(2, 1, 3), some(2, 2, 3))]
    found += [of(np.column_stack, v, v[::-1]), of(np.column_stack, a.T, v, b.T)]
    found += [of(np.append, v, 0.3), of(np.append, v, w), of(np.append, v, 2)]
    found += [
        of(np.array, 0.3),
        of(np.array, 0.3, 0.4, 2),
        of(np.array, np.float64(0.3), 0.4),
    ]
    found += [of(np.array, v, v[::-1]), of(np.array, a, a), of(np.array, 1, 2)]
    found += [of(np.array, L((1.0, 2)), L((3, 4))), of(np.array, L((1, 2)), L((3, 4)))]
    found += [of(np.array, *row, dtype="float") for row in ((1, 2), (1, 0.3), (v, v))]
    found += [of(np.array, L((1, 2)), L((3, 4)), dtype="float")]
    found += [of(np.array, v), of(np.array), of(np.array, np.arange(3), np.arange(3))]
    return found


CASES = [
    *reduction_cases(), *other_cases(), *shape_cases(), *moving_cases(),
    *joining_cases(),
]  # fmt: skip
