"""The arguments of a call by name, and texts shared by operations."""

from dataclasses import replace
from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import Kind, array
from rules_autodiff.straight._program.written import OWN, Call, Written

from .adjoints import pulls_by_adjoint

__all__ = [
    "DTYPES", "FLOATS", "NUMBERS", "as_method", "axes_of", "expanded", "is_float",
    "is_number", "only", "reduced_kind", "settings", "unchanged", "whole",
    "with_nothing",
]  # fmt: skip

NUMBERS = frozenset({"real", "int", "bool"})


# The dtypes that a program may name.
FLOATS = (float, np.float64, "float", "float64", "d", "f8")
DTYPES = {"bool": "?", "int64": "l"}  # beside floats


def is_float(dtype: Any) -> bool:
    """Whether the requested dtype is float, or none is requested."""
    return dtype is None or dtype in FLOATS


def whole(x: Any) -> bool:
    """Whether a literal is an integer."""
    return type(x) is int


def is_number(kind: Kind) -> bool:
    return kind.name in NUMBERS


def only(call: Call, count: int = 1) -> bool:
    """Whether a call has exactly this number of operands and nothing else."""
    return len(call.kinds) == count and not call.options


def settings(
    call: Call, places: tuple[str, ...], first: int = 1, **defaults: Any
) -> dict[str, Any] | None:
    """The literals after the operands, by name.

    Args:
        call: The call.
        places: The names of positions after the operands; others must be keywords.
        first: The number of operands.
        defaults: All allowed names, with their default values.
    """
    rest = call.constants[first:]
    if len(rest) > len(places):
        return None
    options = {**dict(zip(places, rest, strict=False)), **call.options}
    repeated = len(options) != len(rest) + len(call.options)
    if repeated or not set(options) <= set(defaults) or ... in options.values():
        return None
    return {**defaults, **options}


def axes_of(axis: Any, ndim: int) -> tuple[int, ...] | None:
    """The axes of a literal axis argument, in order; None if invalid."""
    if axis is None:
        return tuple(range(ndim))
    row = axis if type(axis) is tuple else (axis,)
    if not all(whole(a) and -ndim <= a < ndim for a in row):
        return None
    axes = sorted({a % ndim for a in row})
    return tuple(axes) if len(axes) == len(row) else None


def expanded(text: str, ndim: int, axes: tuple[int, ...], keepdims: bool) -> str:
    """The text of a reduced value with the lost axes inserted again."""
    if keepdims or len(axes) == ndim:
        return text
    places = ["None" if axis in axes else ":" for axis in range(ndim)]
    return f"{text}[{', '.join(places)}]"


def reduced_kind(ndim: int, axes: tuple[int, ...], keepdims: bool, dtype: str) -> Kind:
    """The kind of a reduction."""
    return array(ndim if keepdims else ndim - len(axes), dtype)


def as_method(call: Call) -> bool:
    """Whether a method's owner is an array."""
    return bool(call.kinds) and call.kinds[0].name == "array"


def unchanged(call: Call) -> Written | None:
    """These numbers in new memory."""
    (x, *_) = call.kinds
    if x.name != "array":
        return None
    pulls = pulls_by_adjoint(np.copy, (x,)) if x.is_real else (None,)
    return Written(x, None, pulls, pushes=(OWN,), lanes=(OWN,))


def with_nothing(written: Written | None, call: Call) -> Written | None:
    """The pulls of a call whose other operands are inactive."""
    if written is None:
        return None
    rest = (None,) * (len(call.kinds) - len(written.pulls))
    return replace(written, pulls=(*written.pulls, *rest))
