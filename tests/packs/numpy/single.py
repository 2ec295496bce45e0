"""Every call that the tests check, again in single precision: prints what changes.

The result of the rule has the dtype that the function gives it; the cotangents are in
single precision, and within rounding those of the calls in double precision.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import rules_core as rc
from tests.packs.numpy.recorder import recorded

HALF = {np.dtype("f8"): np.dtype("f4"), np.dtype("c16"): np.dtype("c8")}


def narrow(x: Any) -> Any:
    """Arrays and NumPy scalars in single precision."""
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype in HALF:
        return x.astype(HALF[x.dtype])
    if type(x) in (list, tuple):
        return type(x)(map(narrow, x))
    return x


def leaves(x: Any) -> Iterator[Any]:
    """The float arrays and numbers of a value or tangent."""
    if isinstance(x, (np.ndarray, np.generic)):
        if x.dtype.kind in "fc":
            yield x
    elif isinstance(x, (float, complex)):
        yield x
    elif isinstance(x, (list, tuple, rc.Tangent)):
        for part in x:
            yield from leaves(part)


def seeded(y: Any) -> Any:
    """A cotangent of a result, the same in either precision."""
    if isinstance(y, (list, tuple)):
        return rc.Tangent(type(y), *map(seeded, y))
    if not rc.is_array(y) or y.dtype.kind not in "fc":
        return rc.NoTangent() if not isinstance(y, float) else 0.7
    seed = np.cos(np.arange(np.size(y)) + 1.0).reshape(np.shape(y))
    return seed.astype(y.dtype)[()]


def kind(x: Any) -> str:
    return str(np.asarray(x).dtype)


def cotangents(f: Any, args: Any, answer: Any) -> Any:
    """Those of the arguments."""
    return answer[1 : 1 + len(args)]


def difference(f: Any, args: Any, kw: Any) -> str | None:
    """What is wrong in single precision."""
    small = narrow(args)
    plain = f(*small, **kw)
    y, pullback = rc.rrule(f, *small, **kw)
    own, found = list(leaves(plain)), list(leaves(y))
    if list(map(kind, own)) != list(map(kind, found)):
        return f"value {list(map(kind, found))}"
    answer = cotangents(f, args, pullback(seeded(y)))
    for x, dx in zip(small, answer, strict=True):
        if type(x) is not tuple and isinstance(dx, rc.NotImplementedTangent):
            return "cotangent not implemented"  # the tester counts that as an answer
        for leaf, dleaf in zip(leaves(x), leaves(dx), strict=False):  # zeros are none
            if rc.is_array(leaf) and kind(leaf) != kind(dleaf):
                return f"cotangent {kind(dleaf)} of {kind(leaf)}"
    big, pull = rc.rrule(f, *args, **kw)
    if list(map(np.shape, leaves(big))) != list(map(np.shape, leaves(y))):
        return None  # polydiv strips what is zero within rounding
    wide = cotangents(f, args, pull(seeded(big)))
    pairs = zip(leaves(wide), leaves(answer), strict=True)
    for exact, rounded in pairs:
        scale = 1.0 + np.max(np.abs(exact), initial=0.0)
        if not np.all(np.abs(exact - rounded) < 2e-3 * scale):
            return f"derivative off by {np.max(np.abs(exact - rounded))}"
    return None


def report() -> list[str]:
    """One line for each call that changes."""
    found: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for f, args, kw in recorded("quick").cases:
            if list(leaves(narrow(args))):
                problem = difference(f, args, kw)
                if problem:
                    found.append(
                        f"{f}{[type(a).__name__ for a in args]}{kw}: {problem}"
                    )
    return found


if __name__ == "__main__":
    print("changed:", *report(), sep="\n")
