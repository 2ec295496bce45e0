"""The inner loop that NumPy runs for a call of a ufunc, by its interface for compilers.

`ufunc._resolve_dtypes_and_context` and `ufunc._get_strided_loop` give the loop of a
call, with what it must be called with, in a capsule whose name is the version of its
layout. NumPy says there too whether the loop needs the interpreter.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .loops import Loop, Undeclared, made_once, stable_name

__all__ = ["loop_of_ufunc"]

_CAPSULE = b"numpy_1.24_ufunc_call_info"
_COMPILE = ", nor for any others: give numba.vectorize its signatures"
_MODULES = "numpy", "scipy.special", "numpy.linalg._umath_linalg"


class _CallInfo(ctypes.Structure):
    """The pointer in a capsule."""

    _fields_ = (
        ("strided", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("aux", ctypes.c_void_p),
        ("requires_pyapi", ctypes.c_char),
        ("no_floatingpoint_errors", ctypes.c_char),
    )


_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def loop_of_ufunc(ufunc: Any, given: tuple[Any, ...], serial: bool = False) -> Loop:
    """The loop for arguments of these types.

    Args:
        ufunc: The ufunc.
        given: For each input a dtype, or `int`, `float`, `complex` for a Python number.
        serial: Whether its loops are known to start no threads themselves; those of
            NumPy and SciPy are.

    Raises:
        Undeclared: It has none that can be called without the interpreter.
    """
    return _loop(ufunc, given, serial)


@made_once
def _loop(ufunc: Any, given: tuple[Any, ...], serial: bool) -> Loop:
    if not hasattr(ufunc, "_get_strided_loop"):
        message = "this NumPy has no interface for the loops of ufuncs"
        raise Undeclared(message)
    try:
        dtypes, capsule = ufunc._resolve_dtypes_and_context(  # noqa: SLF001
            (*given, *[None] * ufunc.nout)
        )
        ufunc._get_strided_loop(capsule)  # noqa: SLF001
    except TypeError as error:
        shown = ", ".join(getattr(x, "__name__", str(x)) for x in given)
        more = "" if ufunc.types else _COMPILE
        message = f"it has no loop for ({shown}){more}"
        raise Undeclared(message) from error
    numbers = not all(isinstance(x, np.dtype) for x in given)  # float == np.float64
    if numbers or given != dtypes[: ufunc.nin]:
        return _same(_loop(ufunc, dtypes[: ufunc.nin], serial), dtypes)
    info = _read(capsule)
    if info.requires_pyapi != b"\0" or any(x.hasobject for x in dtypes):
        message = "its loop for these arguments needs the interpreter"
        raise Undeclared(message)
    identity = stable_name(ufunc, _MODULES)
    return Loop(
        ufunc.__name__,
        identity,
        dtypes,
        ufunc.nin,
        signature=ufunc.signature,
        addresses={x: getattr(info, x) or 0 for x in ("strided", "context", "aux")},
        alive=(ufunc, capsule),
        splits=ufunc.signature is None and (serial or identity is not None),
    )


def _same(loop: Loop, dtypes: tuple[Any, ...]) -> Loop:
    """The loop of converted arguments, if it makes what the call makes."""
    if loop.dtypes != dtypes:
        message = "numbers among its arguments have a loop of their own"
        raise Undeclared(message)
    return loop


def _read(capsule: Any) -> _CallInfo:
    try:
        address = _pointer_of(capsule, _CAPSULE)
    except ValueError:
        message = "this NumPy gives the loops of ufuncs in another layout"
        raise Undeclared(message) from None
    info = _CallInfo.from_address(address)
    if not info.strided or not info.context:
        message = "NumPy gave no loop"
        raise Undeclared(message)
    return info
