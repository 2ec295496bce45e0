"""The compiled handler: a library in C, loaded into this process."""

from __future__ import annotations

import atexit
import ctypes
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, final

import jax

__all__ = [
    "CORES",
    "OPERANDS",
    "PATH",
    "RANK",
    "Buffer",
    "Entry",
    "Library",
    "SwitchedOff",
    "register",
]

OPERANDS, CORES, RANK = 16, 32, 32  # as in handler.c
PATH = Path(__file__).with_name("handler.so")


class Entry(ctypes.Structure):
    """The handler's record of a loop; `handler.c` explains the fields."""

    _fields_ = (
        ("key", ctypes.c_int64),
        ("strided", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("aux", ctypes.c_void_p),
        ("plain", ctypes.c_void_p),
        ("plain_data", ctypes.c_void_p),
        ("nin", ctypes.c_int32),
        ("nout", ctypes.c_int32),
        ("dtypes", ctypes.c_int32 * OPERANDS),
        ("sizes", ctypes.c_int32 * OPERANDS),
        ("ncores", ctypes.c_int32 * OPERANDS),
        ("cores", ctypes.c_int32 * CORES),
        ("fixed", ctypes.c_int32 * CORES),
        ("ndims", ctypes.c_int32),
        ("splits", ctypes.c_int32),
    )


class Buffer(ctypes.Structure):
    """An array as XLA hands it to the handler."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("dtype", ctypes.c_int32),
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int64),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
    )


_PYTHON = (
    "PyGILState_GetThisThreadState",
    "PyGILState_Ensure",
    "PyGILState_Release",
    "PyErr_Occurred",
    "PyErr_Clear",
    "PyErr_SetString",
    "PyExc_RuntimeError",
    "PyErr_Fetch",
    "PyObject_Str",
    "PyUnicode_AsUTF8",
    "Py_DecRef",
    "PyInterpreterState_Get",
    "PyThreadState_New",
)


class _Python(ctypes.Structure):
    """Functions of Python's C API that the handler calls when a loop has raised."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in _PYTHON)


class SwitchedOff(RuntimeError):
    """Native calls are not possible here; the text says why."""


@final
class Library:
    """The handler, loaded into this process."""

    def __init__(self, path: Path) -> None:
        self._calls = ctypes.CDLL(str(path))
        self._with_lock = ctypes.PyDLL(str(path))
        self._calls.rules_core_size.restype = ctypes.c_int64
        sizes = [self._calls.rules_core_size(i) for i in (0, 1)]
        if sizes != [ctypes.sizeof(Entry), ctypes.sizeof(Buffer)]:
            message = f"{path.name} was built from another version of its source"
            raise SwitchedOff(message)
        if self._with_lock.rules_core_python(ctypes.byref(_python())) < 0:
            message = "this Python keeps the exceptions of its threads elsewhere"
            raise SwitchedOff(message)
        atexit.register(self._finish)

    def _finish(self) -> None:
        """Wait for what is computed, and begin no more native calls."""
        waits = [jax.effects_barrier]
        with suppress(Exception):  # the backend may be gone
            waits += [x.block_until_ready for x in jax.live_arrays("cpu")]
        for wait in waits:
            with suppress(Exception):  # failed programs have nobody left to tell
                wait()
        self._calls.rules_core_leave()

    @property
    def handler(self) -> Any:
        """The function that XLA calls."""
        return self._calls.rules_core_native_call

    def address(self, name: str) -> int:
        """The address of a function of the library."""
        return int(ctypes.cast(getattr(self._calls, name), ctypes.c_void_p).value or 0)

    def add(self, entry: Entry) -> bool:
        """Add an entry for the life of the process; false where its key is taken."""
        status = self._calls.rules_core_add(ctypes.byref(entry))
        if status == 2:
            raise MemoryError
        return bool(status == 0)

    def call(self, key: int, *buffers: Buffer) -> bool:
        """Run a loop without XLA; whether it ran."""
        pointers = (ctypes.POINTER(Buffer) * len(buffers))(
            *map(ctypes.pointer, buffers)
        )
        return bool(self._calls.rules_core_try(ctypes.c_int64(key), pointers) == 0)


def _python() -> _Python:
    functions = _Python()
    for name in _PYTHON:
        if name == "PyExc_RuntimeError":
            address = ctypes.c_void_p.in_dll(ctypes.pythonapi, name).value
        else:
            function = getattr(ctypes.pythonapi, name)
            address = ctypes.cast(function, ctypes.c_void_p).value
        setattr(functions, name, address)
    return functions


@cache
def register(found: Library, name: str) -> str:
    """The name under which XLA calls the handler for a function of this name."""
    target = f"rules_core.native_call[{name}]"
    capsule = jax.ffi.pycapsule(found.handler)
    jax.ffi.register_ffi_target(target, capsule, platform="cpu")
    return target
