"""Arrays joined from numbers and arrays: the backward pass returns the parts."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import INT, REAL, Kind, array
from rules_autodiff.straight._program.written import JOINT, Call, Written

from .adjoints import parts_by_adjoint
from .arithmetic import is_mixed
from .forms import FLOATS, whole
from .table import SPREADING, Operation, function

__all__: list[str] = []

SPREADING |= {
    np.array, np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack
}  # fmt: skip


def joined_dtype(kinds: tuple[Kind, ...]) -> str | None:
    """The dtype of an array of such values, None unless they are numbers."""
    dtypes = set()
    for k in kinds:
        if k.name == "row":
            inner = joined_dtype(k.parts) if k.parts else "d"
        else:
            inner = "l" if k is INT else "d" if k is REAL else k.dtype
        dtypes.add(inner)
    if not dtypes <= {"d", "l"}:
        return None
    return "l" if dtypes == {"l"} else "d"


def parts(kinds: tuple[Kind, ...], cut: Callable[[int], str]) -> Any:
    """The cotangent of each entry by its position."""
    return tuple(cut(i) if k.is_real else None for i, k in enumerate(kinds))


@function(np.array)
def write_array(call: Call) -> Written | None:
    """A list of numbers, of arrays of one shape, or of rows of literals."""
    kinds = call.kinds
    dtype = joined_dtype(kinds)
    if dtype is None or len({k.ndim for k in kinds}) > 1:
        return None
    if call.options:
        as_floats = set(call.options) == {"dtype"} and call.options["dtype"] in FLOATS
        if not as_floats:
            return None
        dtype = "d"
    if any(k.name == "row" for k in kinds):
        return of_literals(call, dtype)
    kind = array(1 + (kinds[0].ndim if kinds else 0), dtype)
    fields = ", ".join(f"{{{i}}}" for i in range(len(kinds)))
    checked = dtype == "d" and kinds and not call.options
    text = f"row_of({fields})" if checked else None
    pulls, joint = parts(kinds, lambda i: f"{{dz}}[{i}]"), (JOINT,) * len(kinds)
    return Written(kind, text, pulls, pushes=joint, lanes=joint)


def of_literals(call: Call, dtype: str) -> Written | None:
    """A matrix of literal rows."""
    supported = all(k.name == "row" for k in call.kinds) and ... not in call.constants
    flat = supported and not any(p.name == "row" for k in call.kinds for p in k.parts)
    return Written(array(2, dtype), None, (None,) * len(call.kinds)) if flat else None


def join(
    call: Call, f: Any, ndim: int, *options: Any, by_axis: bool = False
) -> Written | None:
    """A call that joins arrays.

    Args:
        call: The call.
        f: The function.
        ndim: The number of axes of the result.
        options: The other arguments of the function.
        by_axis: Whether the call names an axis, counted from the first.
    """
    kinds = call.kinds
    dtype = joined_dtype(kinds)
    rows = [i for i, k in enumerate(kinds) if k.name == "row"]
    literal = all(call.constants[i] is not ... for i in rows)
    if dtype is None or not literal or not kinds or is_mixed(call):
        return None
    pulls = parts_by_adjoint(f, kinds, ndim, *options, rows=call.constants)
    pushes = (JOINT,) * len(kinds)
    # Along an axis that is not named numbers and lanes would be mistaken.
    lanes = pushes if by_axis else (None,) * len(kinds)
    return Written(array(ndim, dtype), None, pulls, pushes=pushes, lanes=lanes)


def row_ndim(kind: Kind) -> int:
    """The number of axes of an entry: a row of numbers is a vector."""
    return 1 if kind.name == "row" else kind.ndim


@function(np.concatenate)
def write_concatenate(call: Call) -> Written | None:
    options = call.options or {"axis": 0}
    ranks = {row_ndim(k) for k in call.kinds}
    if set(options) != {"axis"} or not whole(options["axis"]) or len(ranks) != 1:
        return None
    (ndim,) = ranks
    flat = all(p in (REAL, INT) for k in call.kinds for p in k.parts)
    if not flat or not -ndim <= options["axis"] < ndim:
        return None
    axis = options["axis"]
    return join(call, np.concatenate, ndim, axis % ndim, by_axis=axis >= 0)


@function(np.append)
def write_append(call: Call) -> Written | None:
    """A vector with an appended number or vector."""
    x, y = (*call.kinds, INT, INT)[:2]
    fits = len(call.kinds) == 2 and not call.options and x.name == "array"
    if not fits or x.ndim != 1 or y.ndim > 1:
        return None
    return join(call, np.hstack, 1) if y in (REAL, INT) or y.ndim else None


@function(np.stack)
def write_stack(call: Call) -> Written | None:
    named = call.options or {"axis": 0}
    ranks = {k.ndim for k in call.kinds if k.name == "array"}
    if call.kinds and all(k in (REAL, INT) for k in call.kinds):
        along = named in ({"axis": 0}, {"axis": -1})
        return write_array(Call(call.kinds, call.constants)) if along else None
    if set(named) != {"axis"} or not whole(named["axis"]) or len(ranks) != 1:
        return None
    ndim = 1 + ranks.pop()
    if any(k.name != "array" for k in call.kinds) or not -ndim <= named["axis"] < ndim:
        return None
    axis = named["axis"]
    return join(call, np.stack, ndim, axis % ndim, by_axis=axis >= 0)


@function(np.hstack)
def write_hstack(call: Call) -> Written | None:
    """Vectors and numbers joined, or arrays along the second axis."""
    kinds = call.kinds
    ranks = {max(k.ndim, 1) for k in kinds}
    fits = all(k.name == "array" or k in (REAL, INT) for k in kinds)
    if call.options or len(ranks) != 1 or not fits or all(k.ndim == 0 for k in kinds):
        return None
    (ndim,) = ranks
    return join(call, np.hstack, ndim)


def as_planes(f: Any) -> Operation:
    """Vectors with matrices, each as a row or column."""

    def write_planes(call: Call) -> Written | None:
        kinds = call.kinds
        supported = all(k.name == "array" and k.ndim <= 2 for k in kinds)
        if call.options or not supported:
            return None
        return join(call, f, 2)

    return write_planes


for _f in (np.vstack, np.column_stack):
    function(_f)(as_planes(_f))
