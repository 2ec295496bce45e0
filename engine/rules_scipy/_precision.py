"""One precision for what a step reads, which PyTorch does not mix.

SciPy takes arrays of several precisions, and of some single ones makes double results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._functions import arrays_in

__all__ = ["in_dtypes_of", "to_one_precision"]

_FLOATS = ("real floating", "complex floating")


def to_one_precision(*values: Any) -> Callable[[Any], Any] | None:
    """What brings values to the widest precision of some; None where all have one.

    Values are arrays, containers of them and others, which stay. NumPy mixes
    precisions as SciPy does.
    """
    floats = [a for a in arrays_in(values) if _is_framework_float(a)]
    if len({_bits(a) for a in floats}) < 2:
        return None
    xp = rc.array_namespace(*floats)
    reals = [xp.zeros((), dtype=a.dtype).real if _is_complex(xp, a) else a
             for a in floats]  # fmt: skip
    dtype = xp.result_type(*[a.dtype for a in reals])

    def widened(x: Any) -> Any:
        if isinstance(x, tuple | list):
            return _rebuilt(x, [widened(part) for part in x])
        return _widened(xp, x, dtype) if _is_framework_float(x) else x

    return widened


def _widened(xp: Any, x: Any, dtype: Any) -> Any:
    own = xp.result_type(dtype, xp.complex64) if _is_complex(xp, x) else dtype
    return x if x.dtype == own else xp.astype(x, own)


def in_dtypes_of(y: Any, result: Any) -> Any:
    """The parts of a result in the precisions of those of `y`."""
    if isinstance(result, tuple | list):
        return tuple([in_dtypes_of(*pair) for pair in zip(y, result, strict=True)])
    if not (_is_framework_float(y) and _is_framework_float(result)):
        return result
    xp = rc.array_namespace(result)
    if _is_complex(xp, result) and not _is_complex(xp, y):
        own = xp.result_type(y.dtype, xp.complex64)
    else:
        own = y.dtype
    return result if result.dtype == own else xp.astype(result, own)


def _is_framework_float(x: Any) -> bool:
    if not rc.is_array(x) or isinstance(x, np.ndarray | np.generic):
        return False
    return bool(rc.array_namespace(x).isdtype(x.dtype, _FLOATS))


def _is_complex(xp: Any, x: Any) -> bool:
    return bool(xp.isdtype(x.dtype, "complex floating"))


def _bits(x: Any) -> int:
    """Of the real part."""
    xp = rc.array_namespace(x)
    return int(xp.finfo(x.dtype).bits)


def _rebuilt(x: tuple[Any, ...] | list[Any], parts: list[Any]) -> Any:
    return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
