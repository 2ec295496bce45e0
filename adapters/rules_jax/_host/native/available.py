"""The handler if native calls work here: both interfaces are checked before use.

A known function is computed by NumPy's loop alone, and from a program that XLA
compiled.
"""

from __future__ import annotations

import ctypes
import logging
import os
import threading
from typing import Any

import jax
import numpy as np

from .library import PATH, Buffer, Library, SwitchedOff, register
from .ufunc_loops import loop_of_ufunc

__all__ = ["library"]

SWITCH = "RULES_JAX_NATIVE"
_LOG = logging.getLogger("rules_jax")

_LOCK = threading.Lock()
_FOUND: list[Library | str] = []


def library() -> Library | str:
    """The handler if native calls work here, else why not."""
    if not _FOUND:
        with _LOCK:
            if not _FOUND:
                _FOUND.append(_load())
    return _FOUND[0]


def _load() -> Library | str:
    if os.environ.get(SWITCH, "1") == "0":
        return f"{SWITCH}=0 switches native calls off"
    if not PATH.exists():
        return (
            "rules-core was installed without a C compiler, so its handler of native "
            "calls was not built"
        )
    try:
        found = Library(PATH)
        _check(found)
    except (SwitchedOff, OSError, AttributeError) as error:
        _LOG.warning("native calls of host functions are switched off: %s", error)
        return f"native calls are switched off: {error}"
    return found


def _check(found: Library) -> None:
    """Raise unless the known function is computed right.

    In a thread of its own, for the transformations in progress are those of a thread.
    """
    problems: list[BaseException] = []

    def run() -> None:
        try:
            _probe(found)
        except BaseException as error:  # reported below
            problems.append(error)

    thread = threading.Thread(target=run, name="rules_jax probe")
    thread.start()
    thread.join()
    if problems:
        text = f"the check of the interfaces failed ({problems[0]})"
        raise SwitchedOff(text) from problems[0]


_X = np.asarray([[1.5, -2.0, 3.25]], np.float32)
_Y = np.asarray([[0.5], [4.0]], np.float32)


def _probe(found: Library) -> None:
    """Compute `_X - _Y` by the loop alone and from a compiled program.

    Raises:
        RuntimeError: The result is wrong, or an interface has changed.
    """
    loop = loop_of_ufunc(np.subtract, (_X.dtype, _Y.dtype))
    loop.add_to(found)
    for run in (_alone, _compiled):
        if not np.array_equal(run(found, loop), _X - _Y):
            message = f"{run.__name__[1:]}, the loop of np.subtract gave wrong values"
            raise RuntimeError(message)


def _alone(found: Library, loop: Any) -> Any:
    out = np.zeros((2, 3), np.float32)
    if not found.call(loop.key, *map(_buffer, (_X, _Y, out))):
        message = "the loop of np.subtract did not run"
        raise RuntimeError(message)
    return out


def _buffer(x: Any) -> Buffer:
    dims = (ctypes.c_int64 * x.ndim)(*x.shape)
    return Buffer(ctypes.sizeof(Buffer), None, 11, x.ctypes.data, x.ndim, dims)


def _compiled(found: Library, loop: Any) -> Any:
    target = register(found, loop.name)
    shape = jax.ShapeDtypeStruct((2, 3), np.float32)

    def subtract(x: Any, y: Any) -> Any:
        return jax.ffi.ffi_call(target, shape)(
            x, y, key=np.int64(loop.key), name=loop.name
        )

    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        return np.asarray(jax.jit(subtract).lower(_X, _Y).compile()(_X, _Y))
