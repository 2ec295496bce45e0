"""Results of primitives as flat lists of arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import tree_util

import rules_core as rc
from rules_jax._errors import REGISTER
from rules_jax._values.callables import hides
from rules_jax._values.leaves import Fixed, Template, split

__all__ = ["flat_results"]

_NUMBERS = (bool, int, float, complex)


def flat_results(
    y: Any, name: str, like: Template | None = None
) -> tuple[list[Any], Template]:
    """Arrays of a result of a primitive; numbers are arrays here.

    Args:
        y: The result.
        name: The primitive's name, for messages.
        like: The result as a shape rule describes it: its numbers are constants.

    Raises:
        UnsupportedError: An array is where JAX does not see it.
    """

    def as_result(leaf: Any, place: Any = None) -> Any:
        if isinstance(leaf, _NUMBERS) and isinstance(place, Fixed):
            return Fixed(leaf)
        if isinstance(leaf, (*_NUMBERS, rc.Array)):
            return jnp.asarray(leaf)
        if hides(leaf, jax.core.Tracer):
            raise rc.UnsupportedError(_hidden_text(name, type(leaf).__qualname__))
        return Fixed(leaf)

    leaves, treedef = tree_util.tree_flatten(y)
    places: list[Any] = [None] * len(leaves)
    if like is not None and len(like.leaves) == len(leaves):
        places = list(like.leaves)
    return split(treedef.unflatten(map(as_result, leaves, places)))


def _hidden_text(name: str, cls: str) -> str:
    return (
        f"{name} must return its arrays where JAX sees them, but got some in a value "
        f"of type {cls}, which JAX takes for a constant, so that their derivative "
        f"would be lost. {REGISTER}, or return the arrays themselves."
    )
