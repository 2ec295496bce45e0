"""Loops over C functions of numbers: from ctypes, cffi, SciPy and numba.

Each of these objects has its address and declares its C types itself.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from .library import Library
from .loops import Loop, Undeclared, made_once

__all__ = ["is_c_function", "loop_of_c_function"]

_TYPES: dict[str, np.dtype[Any]] = {
    "double": np.dtype(np.float64),
    "float": np.dtype(np.float32),
}
_CTYPES: dict[Any, str] = {ctypes.c_double: "double", ctypes.c_float: "float"}
_CFUNCTION: type = ctypes.CFUNCTYPE(None).__mro__[1]
MOST = 6  # arguments, as in handler.c
_CURE = (
    f"a C function called from compiled code takes 1 to {MOST} doubles and returns "
    "one, or floats"
)


def is_c_function(x: Any) -> bool:
    """Whether it is one of these objects."""
    kinds = isinstance(x, _CFUNCTION) or _is_cffi(x) or _is_low_level(x)
    return kinds or _of_numba(x) is not None


def _is_cffi(x: Any) -> bool:
    return type(x).__module__ == "_cffi_backend"


def _is_low_level(x: Any) -> bool:
    return type(x).__name__ == "LowLevelCallable" and isinstance(x, tuple)


def _of_numba(x: Any) -> Any:
    """The ctypes function of what `numba.cfunc` made, or None."""
    function = getattr(x, "ctypes", None)
    return function if isinstance(function, _CFUNCTION) else None


@made_once
def loop_of_c_function(function: Any, name: str, found: Library) -> Loop:
    """The loop that calls the function for each element.

    Raises:
        Undeclared: Its types are not declared, or others than doubles or floats.
    """
    address, result, arguments = _declared(function)
    if not address:
        message = f"{_CURE}, but its address is NULL"
        raise Undeclared(message)
    kinds = {result, *arguments}
    if len(kinds) != 1 or not kinds <= _TYPES.keys() or not 1 <= len(arguments) <= MOST:
        shown = f"{result} ({', '.join(arguments)})"
        message = f"{_CURE}, but got {shown}"
        raise Undeclared(message)
    loop = f"rules_core_{'d' if result == 'double' else 'f'}{len(arguments)}"
    return Loop(
        name,
        None,
        [_TYPES[x] for x in (*arguments, result)],
        len(arguments),
        signature=None,
        addresses={"plain": found.address(loop), "plain_data": address},
        alive=function,
        splits=False,
    )


def _declared(function: Any) -> tuple[int, str, Sequence[str]]:
    """Address and C types: of the result, of the arguments."""
    own = _of_numba(function)
    if own is not None:
        return _of_ctypes(own)
    if isinstance(function, _CFUNCTION):
        return _of_ctypes(function)
    if _is_cffi(function):
        return _of_cffi(function)
    return _of_low_level(function)


def _of_ctypes(function: Any) -> tuple[int, str, Sequence[str]]:
    if function.argtypes is None:
        message = f"{_CURE}: set argtypes and restype of the ctypes function"
        raise Undeclared(message)
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    types = (function.restype, *function.argtypes)
    result, *arguments = (_CTYPES.get(t, getattr(t, "__name__", "void")) for t in types)
    return address, result, arguments


def _of_cffi(function: Any) -> tuple[int, str, Sequence[str]]:
    import cffi

    ffi = cffi.FFI()
    kind = ffi.typeof(function)
    kind = kind.item if kind.kind == "pointer" else kind
    if kind.kind != "function":
        message = f"{_CURE}, but got {function!r}"
        raise Undeclared(message)
    address = int(ffi.cast("intptr_t", function))
    return address, kind.result.cname, [x.cname for x in kind.args]


def _of_low_level(function: Any) -> tuple[int, str, Sequence[str]]:
    if function.user_data is not None:
        message = f"{_CURE}, but the LowLevelCallable has user_data"
        raise Undeclared(message)
    signature = function.signature
    found = re.fullmatch(r"\s*(\w+)\s*\(([^)]*)\)\s*", signature)
    capsule = tuple.__getitem__(function, 0)
    if found is None:
        message = f"{_CURE}, but got {signature}"
        raise Undeclared(message)
    address = _pointer_of(capsule, signature.encode())
    return address, found[1], [x.strip() for x in found[2].split(",")]


_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
