"""Arguments and results as vectors: leaves, directions, inner products."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rules_autodiff._python.leaves import inner, leaves, mapped
from rules_autodiff._python.values import INERT, is_float_array, is_number
from rules_autodiff._shadows.slots import Shadow
from rules_core import structure
from rules_core.testing import differentiate

__all__ = [
    "Slope",
    "copy_of",
    "equal",
    "in_proportion",
    "inner",
    "largest",
    "leaves",
    "magnitudes",
    "mapped",
    "moved",
    "near_slopes",
    "parts_of",
    "random_like",
    "shadowed",
    "slopes",
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
        return in_class_of(leaf, value)

    return mapped(x, draw, {})


def in_class_of(leaf: Any, value: Any) -> Any:
    """A value with the class and dtype of a leaf."""
    if isinstance(leaf, np.ndarray):
        return np.asarray(value, leaf.dtype)
    return type(leaf)(value)


def size_of(leaf: Any) -> float:
    """The largest magnitude in a leaf; 1 where all is zero, infinite or NaN."""
    return largest(leaf) or 1.0


def largest(x: Any) -> float:
    """The largest finite magnitude; 0 where there is none."""
    sizes = np.abs(np.asarray(x))
    return float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))


def in_proportion(direction: Any, x: Any) -> Any:
    """A direction in which each leaf of `x` moves in proportion to its size."""
    sizes = iter([size_of(leaf) for leaf in leaves(x, once=True)])
    return mapped(direction, lambda d: in_class_of(d, next(sizes) * d), {})


def moved(x: Any, direction: Any, step: float) -> Any:
    """`x + step·direction`."""
    steps = iter(leaves(direction, once=True))
    return mapped(x, lambda leaf: step_along(leaf, next(steps), step), {})


def step_along(leaf: Any, direction: Any, step: float) -> Any:
    value = leaf + step * direction
    return value if isinstance(leaf, np.ndarray) else type(leaf)(value)


@dataclass(frozen=True)
class Slope:
    """The derivative of a leaf along a direction, by differences, and its error.

    Attributes:
        value: The derivative, in the shape of the leaf; NaN without convergence.
        error: A bound of its error; infinite without convergence.
    """

    value: Any
    error: Any


def slopes(f: Any, args: Any, direction: Any) -> list[Slope]:
    """The derivative of each leaf of `f(*args)` along a direction."""
    ends = [np.asarray(leaf) for leaf in leaves(f(*copy_of(args)))]
    size = flat(ends).size

    def curve(t: float) -> Any:
        entries = flat(leaves(f(*moved(args, direction, t))))
        if entries.size != size:  # as outside of the domain: a shorter step may do
            message = f"{entries.size} numbers in place of {size}"
            raise ValueError(message)
        return entries

    estimate = differentiate(curve)
    values = np.broadcast_to(estimate.value, size)
    errors = np.broadcast_to(estimate.error, size)
    return [
        Slope(value, np.real(error) + np.imag(error))
        for value, error in zip(shaped(values, ends), shaped(errors, ends), strict=True)
    ]


def near_slopes(f: Any, args: Any, direction: Any, step: float) -> list[Slope]:
    """`slopes` by short steps of one size, of order six.

    They see what rounds its argument, to two decimals for instance: over longer ways it
    looks like a line with noise.
    """
    weights = ((1, 45.0), (2, -9.0), (3, 1.0))
    total: list[Any] = []
    for count, weight in weights:
        with np.errstate(all="ignore"):
            ahead = leaves(f(*moved(args, direction, count * step)))
            behind = leaves(f(*moved(args, direction, -count * step)))
        terms = [
            weight * (np.asarray(p) - np.asarray(m)) / (60 * step)
            for p, m in zip(ahead, behind, strict=True)
        ]
        total = [t + u for t, u in zip(total, terms, strict=True)] if total else terms
    return [Slope(value, np.zeros(value.shape)) for value in total]


def flat(values: list[Any]) -> Any:
    """All entries in one vector of real numbers."""
    parts = [np.ravel(np.asarray(value)) for value in values]
    reals = [x.view(x.real.dtype) if np.iscomplexobj(x) else x for x in parts]
    return np.concatenate([np.zeros(0), *reals])


def shaped(entries: Any, like: list[Any]) -> list[Any]:
    """The arrays whose `flat` is `entries`."""
    found = []
    for leaf in like:
        width = leaf.size * (2 if np.iscomplexobj(leaf) else 1)
        part, entries = entries[:width], entries[width:]
        whole = part[::2] + 1j * part[1::2] if np.iscomplexobj(leaf) else part
        found.append(whole.reshape(leaf.shape))
    return found


def magnitudes(a: Any, b: Any) -> float:
    """`Σ |aᵢ| |bᵢ|`: the size of the terms of an inner product."""
    pairs = zip(leaves(a), leaves(b), strict=True)
    return float(sum(np.sum(np.abs(one) * np.abs(other)) for one, other in pairs))


def scales_of(x: Any) -> list[int]:
    """For each leaf, the power of a thousand of its size."""
    return [round(np.log10(size_of(leaf)) / 3) for leaf in leaves(x, once=True)]


def parts_of(direction: Any, x: Any) -> list[Any]:
    """A direction, and where leaves differ much in size those of each size alone."""
    scales = scales_of(x)
    alone = sorted(set(scales)) if len(set(scales)) > 1 else []

    def only(scale: int) -> Any:
        kept = iter([float(own == scale) for own in scales])
        return mapped(direction, lambda d: in_class_of(d, next(kept) * d), {})

    return [direction, *map(only, alone)]


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
