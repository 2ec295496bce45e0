"""One cotangent or tangent onto the type of its primal, by JAX's abstract values.

The same mathematics as `rc.ProjectTo`, on abstract values, because in a backward pass
the primals are gone; besides shape and dtype it keeps sharding and varying axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import rules_core as rc
from rules_core.extend import same_without_ones, summed_axes
from rules_jax._compat import weaken

from .placement import match_placement

__all__ = ["RuleOutputError", "match_weak", "project", "project_host"]


class RuleOutputError(rc.RulesCoreError, TypeError):
    """A rule gave a value that does not fit the function it is for."""

    __module__ = "rules_jax"


def project(value: Any, aval: Any, what: str, *, tangent: bool = False) -> Any:
    """`value` in the space of `aval`: dtype, weak type, shape, sharding.

    Real part for a real primal, axes of length one added or dropped, and sums over
    broadcast axes: that is what broadcasting does to a cotangent, but not to a tangent.

    Args:
        value: An array or number.
        aval: The primal's abstract value.
        what: Names rule and argument in an error.
        tangent: Whether it is a tangent, not a cotangent.

    Raises:
        RuleOutputError: It is no array, or its shape cannot be brought to the primal's.
    """
    x = _fit(_array_of(value, jnp.asarray, aval, what), aval, what, tangent)
    return match_placement(match_weak(x, aval), aval)


def project_host(value: Any, primal: Any, what: str, *, tangent: bool = False) -> Any:
    """Project NumPy arrays, for rules that run on the host; None is zero."""
    if value is None:
        return np.zeros_like(primal)
    x = _fit(_array_of(value, np.asarray, primal, what), primal, what, tangent)
    return np.asarray(x)


def match_weak(x: Any, aval: Any) -> Any:
    """`x` weakly typed if `aval` is."""
    return weaken(x) if aval.weak_type and not x.weak_type else x


def _array_of(value: Any, asarray: Callable[[Any], Any], like: Any, what: str) -> Any:
    """A value that a rule gave as an array; integers of arrays are no derivative."""
    x = _as_array(value, asarray, what)
    whole = jnp.issubdtype(x.dtype, jnp.integer) or x.dtype == bool
    number = isinstance(value, int) and not isinstance(value, bool)
    if not whole or number or not jnp.issubdtype(like.dtype, jnp.inexact):
        return x
    message = (
        f"{what} has dtype {x.dtype}, but must be floating or complex, as its primal "
        f"of dtype {like.dtype}: integers carry no derivative. Convert it in the rule, "
        "or return ZeroTangent() for zeros."
    )
    raise RuleOutputError(message)


def _as_array(value: Any, asarray: Callable[[Any], Any], what: str) -> Any:
    if isinstance(value, jax.Array):
        return value
    try:
        if not isinstance(value, (str, tuple, list)):
            return asarray(value)
    except TypeError:
        pass
    message = (
        f"{what} must be an array, a number or a zero, but got a value of type "
        f"{type(value).__name__}. Return an array like the primal."
    )
    raise RuleOutputError(message)


def _fit(x: Any, like: Any, what: str, tangent: bool) -> Any:
    if x.shape != like.shape:
        x = _reshape(x, like.shape, what, tangent)
    return x if x.dtype == like.dtype else _cast(x, like.dtype, what)


def _cast(x: Any, dtype: Any, what: str) -> Any:
    if not jnp.issubdtype(x.dtype, jnp.number):
        message = (
            f"{what} has dtype {x.dtype}, but must have numbers like its primal's "
            f"{dtype}. Return an array like the primal."
        )
        raise RuleOutputError(message)
    if jnp.iscomplexobj(x) and not jnp.issubdtype(dtype, jnp.complexfloating):
        x = x.real
    return x.astype(dtype)


def _reshape(x: Any, shape: tuple[int, ...], what: str, tangent: bool) -> Any:
    if same_without_ones(x.shape, shape):
        return x.reshape(shape)
    axes = None if tangent else summed_axes(x.shape, shape)
    if axes is not None:
        return x.sum(axis=axes).reshape(shape)
    others = "" if tangent else " or one that broadcasting gives it"
    message = (
        f"{what} has shape {x.shape}, but must have the primal's shape {shape}{others}."
        " Return an array like the primal."
    )
    raise RuleOutputError(message)
