"""Arguments and results as vectors: leaves, directions, inner products."""

from typing import Any

import numpy as np

from rules_autodiff._python.leaves import inner, leaves, mapped
from rules_autodiff._python.values import INERT, is_float_array, is_number
from rules_autodiff._shadows.slots import Shadow
from rules_core import structure

__all__ = [
    "copy_of",
    "difference",
    "equal",
    "inner",
    "leaves",
    "mapped",
    "moved",
    "random_like",
    "shadowed",
    "unshared",
]


def unshared(x: Any, around: frozenset[int] = frozenset()) -> Any:
    """A value with a separate list, tuple or dict for each occurrence."""
    level = None if type(x) in INERT or callable(x) else structure(x)
    if level is None or level.mutable or id(x) in around:
        return x
    within = around | {id(x)}
    return level.rebuild([unshared(value, within) for value in level.values])


def copy_of(x: Any) -> Any:
    """A deep copy that preserves sharing."""
    return mapped(x, lambda leaf: leaf if is_number(leaf) else leaf.copy(), {})


def random_like(rng: Any, x: Any) -> Any:
    """A random direction: numbers and arrays in the structure of `x`."""

    def draw(leaf: Any) -> Any:
        value = rng.standard_normal(np.shape(leaf))
        if np.iscomplexobj(leaf):
            value = value + 1j * rng.standard_normal(np.shape(leaf))
        if isinstance(leaf, np.ndarray):
            return np.asarray(value, leaf.dtype)
        return type(leaf)(value)

    return mapped(x, draw, {})


def moved(x: Any, direction: Any, step: float) -> Any:
    """`x + step·direction`."""
    steps = iter(leaves(direction, once=True))
    return mapped(x, lambda leaf: step_along(leaf, next(steps), step), {})


def step_along(leaf: Any, direction: Any, step: float) -> Any:
    value = leaf + step * direction
    return value if isinstance(leaf, np.ndarray) else type(leaf)(value)


def difference(f: Any, args: Any, direction: Any, step: float = 1e-3) -> list[Any]:
    """The directional derivative by central differences of order six."""
    weights = ((1, 45.0), (2, -9.0), (3, 1.0))
    total: list[Any] = []
    for count, weight in weights:
        ahead = leaves(f(*moved(args, direction, count * step)))
        behind = leaves(f(*moved(args, direction, -count * step)))
        terms = [
            weight * (np.asarray(p) - np.asarray(m)) / (60 * step)
            for p, m in zip(ahead, behind, strict=True)
        ]
        total = [t + u for t, u in zip(total, terms, strict=True)] if total else terms
    return total


def equal(a: Any, b: Any) -> bool:
    """Whether two values contain equal numbers, bit for bit."""
    one, other = leaves(a), leaves(b)
    return len(one) == len(other) and all(
        np.array_equal(p, q, equal_nan=True) for p, q in zip(one, other, strict=True)
    )


def arrays_in(x: Any, seen: dict[int, Any]) -> list[Any]:
    """The float arrays inside a value, each object once."""
    if id(x) in seen or type(x) in INERT or is_number(x):
        return []
    seen[id(x)] = x
    if isinstance(x, np.ndarray):
        return [x] if is_float_array(x) else []
    level = None if callable(x) else structure(x)
    values = () if level is None else level.values
    return [a for value in values for a in arrays_in(value, seen)]


def shadowed(run: Any, x: Any) -> list[tuple[Any, Any]]:
    """The arrays of a value that have a derivative, each with its shadow."""
    arrays = [a for a in arrays_in(x, {}) if run.array_slot(a) is not None]
    shadows = [s for s in run.shadows.values() if isinstance(s, Shadow)]
    before = [s.data for s in shadows]
    pairs = [(a, run.shadow_of(a)) for a in arrays]
    for shadow, data in zip(shadows, before, strict=True):
        shadow.data = data  # empty: reading it changes nothing
    return pairs
