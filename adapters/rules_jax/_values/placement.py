"""Devices of arrays, and the shardings that types carry on explicit meshes.

A callback knows no sharding. Its result takes the sharding of its arguments where it is
elementwise, else it is whole on every device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding

from rules_jax import _compat
from rules_jax._compat import has_explicit_mesh

from .exchange import take

__all__ = ["aligned_spec", "gathered", "match_placement", "resharded", "to_device"]


def match_placement(x: Any, aval: Any) -> Any:
    """`x` with the varying axes and the sharding that `aval` has."""
    return resharded(_compat.match_varying(x, aval), aval)


def resharded(x: Any, aval: Any) -> Any:
    """`x` with the sharding of `aval`, where that is part of the type."""
    if not has_explicit_mesh(aval) or jax.typeof(x).sharding.spec == aval.sharding.spec:
        return x
    return jax.sharding.reshard(x, aval.sharding)


def gathered(x: Any) -> Any:
    """`x` whole on every device, where its sharding is part of its type."""
    aval = jax.typeof(x)
    if not has_explicit_mesh(aval):
        return x
    whole = jax.sharding.PartitionSpec(*[None] * x.ndim)
    return resharded(x, aval.update(sharding=aval.sharding.update(spec=whole)))


def aligned_spec(shape: tuple[int, ...], avals: Sequence[Any]) -> list[Any]:
    """How a broadcast result is spread: each axis as the first argument that has it."""
    spec: list[Any] = [None] * len(shape)
    for aval in avals:
        pairs = zip(reversed(aval.shape), reversed(aval.sharding.spec), strict=True)
        for i, (length, names) in enumerate(pairs, start=1):
            fits = length == shape[-i] and spec[-i] is None
            if fits and names is not None and names not in spec:
                spec[-i] = names
    return spec


def to_device(
    result: Any, arrays: Sequence[Any], aval: Any = None, *, owned: bool = False
) -> Any:
    """A host result as a JAX array, placed as its type says or like an argument.

    A copy, because the function may keep its buffer, unless the result is owned.

    Args:
        result: A NumPy array.
        arrays: The arguments of the call.
        aval: Its type, where that carries a sharding.
        owned: Whether the result alone refers to its memory.
    """
    sharding = _sharding(result, arrays, aval)
    if sharding is not None:
        return jax.device_put(np.array(result), sharding)
    return take(result) if owned else jnp.array(result)


def _sharding(result: Any, arrays: Sequence[Any], aval: Any) -> Any:
    if aval is not None and has_explicit_mesh(aval):
        like = next(x for x in arrays if has_explicit_mesh(jax.typeof(x)))
        return NamedSharding(like.sharding.mesh, aval.sharding.spec)
    same = (x for x in arrays if isinstance(x, jax.Array) and x.shape == result.shape)
    like = next(same, None)
    if like is None or like.sharding.device_set == {_default_device()}:
        return None
    return like.sharding


def _default_device() -> Any:
    return jax.config.jax_default_device or jax.local_devices()[0]
