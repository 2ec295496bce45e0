"""One cotangent or tangent onto the type of its primal, by JAX's abstract values.

The same mathematics as `rc.ProjectTo`, on abstract values, because in a backward pass
the primals are gone; besides shape and dtype it keeps sharding and varying axes.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

import rules_core as rc

from ._compat import weaken
from ._placement import match_placement

__all__ = ["RuleOutputError", "match_weak", "project", "project_host"]


class RuleOutputError(rc.RulesCoreError, TypeError):
    """A rule gave a value that does not fit the function it is for."""


def project(value: Any, aval: Any, what: str) -> Any:
    """`value` in the space of `aval`: dtype, weak type, shape, sharding.

    Real part for a real primal, sums over broadcast axes, axes of length one added or
    dropped.

    Args:
        value: An array or number.
        aval: The primal's abstract value.
        what: Names rule and argument in an error.

    Raises:
        RuleOutputError: It is no array, or its shape cannot be brought to the primal's.
    """
    x = _as_array(value, what)
    if x.shape != aval.shape:
        x = _reshape(x, aval.shape, what)
    if x.dtype != aval.dtype:
        x = _cast(x, aval.dtype, what)
    return match_placement(match_weak(x, aval), aval)


def match_weak(x: Any, aval: Any) -> Any:
    """`x` weakly typed if `aval` is."""
    return weaken(x) if aval.weak_type and not x.weak_type else x


def _as_array(value: Any, what: str) -> Any:
    if isinstance(value, jax.Array):
        return value
    try:
        return jnp.asarray(value)
    except TypeError:
        message = (
            f"{what} must be an array, a number or a zero, but got a value of type "
            f"{type(value).__name__}. Return an array like the primal."
        )
        raise RuleOutputError(message) from None


def _cast(x: Any, dtype: Any, what: str) -> Any:
    if not jnp.issubdtype(x.dtype, jnp.number):
        message = f"{what} has dtype {x.dtype}, but must be one of {dtype}'s space."
        raise RuleOutputError(message)
    if jnp.iscomplexobj(x) and not jnp.issubdtype(dtype, jnp.complexfloating):
        x = x.real
    return x.astype(dtype)


def _reshape(x: Any, shape: tuple[int, ...], what: str) -> Any:
    kept = tuple(n for n in shape if n != 1)
    if tuple(n for n in x.shape if n != 1) == kept:
        return x.reshape(shape)
    extra = x.ndim - len(shape)
    if extra >= 0 and all(
        n in (1, m) for n, m in zip(shape, x.shape[extra:], strict=True)
    ):
        own = x.shape[extra:]
        sums = [extra + i for i, n in enumerate(shape) if n == 1 and own[i] != 1]
        return x.sum(axis=(*range(extra), *sums)).reshape(shape)
    message = (
        f"{what} has shape {x.shape}, but must have the primal's shape {shape} or one "
        "that broadcasting gives it. Return a cotangent like the primal."
    )
    raise RuleOutputError(message)


def project_host(value: Any, primal: Any, what: str) -> Any:
    """The same on NumPy arrays, for rules that run on the host."""
    import numpy as np

    if value is None:
        return np.zeros_like(primal)
    try:
        return np.asarray(rc.ProjectTo(primal)(np.asarray(value)), dtype=primal.dtype)
    except (TypeError, ValueError) as error:
        message = f"{what}: {error}"
        raise RuleOutputError(message) from error
