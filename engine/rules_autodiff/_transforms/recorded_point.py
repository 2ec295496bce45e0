"""The point at which a linear map is recorded, and the check of its linearity.

A linear map has one derivative everywhere, but its code may treat zeros, equal entries
or ones specially. So its derivative is taken at generic numbers.
"""

from itertools import count
from typing import Any

import numpy as np

from rules_autodiff._python.leaves import leaves, mapped
from rules_core import UnsupportedError, materialise

__all__ = ["check_adjoint", "generic_like", "nonlinear"]

# Multiples of irrational numbers modulo one are uniformly distributed and never repeat.
GOLDEN, PLASTIC = 0.6180339887498949, 0.7548776662466927
# The allowed difference of the two sides of an adjoint: recorded solvers stop early.
TOLERANCE = 1e-3
PARTS = {"rrule": ("a pullback", "an frule"), "frule": ("a tangent", "an rrule")}

Triple = tuple[Any, Any, Any]


def generic_like(x: Any) -> Any:
    """Numbers of size one without pattern, in the structure of a tangent."""
    places = count(1)

    def draw(leaf: Any) -> Any:
        size = np.size(leaf)
        value = numbers([next(places) for _ in range(size)])
        if np.iscomplexobj(leaf):
            value = value + 1j * numbers([next(places) for _ in range(size)])
        if isinstance(leaf, np.ndarray):
            return value.reshape(leaf.shape).astype(leaf.dtype)
        return type(leaf)(value[0])

    return mapped(x, draw, {})


def numbers(places: list[int]) -> Any:
    """Between 0.5 and 1.5 in size, of either sign."""
    k = np.array(places, float)
    return (0.5 + k * GOLDEN % 1.0) * np.where(k * PLASTIC % 1.0 < 0.5, -1.0, 1.0)


def check_adjoint(whose: str, one: list[Triple], other: list[Triple]) -> bool:
    """Raise an error for a map that was not linear: `⟨A x, y⟩` is not `⟨x, Aᵀ y⟩`.

    The check decides nothing for zeros and infinite values, nor for instances that one
    of the two tangents has once and the other in each place.

    Args:
        whose: The name of the map in the error, and the remedy.
        one: Primals with two tangents of each, whose products make one side.
        other: Those of the other side.

    Returns:
        Whether it decided.

    Raises:
        UnsupportedError: The sides differ.
    """
    with np.errstate(all="ignore"):
        left, right = terms(one), terms(other)
        if left is None or right is None:
            return False
        size = sum(np.sum(np.abs(term)) for term in left + right)
        gap = abs(sum(map(np.sum, left)) - sum(map(np.sum, right)))
    if gap > TOLERANCE * size:
        raise UnsupportedError(whose)
    return bool(np.isfinite(gap) and size > 0)


def terms(triples: list[Triple]) -> list[Any] | None:
    """The real products of all pairs of numbers; None if they do not match."""
    products = []
    for x, *pair in triples:
        a, b = (leaves(materialise(x, dx)) for dx in pair)
        if len(a) != len(b):
            return None
        products += [np.real(np.conj(p) * q) for p, q in zip(a, b, strict=True)]
    return products


def nonlinear(rule: Any) -> str:
    """The error text for a rule whose map is not linear."""
    part, other = PARTS[rule.kind]
    return (
        f"{rule.label} must have "
        f"{part} that is linear, for the other mode is derived from it, but its "
        f"derivative is another map. Define {other} for {rule.target} too."
    )
