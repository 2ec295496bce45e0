"""Functions that only move entries."""

from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import INT, REAL, Kind, array, is_array
from rules_autodiff.straight._program.written import Call, Written

from .forms import (
    DTYPES,
    axes_of,
    is_float,
    only,
    settings,
    unchanged,
    whole,
    with_nothing,
)
from .table import function, method

__all__ = ["shape_kind"]

RESHAPED = "{dz}.reshape({s0})"


def shape_kind(kinds: tuple[Kind, ...]) -> int | None:
    """The number of axes of a shape, given as one or more arguments."""
    if len(kinds) == 1 and kinds[0].name == "row":
        kinds = kinds[0].parts
    return len(kinds) if kinds and all(k is INT for k in kinds) else None


def moved(x: Kind, ndim: int, by_x: str, *, fresh: bool = False) -> Written | None:
    """A result with these entries, of at least one axis; a view, unless fresh."""
    if x.name != "array" or ndim < 1:
        return None
    return Written(array(ndim, x.dtype), None, (by_x if x.is_real else None,), fresh)


@method("reshape")
def write_reshape_method(call: Call) -> Written | None:
    ndim = None if call.options else shape_kind(call.kinds[1:])
    return reshaped(call, ndim) if ndim else None


@function(np.reshape)
def write_reshape(call: Call) -> Written | None:
    supported = len(call.kinds) == 2 and not call.options
    ndim = shape_kind(call.kinds[1:]) if supported else None
    return reshaped(call, ndim) if ndim else None


def reshaped(call: Call, ndim: int) -> Written | None:
    written = moved(call.kinds[0], ndim, RESHAPED)
    rest = (None,) * (len(call.kinds) - 1)
    return written and Written(written.kind, None, (*written.pulls, *rest), fresh=False)


@function(np.ravel)
@method("ravel")
def write_ravel(call: Call) -> Written | None:
    return moved(call.kinds[0], 1, RESHAPED) if only(call) else None


@method("flatten")
def write_flatten(call: Call) -> Written | None:
    return moved(call.kinds[0], 1, RESHAPED, fresh=True) if only(call) else None


@method("T")
def write_T(call: Call) -> Written | None:
    return moved(call.kinds[0], call.kinds[0].ndim, "{dz}.T") if only(call) else None


@method("mT")
def write_mT(call: Call) -> Written | None:
    ndim = call.kinds[0].ndim
    return moved(call.kinds[0], ndim, "{dz}.mT") if only(call) and ndim > 1 else None


@function(np.transpose)
@method("transpose")
def write_transpose(call: Call) -> Written | None:
    """Backward: the inverse permutation."""
    x, rest = call.kinds[0], call.constants[1:]
    options = settings(
        Call(call.kinds[:1], call.constants[:1], call.options), (), axes=None
    )
    if options is None:
        return None
    if options["axes"] is not None:
        rest = (*rest, options["axes"])
    if rest and type(rest[0]) is tuple:
        rest = rest[0] if len(rest) == 1 else (...,)
    moves = permuted(x, "{dz}.T") if rest in ((), (None,)) else by_order(x, rest)
    nothing = (None,) * (len(call.kinds) - 1)
    return moves and Written(moves.kind, None, (*moves.pulls, *nothing), fresh=False)


def permuted(x: Kind, by_x: str) -> Written | None:
    return moved(x, x.ndim, by_x)


def by_order(x: Kind, order: tuple[Any, ...]) -> Written | None:
    if not all(map(whole, order)) or len(order) != x.ndim:
        return None
    axes = [axis % x.ndim for axis in order]
    if sorted(axes) != list(range(x.ndim)):
        return None
    inverse = sorted(range(x.ndim), key=axes.__getitem__)
    return permuted(x, f"{{dz}}.transpose({', '.join(map(str, inverse))})")


@function(np.swapaxes)
@method("swapaxes")
def write_swapaxes(call: Call) -> Written | None:
    x, rest = call.kinds[0], call.constants[1:]
    if not only(call, 3) or not all(whole(a) and -x.ndim <= a < x.ndim for a in rest):
        return None
    moves = permuted(x, f"{{dz}}.swapaxes({rest[0]}, {rest[1]})")
    return moves and Written(moves.kind, None, (*moves.pulls, None, None), fresh=False)


@function(np.moveaxis)
def write_moveaxis(call: Call) -> Written | None:
    x, rest = call.kinds[0], call.constants[1:]
    if not only(call, 3) or not all(whole(a) and -x.ndim <= a < x.ndim for a in rest):
        return None
    order = [axis for axis in range(x.ndim) if axis != rest[0] % x.ndim]
    order.insert(rest[1] % x.ndim, rest[0] % x.ndim)
    moves = by_order(x, tuple(order)) if x.name == "array" else None
    return moves and Written(moves.kind, None, (*moves.pulls, None, None), fresh=False)


@function(np.expand_dims)
def write_expand_dims(call: Call) -> Written | None:
    x = call.kinds[0]
    options = settings(call, ("axis",), axis=...)
    axis = options["axis"] if options else None
    if axis is None or not whole(axis) or not -x.ndim - 1 <= axis <= x.ndim:
        return None
    return with_nothing(moved(x, x.ndim + 1, RESHAPED), call)


@function(np.squeeze)
@method("squeeze")
def write_squeeze(call: Call) -> Written | None:
    """Explicit axes only: the lengths of the others are unknown."""
    x = call.kinds[0]
    options = settings(call, ("axis",), axis=None)
    if options is None or options["axis"] is None:
        return None
    axes = axes_of(options["axis"], x.ndim)
    return with_nothing(moved(x, x.ndim - len(axes), RESHAPED), call) if axes else None


@function(np.broadcast_to)
def write_broadcast_to(call: Call) -> Written | None:
    x = call.kinds[0]
    ndim = shape_kind(call.kinds[1:]) if only(call, 2) else None
    if not ndim or ndim < x.ndim or not x.is_real:
        return None
    if x is REAL:
        text = "floats(np_broadcast_to({0}, {1}))"
        return Written(array(ndim), text, ("summed({dz})", None), fresh=False)
    return Written(array(ndim), None, ("fit({dz}, {s0})", None), fresh=False)


# copies


@function(np.copy)
@method("copy")
def write_copy(call: Call) -> Written | None:
    return unchanged(call) if only(call) else None


@method("astype")
def write_astype(call: Call) -> Written | None:
    x = call.kinds[0]
    options = settings(call, ("dtype",), dtype=None)
    if options is None or options["dtype"] is None:
        return None
    if options["dtype"] in DTYPES and x.name == "array":
        whole_numbers = array(x.ndim, DTYPES[options["dtype"]])
        return with_nothing(Written(whole_numbers, None, (None,)), call)
    if not is_float(options["dtype"]):
        return None
    by_x = "{dz}" if x.is_real else None
    return with_nothing(Written(array(x.ndim), None, (by_x,)), call)


@function(np.asarray, np.ascontiguousarray)
def write_asarray(call: Call) -> Written | None:
    x = call.kinds[0]
    options = settings(call, ("dtype",), dtype=None)
    if options is None or not is_float(options["dtype"]):
        return None
    if options["dtype"] is not None and not x.is_real:
        return None
    return with_nothing(moved(x, x.ndim, "{dz}"), call)


@method("item")
def write_item(call: Call) -> Written | None:
    supported = only(call) and is_array(call.kinds[0])
    return Written(REAL, None, ("spread({dz}, {s0})",)) if supported else None


# in another order


@function(np.roll)
def write_roll(call: Call) -> Written | None:
    x = call.kinds[0]
    if not is_array(x) or len(call.kinds) < 2 or call.kinds[1] is not INT:
        return None
    options = settings(call, ("axis",), 2, axis=None)
    if options is None or not (options["axis"] is None or whole(options["axis"])):
        return None
    by_x = f"np_roll({{dz}}, -{{1}}, {options['axis']!r})"
    return with_nothing(Written(x, None, (by_x,)), call)


def flipped(axes: tuple[int, ...], ndim: int) -> str:
    places = ["::-1" if axis in axes else ":" for axis in range(ndim)]
    return f"{{dz}}[{', '.join(places)}]"


@function(np.flip)
def write_flip(call: Call) -> Written | None:
    x = call.kinds[0]
    options = settings(call, ("axis",), axis=None)
    axes = axes_of(options["axis"], x.ndim) if options else None
    return with_nothing(moved(x, x.ndim, flipped(axes, x.ndim)), call) if axes else None


@function(np.flipud)
def write_flipud(call: Call) -> Written | None:
    x = call.kinds[0]
    return moved(x, x.ndim, flipped((0,), x.ndim)) if only(call) else None


@function(np.fliplr)
def write_fliplr(call: Call) -> Written | None:
    x = call.kinds[0]
    supported = only(call) and x.ndim > 1
    return moved(x, x.ndim, flipped((1,), x.ndim)) if supported else None


@function(np.diff)
def write_diff(call: Call) -> Written | None:
    """First differences."""
    x = call.kinds[0]
    options = settings(call, ("n", "axis"), n=1, axis=-1)
    if (
        options is None
        or not is_array(x)
        or not whole(options["n"])
        or options["n"] != 1
    ):
        return None
    axes = axes_of(options["axis"], x.ndim) if whole(options["axis"]) else None
    if axes is None:
        return None
    by_x = f"undiff({{dz}}, {{s0}}, {axes[0]})"
    return with_nothing(Written(x, None, (by_x,)), call)


@function(np.repeat)
@method("repeat")
def write_repeat(call: Call) -> Written | None:
    """Each entry several times, along one axis."""
    x = call.kinds[0]
    if not is_array(x) or len(call.kinds) < 2 or call.kinds[1] is not INT:
        return None
    options = settings(call, ("axis",), 2, axis=None)
    axis = options["axis"] if options else None
    if options is None or (axis is None and x.ndim > 1):
        return None
    axes = axes_of(axis, x.ndim) if axis is None or whole(axis) else None
    if axes is None:
        return None
    by_x = f"repeat_back({{dz}}, {{s0}}, {axes[0]}, {{1}})"
    return with_nothing(Written(x, None, (by_x,)), call)


@function(np.tile)
def write_tile(call: Call) -> Written | None:
    """A vector several times."""
    if not only(call, 2) or call.kinds != (array(1), INT):
        return None
    by_x = "np_add_reduce({dz}.reshape({1}, *{s0}), 0)"
    return Written(array(1), None, (by_x, None))


@function(np.sort)
def write_sort(call: Call) -> Written | None:
    """A vector in order."""
    supported = only(call) and call.kinds[0] == array(1)
    return Written(array(1), None, ("sort_back({dz}, {0})",)) if supported else None


@function(np.pad)
def write_pad(call: Call) -> Written | None:
    """An array with zeros around it, with literal widths."""
    x = call.kinds[0]
    options = settings(call, ("pad_width", "mode"), pad_width=None, mode="constant")
    if options is None or options["mode"] != "constant" or not is_array(x):
        return None
    starts = leading_widths(options["pad_width"], x.ndim)
    if starts is None:
        return None
    places = [f"{n}:{n} + {{s0}}[{axis}]" for axis, n in enumerate(starts)]
    return with_nothing(Written(x, None, (f"{{dz}}[{', '.join(places)}]",)), call)


def leading_widths(widths: Any, ndim: int) -> tuple[int, ...] | None:
    """The number of zeros before each axis."""
    if whole(widths):
        return (widths,) * ndim
    if type(widths) is not tuple or not widths:
        return None
    if len(widths) == 2 and all(map(whole, widths)):
        return (widths[0],) * ndim
    rows = all(type(w) is tuple and len(w) == 2 and all(map(whole, w)) for w in widths)
    return tuple(w[0] for w in widths) if rows and len(widths) == ndim else None


# diagonals and triangles


@function(np.diag)
def write_diag(call: Call) -> Written | None:
    x = call.kinds[0]
    options = settings(call, ("k",), k=0)
    if options is None or not whole(options["k"]) or not is_array(x) or x.ndim > 2:
        return None
    if x.ndim == 2:
        return with_nothing(diagonal(options["k"]), call)
    return with_nothing(
        Written(array(2), None, (f"{{dz}}.diagonal({options['k']})",)), call
    )


def diagonal(k: int) -> Written:
    return Written(array(1), None, (f"diag_back({{dz}}, {{s0}}, {k})",), fresh=False)


@function(np.diagonal)
@method("diagonal")
def write_diagonal(call: Call) -> Written | None:
    options = settings(call, ("offset",), offset=0)
    if options is None or not whole(options["offset"]) or call.kinds[0] != array(2):
        return None
    return with_nothing(diagonal(options["offset"]), call)


def triangle(name: str) -> Any:
    def write_triangle(call: Call) -> Written | None:
        x = call.kinds[0]
        options = settings(call, ("k",), k=0)
        if options is None or not whole(options["k"]) or not is_array(x) or x.ndim < 2:
            return None
        return with_nothing(
            Written(x, None, (f"{name}({{dz}}, {options['k']})",)), call
        )

    return write_triangle


function(np.triu)(triangle("np_triu"))
function(np.tril)(triangle("np_tril"))


def unit_axis(call: Call, ndim: int) -> Written | None:
    """`numpy.atleast_1d` and `numpy.atleast_2d` of an array."""
    x = call.kinds[0]
    return moved(x, max(x.ndim, ndim), RESHAPED) if only(call) else None


@function(np.atleast_1d)
def write_atleast_1d(call: Call) -> Written | None:
    return unit_axis(call, 1)


@function(np.atleast_2d)
def write_atleast_2d(call: Call) -> Written | None:
    return unit_axis(call, 2)
