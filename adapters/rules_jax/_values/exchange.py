"""NumPy arrays as JAX arrays and back, without copying where that is safe.

JAX computes asynchronously and takes its arrays to be immutable, while whoever gets
them from here may write. So results are waited for, and memory is handed over only if
no array of JAX, be it an argument or one that the function keeps, shares it.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["give", "take", "take_large"]

# Bytes that are copied in the time in which one array is asked for its memory, and
# below which asking does not pay.
_COST = 1 << 13
_LARGE = 1 << 16


def take(x: Any) -> Any:
    """A NumPy array as a JAX array; shared if it is aligned as JAX needs it."""
    if isinstance(x, (np.ndarray, np.generic)):
        small = x.nbytes < _LARGE  # where copying takes less time than sharing
        return jnp.asarray(x) if small else jax.device_put(x, may_alias=True)
    return x


def take_large(x: Any) -> Any:
    """Lend large arrays to a function that takes NumPy arrays by itself.

    What `jax.jit` makes of them has no other reference, so a result that shares the
    memory of an argument could not be told from others. Small results are copied.
    """
    return take(x) if isinstance(x, np.ndarray) and x.nbytes >= _LARGE else x


def give(leaves: list[Any]) -> list[Any]:
    """Results as NumPy arrays without other references; empties the list.

    The caller must still hold the arguments, lest one that is returned be taken for a
    fresh result.
    """
    jax.block_until_ready(leaves)
    given = [_exported(leaves.pop(0)) for _ in range(len(leaves))]
    return [x if x.flags.owndata or _is_unknown(x) else x.copy() for x in given]


def _exported(y: Any) -> Any:
    """The memory of a large array on the CPU; a copy of others."""
    if isinstance(y, jax.Array) and y.nbytes >= _LARGE and _is_on_cpu(y):
        try:
            return np.from_dlpack(y)
        except (BufferError, RuntimeError):  # bfloat16 and similar
            pass
    return np.array(y)


def _is_on_cpu(x: jax.Array) -> bool:
    devices = x.devices()
    return len(devices) == 1 and {device.platform for device in devices} == {"cpu"}


def _is_unknown(x: Any) -> bool:
    """Whether the exported arrays alone refer to the memory."""
    few = len(jax.live_arrays("cpu")) * _COST <= x.nbytes  # else copying is cheaper
    return few and _references(x) == _references_to_fresh()


@cache
def _references_to_fresh() -> list[int]:
    fresh = [np.from_dlpack(jax.device_put(np.zeros(_LARGE, "int8"))) for _ in range(5)]
    return min(map(_references, fresh))  # other threads may be asking too


def _references(x: Any) -> list[int]:
    """To each living array on this memory: the export keeps one alive."""
    where, size = x.__array_interface__["data"][0], x.nbytes
    living = jax.live_arrays("cpu")
    return [sys.getrefcount(y) for y in living if y.nbytes == size and _is_at(y, where)]


def _is_at(x: jax.Array, where: int) -> bool:
    if x.is_deleted() or not _is_on_cpu(x):
        return False
    return bool(x.unsafe_buffer_pointer() == where)
