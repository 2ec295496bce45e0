"""Results of primitives as flat lists of arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

import rules_core as rc
from rules_jax._errors import REGISTER
from rules_jax._values.callables import hides
from rules_jax._values.leaves import Fixed, Template, split

__all__ = ["flat_results"]


def flat_results(y: Any, name: str) -> tuple[list[Any], Template]:
    """Arrays of a result of a primitive; numbers are arrays here.

    Raises:
        UnsupportedError: An array is where JAX does not see it.
    """

    def as_result(leaf: Any) -> Any:
        if isinstance(leaf, (bool, int, float, complex, rc.Array)):
            return jnp.asarray(leaf)
        if hides(leaf, jax.core.Tracer):
            raise rc.UnsupportedError(_hidden_text(name, type(leaf).__qualname__))
        return Fixed(leaf)

    return split(jax.tree.map(as_result, y))


def _hidden_text(name: str, cls: str) -> str:
    return (
        f"{name} must return its arrays where JAX sees them, but got some in a value "
        f"of type {cls}, which JAX takes for a constant, so that their derivative "
        f"would be lost. {REGISTER}, or return the arrays themselves."
    )
