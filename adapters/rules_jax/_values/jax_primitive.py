"""Registers a primitive with JAX; its rules see JAX arrays, whatever the caller gave.

JAX hands on NumPy arrays and Python numbers as they came. In the namespace of NumPy an
author's rule, or one derived from it, would take them for constants and silently lose a
tangent. So every value is converted where JAX enters this package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rules_jax import _compat

__all__ = ["as_array", "as_arrays", "register"]

_DATA = (np.ndarray, np.generic, bool, int, float, complex)


def as_array(x: Any) -> Any:
    """Data as a JAX array; symbolic zeros, float0 and unknown operands as they are."""
    if isinstance(x, jax.Array):
        return x
    if isinstance(x, _DATA):
        return x if getattr(x, "dtype", None) == jax.dtypes.float0 else jnp.asarray(x)
    return jnp.asarray(x) if type(x).__name__ == "TypedNdArray" else x


def as_arrays(values: Iterable[Any]) -> list[Any]:
    """Each of the values as a JAX array."""
    return [as_array(x) for x in values]


def register(
    primitive: Any,
    *,
    impl: Callable[..., Any],
    jvp: Callable[..., Any],
    transpose: Callable[..., Any],
    batch: Callable[..., Any],
    linearize: Callable[..., Any] | None = None,
) -> None:
    """Give a primitive its rules, each in JAX's own signature."""

    def on_impl(*operands: Any, **params: Any) -> Any:
        return impl(*as_arrays(operands), **params)

    def on_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        return jvp(as_arrays(primals), as_arrays(tangents), **params)

    def on_transpose(cotangents: Any, *operands: Any, **params: Any) -> Any:
        return transpose(as_arrays(cotangents), *as_arrays(operands), **params)

    def on_batch(axis: Any, operands: Any, dims: Any, **params: Any) -> Any:
        return batch(axis, as_arrays(operands), dims, **params)

    primitive.def_impl(on_impl)
    _compat.set_derivatives(primitive, jvp=on_jvp, transpose=on_transpose)
    _compat.fancy_batcher(primitive, on_batch)
    if linearize is not None:
        _compat.set_linearization(primitive, _on_linearize(linearize))


def _on_linearize(linearize: Callable[..., Any]) -> Callable[..., Any]:
    def on_linearize(reverse: bool, nonzero: Any, *primals: Any, **params: Any) -> Any:
        return linearize(reverse, nonzero, *as_arrays(primals), **params)

    return on_linearize
