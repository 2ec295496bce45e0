"""Products, systems of equations, and functions without a derivative."""

import math
from typing import Any

import numpy as np

from tests.engine.straight.cases_elementwise import some
from tests.engine.straight.written import Case, Literal, method, of, operator

__all__ = ["CASES"]

L = Literal


def products() -> list[Any]:
    """Operands of `@` of up to two axes."""
    a, b, v, w = some(3, 4), some(4, 2), some(4), some(3)
    return [
        (v, v[::-1]), (a, v), (w, a), (a, b), (a.T, w), (v, a.T), (some(8)[::2], b),
        (b.T, a.T), (a[:, ::2], some(2)), (some(1, 4), b), (a, some(4, 1)),
        (some(3, 1), some(1, 4)), (some(0), some(0)), (some(3, 0), some(0, 2)),
        (some(0, 3), some(3)), (np.arange(4), b), (a, np.arange(4)), (a, a.T),
    ]  # fmt: skip


def stacks() -> list[Any]:
    return [
        (some(2, 3, 4), some(2, 4, 2)), (some(2, 3, 4), some(4, 2)),
        (some(3, 4), some(2, 4, 2)), (some(2, 3, 4), some(4)), (some(3), some(2, 3, 4)),
        (some(2, 1, 3, 4), some(5, 4, 2)), (some(1, 3, 4), some(2, 4, 2)),
    ]  # fmt: skip


def linear_cases() -> list[Case]:
    found = [operator("matmul", *pair) for pair in (*products(), *stacks())]
    found += [of(np.matmul, *pair) for pair in (*products(), *stacks())]
    found += [of(np.dot, *pair) for pair in products()]
    found += [method("dot", *pair) for pair in products()]
    found += [
        of(np.dot, some(3, 4), 0.3),
        of(np.dot, 0.3, some(4)),
        of(np.dot, 2, some(4)),
    ]
    found += [of(np.vdot, x, y) for x, y in products() if x.ndim == y.ndim == 1]
    found += [
        of(np.vdot, some(3, 4), some(3, 4)[::-1]),
        of(np.vdot, some(3, 2), some(2, 3).T),
    ]
    found += [of(np.vdot, some(6), some(2, 3))]
    found += [of(np.inner, x, y) for x, y in (
        (some(4), some(8)[::2]), (some(3, 4), some(4)), (some(4), some(3, 4)),
        (some(3, 4), some(2, 4)), (some(4, 3).T, np.arange(8).reshape(2, 4))
    )]  # fmt: skip
    found += [
        of(np.outer, some(3), x) for x in (some(8)[::2], np.arange(1, 4), some(0))
    ]
    found += [of(np.kron, some(3), some(2)), of(np.kron, some(3, 2), some(2, 4)),
              of(np.kron, some(2, 3).T, some(4, 2).T)]  # fmt: skip
    return found


def einsum_cases() -> list[Case]:
    a, b, v, w = some(3, 4), some(4, 2), some(4), some(3)
    calls = {
        "ij,jk->ik": (a, b), "ij,j->i": (a, v), "i,j->ij": (w, v), "ij,ij->": (a, a),
        "i,ij,j->": (w, a, v), "ij->ji": (a,), "ij, jk -> ki": (a, b), "i,i->i": (v, v),
        "ij,kj->ik": (a, some(2, 4)), "bij,bjk->bik": (some(2, 3, 4), some(2, 4, 2)),
        "ij,i->ij": (a, w), "ij,j->ij": (a, v), "ab,ab->a": (a, a),
    }  # fmt: skip
    return [of(np.einsum, L(text), *operands) for text, operands in calls.items()]


def system_cases() -> list[Case]:
    well = some(3, 3) + 2.0 * np.eye(3)
    positive = well @ well.T
    wide = some(70, 3) @ some(70, 3).T + 3.0 * np.eye(70)
    found = [of(np.linalg.solve, well, b) for b in (some(3), some(3, 2), some(2, 3).T)]
    found += [
        of(f, m)
        for f in (np.linalg.inv, np.linalg.det)
        for m in (well, well.T, positive)
    ]
    return [
        *found,
        of(np.linalg.cholesky, positive),
        of(np.linalg.cholesky, wide),
        of(np.linalg.det, some(1, 1)),
    ]


ASKED = (
    np.shape, np.size, np.ndim, len, np.any, np.all, np.argmax, np.argmin,
    np.count_nonzero, np.argsort,
)  # fmt: skip
METHODS = ("shape", "size", "ndim", "any", "all", "argmax", "argmin", "argsort")


def constant_cases() -> list[Case]:
    x, v, mask = some(3, 4), some(4), some(3, 4) > 0.5
    found = [
        of(f, s) for f in (np.zeros, np.ones) for s in (3, (2, 3), L((4,)), np.int64(2))
    ]
    found += [
        of(f, s, dtype=t) for f in (np.zeros, np.ones) for t in ("bool", "int64")
        for s in (3, (2, 3))
    ]  # fmt: skip
    found += [of(f, 3, dtype="float") for f in (np.zeros, np.ones, np.eye, np.arange)]
    found += [of(np.full, 3, value, dtype="d") for value in (2, 0.5)]
    found += [of(f, a) for f in (np.zeros_like, np.ones_like) for a in (x, v)]
    found += [of(np.eye, 3), of(np.eye, 3, 4), of(np.eye, 3, 3, 1), of(np.identity, 3)]
    found += [of(np.full, s, value) for s in (3, (2, 3), (0,)) for value in (0.3, 2)]
    found += [
        of(np.full, 3, np.float64(0.3)),
        of(np.full_like, x, 0.3),
        of(np.full_like, x, 2),
    ]
    found += [
        of(np.arange, 4),
        of(np.arange, 1, 7, 2),
        of(np.arange, L(0.0), L(1.0), L(0.3)),
    ]
    found += [
        of(np.searchsorted, np.arange(5), s, side=k)
        for s in (2, 2.0, np.arange(3))
        for k in ("left", "right")
    ]
    found += [of(np.searchsorted, some(1), 0.5)]
    found += [of(np.linspace, 0.3, 0.9, n) for n in (5, 1, 0, 2)]
    found += [
        of(np.linspace, 0, 0.9, 5),
        of(np.linspace, 0.3, 2, num=7),
        of(np.linspace, 0, 1, 4),
    ]
    found += [of(np.linspace, 0.3, 0.9)]
    for a in (x, v, mask, np.arange(3)):
        found += [of(f, a) for f in ASKED] + [method(name, a) for name in METHODS]
        found += [of(np.argmin, a, axis=-1), method("argmax", a, L(0))]
    asked = (np.isfinite, np.isnan, np.isinf, np.signbit)
    found += [of(f, a) for f in asked for a in (x, 0.3, np.nan, np.inf)]
    found += [
        of(f, a)
        for f in (math.isfinite, math.isnan, math.isinf)
        for a in (0.3, np.inf, 2)
    ]
    found += [
        of(f, x, a)
        for f in (np.isclose, np.allclose, np.array_equal)
        for a in (x, v, 0.3)
    ]
    return [*found, of(np.isclose, 0.3, 0.3, rtol=1e-3), of(len, (1, 2))]


CASES = [*linear_cases(), *einsum_cases(), *system_cases(), *constant_cases()]
