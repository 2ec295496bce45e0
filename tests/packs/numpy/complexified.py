"""Every call that the tests check, again with complex arguments: prints what is wrong.

The pullback against central differences, along one direction, where the function takes
complex numbers at all.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import rules_core as rc
from tests.packs.numpy.recorder import recorded
from tests.packs.numpy.single import cotangents, leaves, seeded

# Functions whose value at complex arguments differences cannot follow.
LEFT_OUT = {
    "unique_values": "the order of complex values is that of a hash",
    "interp": "only its values may be complex, which its own tests are",
    "histogram": "edges have no order among complex numbers",
    "histogram2d": "edges have no order among complex numbers",
    "histogramdd": "edges have no order among complex numbers",
    "histogram_bin_edges": "edges have no order among complex numbers",
}


def widened(x: Any) -> Any:
    """Floats as complex numbers nearby; float32 is left out, being too coarse."""
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype == np.float64:
        turn = 0.3j * np.cos(np.arange(x.size) + x.size).reshape(x.shape)
        return np.add(x, turn)[()]
    if type(x) is float:
        return complex(x, 0.21)
    if type(x) in (list, tuple):
        return type(x)(map(widened, x))
    return x


def direction(x: Any) -> Any:
    """A tangent, the same at every call."""
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fc":
        steps = np.arange(x.size)
        real, imag = np.sin(1.7 * steps + 0.3), np.cos(0.9 * steps)
        found = real + 1j * imag if x.dtype.kind == "c" else real
        return found.reshape(x.shape)[()]
    if isinstance(x, (float, complex)):
        return 0.4 if isinstance(x, float) else 0.4 - 0.3j
    if type(x) in (list, tuple):
        return type(x)(map(direction, x))
    return None


def moved(x: Any, dx: Any, h: float) -> Any:
    """x + h dx, leaf by leaf."""
    if dx is None:
        return x
    if type(x) in (list, tuple):
        return type(x)(moved(a, b, h) for a, b in zip(x, dx, strict=True))
    return x + h * dx


def flat(x: Any) -> Any:
    """All numbers of a value in one vector."""
    return np.concatenate([np.ravel(leaf) for leaf in leaves(x)] or [np.zeros(0)])


def inner(x: Any, y: Any) -> float:
    """Re ⟨x, y⟩; zero where either has no tangent."""
    if y is None or isinstance(x, rc.AbstractZero):
        return 0.0
    if isinstance(y, (list, tuple)):
        return sum(inner(a, b) for a, b in zip(x, y, strict=True))
    return float(np.sum(np.real(np.conjugate(x) * y)))


def coarse(x: Any) -> bool:
    return any(np.asarray(leaf).dtype.itemsize < 8 for leaf in leaves(x)) or any(
        np.asarray(leaf).dtype == np.complex64 for leaf in leaves(x)
    )


def mistake(f: Any, args: Any, kw: Any) -> str | None:
    """What is wrong; a refusal is not."""
    y, pullback = rc.rrule(f, *args, **kw)
    if coarse(y):
        return None
    dx, h, seed = direction(args), 1e-6, seeded(y)
    ends = (flat(f(*moved(args, dx, s * h), **kw)) for s in (1.0, -1.0))
    exact = inner(flat(seed), next(ends) - next(ends)) / (2 * h)
    answer = cotangents(f, args, pullback(seed))
    if any(isinstance(d, rc.NotImplementedTangent) for d in answer):
        return None
    found = sum(inner(d, t) for d, t in zip(answer, dx, strict=True))
    if abs(exact - found) < 1e-4 * (1.0 + abs(exact)):
        return None
    return f"{found} must be {exact}"


def report() -> list[str]:
    """One line for each call that is wrong, and their number."""
    found, looked = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for f, args, kw in recorded("quick").cases:
            wide = widened(args)
            if flat(wide).dtype.kind != "c" or coarse(args) or f.__name__ in LEFT_OUT:
                continue
            try:
                f(*wide, **kw)
            except (TypeError, ValueError, NotImplementedError):
                continue  # it takes no complex numbers
            looked += 1
            try:
                problem = mistake(f, wide, kw)
            except rc.UnsupportedError:
                continue
            if problem:
                found.append(f"{f.__name__}{kw}: {problem}")
    return [*found, f"{looked} calls"]


if __name__ == "__main__":
    print("mistakes:", *report(), sep="\n")
