"""Functions that only move entries."""

from dataclasses import replace
from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import INT, REAL, Kind, array, is_array
from rules_autodiff.straight._program.written import OWN, Call, Written

from .adjoints import number, pulls_by_adjoint
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

RESHAPE, RESHAPE_LANES = (
    "{dz}.reshape({sz})", "{dz}.reshape((*{sz}, {dz}.shape[-1]))"
)  # fmt: skip


def shape_kind(kinds: tuple[Kind, ...]) -> int | None:
    """The number of axes of a shape, given as one or more arguments."""
    if len(kinds) == 1 and kinds[0].name == "row":
        kinds = kinds[0].parts
    return len(kinds) if kinds and all(k is INT for k in kinds) else None


def moved(
    x: Kind,
    ndim: int,
    f: Any,
    options: tuple[Any, ...] = (),
    push: str = RESHAPE,
    lanes: str | None = None,
    *,
    fresh: bool = False,
) -> Written | None:
    """The result of `f(x, *options)`: these entries; a view, unless fresh."""
    if x.name != "array" or ndim < 1:
        return None
    lanes = RESHAPE_LANES if push == RESHAPE else lanes or push
    pulls = pulls_by_adjoint(f, (x,), *options) if x.is_real else (None,)
    return Written(array(ndim, x.dtype), None, pulls, fresh, (push,), (lanes,))


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
    written = moved(call.kinds[0], ndim, np.reshape, ((-1,) * ndim,))
    return with_nothing(written, call)


@function(np.ravel)
@method("ravel")
def write_ravel(call: Call) -> Written | None:
    return moved(call.kinds[0], 1, np.ravel) if only(call) else None


@method("flatten")
def write_flatten(call: Call) -> Written | None:
    if not only(call):
        return None
    moves = moved(call.kinds[0], 1, np.ravel, fresh=True)
    lanes = (f"{RESHAPE_LANES}.copy()",)
    return moves and replace(moves, pushes=(OWN,), lanes=lanes)


@method("T")
def write_T(call: Call) -> Written | None:
    return turned(call.kinds[0]) if only(call) else None


@method("mT")
def write_mT(call: Call) -> Written | None:
    ndim = call.kinds[0].ndim
    swapped = f"{{dz}}.swapaxes({ndim - 2}, {ndim - 1})"
    supported = only(call) and ndim > 1
    axes = np.swapaxes, (-2, -1)
    return moved(call.kinds[0], ndim, *axes, swapped) if supported else None


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
    moves = turned(x) if rest in ((), (None,)) else by_order(x, rest)
    return with_nothing(moves, call)


def turned(x: Kind) -> Written | None:
    """The transpose."""
    order = range(x.ndim)[::-1]
    lanes = transposed((*order, x.ndim))
    return moved(x, x.ndim, np.transpose, (), "{dz}.T", lanes)


def transposed(order: tuple[int, ...]) -> str:
    return f"{{dz}}.transpose({', '.join(map(str, order))})"


def by_order(x: Kind, order: tuple[Any, ...]) -> Written | None:
    if not all(map(whole, order)) or len(order) != x.ndim:
        return None
    axes = [axis % x.ndim for axis in order]
    if sorted(axes) != list(range(x.ndim)):
        return None
    push, lanes = transposed(tuple(axes)), transposed((*axes, x.ndim))
    return moved(x, x.ndim, np.transpose, (tuple(axes),), push, lanes)


@function(np.swapaxes)
@method("swapaxes")
def write_swapaxes(call: Call) -> Written | None:
    x, rest = call.kinds[0], call.constants[1:]
    if not only(call, 3) or not all(whole(a) and -x.ndim <= a < x.ndim for a in rest):
        return None
    swapped = f"{{dz}}.swapaxes({rest[0] % x.ndim}, {rest[1] % x.ndim})"
    return with_nothing(moved(x, x.ndim, np.swapaxes, rest, swapped), call)


@function(np.moveaxis)
def write_moveaxis(call: Call) -> Written | None:
    x, rest = call.kinds[0], call.constants[1:]
    if not only(call, 3) or not all(whole(a) and -x.ndim <= a < x.ndim for a in rest):
        return None
    order = [axis for axis in range(x.ndim) if axis != rest[0] % x.ndim]
    order.insert(rest[1] % x.ndim, rest[0] % x.ndim)
    texts = transposed(tuple(order)), transposed((*order, x.ndim))
    return with_nothing(moved(x, x.ndim, np.moveaxis, rest, *texts), call)


@function(np.expand_dims)
def write_expand_dims(call: Call) -> Written | None:
    x = call.kinds[0]
    options = settings(call, ("axis",), axis=...)
    axis = options["axis"] if options else None
    if axis is None or not whole(axis) or not -x.ndim - 1 <= axis <= x.ndim:
        return None
    return with_nothing(moved(x, x.ndim + 1, np.expand_dims, (axis,)), call)


@function(np.squeeze)
@method("squeeze")
def write_squeeze(call: Call) -> Written | None:
    """Explicit axes only: the lengths of the others are unknown."""
    x = call.kinds[0]
    options = settings(call, ("axis",), axis=None)
    if options is None or options["axis"] is None:
        return None
    axes = axes_of(options["axis"], x.ndim)
    if not axes:
        return None
    return with_nothing(moved(x, x.ndim - len(axes), np.squeeze, (axes,)), call)


@function(np.broadcast_to)
def write_broadcast_to(call: Call) -> Written | None:
    x = call.kinds[0]
    ndim = shape_kind(call.kinds[1:]) if only(call, 2) else None
    if not ndim or ndim < x.ndim or not x.is_real:
        return None
    if x is REAL:
        text: str | None = "floats(np_broadcast_to({0}, {1}))"
        pulls: tuple[str | None, ...] = "summed({dz})", None
    else:
        text, pulls = None, ("fit({dz}, {s0})", None)
    pushes = "np_broadcast_to({dz}, {sz})", None
    lanes = "np_broadcast_to({dz}, (*{sz}, {dz}.shape[-1]))", None
    return Written(array(ndim), text, pulls, False, pushes, lanes)


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
    pulls, own = pulls_by_adjoint(np.copy, (x,)) if x.is_real else (None,), (OWN,)
    made = Written(array(x.ndim), None, pulls, pushes=own, lanes=own)
    return with_nothing(made, call)


@function(np.asarray, np.asanyarray, np.ascontiguousarray)
def write_asarray(call: Call) -> Written | None:
    x = call.kinds[0]
    options = settings(call, ("dtype",), dtype=None)
    if options is None or not is_float(options["dtype"]):
        return None
    if options["dtype"] is not None and not x.is_real:
        return None
    return with_nothing(moved(x, x.ndim, np.ascontiguousarray, (), "{dz}"), call)


@method("item")
def write_item(call: Call) -> Written | None:
    supported = only(call) and is_array(call.kinds[0])
    pushes, lanes = ("{dz}.item()",), ("{dz}.reshape(-1)",)
    if not supported:
        return None
    pulls = pulls_by_adjoint(np.sum, call.kinds)  # the sum of its only entry
    return Written(REAL, None, pulls, pushes=pushes, lanes=lanes)


# in another order


@function(np.roll)
def write_roll(call: Call) -> Written | None:
    x = call.kinds[0]
    if not is_array(x) or len(call.kinds) < 2 or call.kinds[1] is not INT:
        return None
    options = settings(call, ("axis",), 2, axis=None)
    if options is None or not (options["axis"] is None or whole(options["axis"])):
        return None
    pulls = pulls_by_adjoint(np.roll, (x,), number(1), options["axis"])
    axis = 0 if x.ndim == 1 else options["axis"]
    lanes = None if axis is None else f"np_roll({{dz}}, {{1}}, {axis % x.ndim})"
    made = Written(x, None, pulls, pushes=(OWN,), lanes=(lanes,))
    return with_nothing(made, call)


def flipped(axes: tuple[int, ...], ndim: int) -> str:
    places = ["::-1" if axis in axes else ":" for axis in range(ndim)]
    return f"{{dz}}[{', '.join(places)}]"


@function(np.flip)
def write_flip(call: Call) -> Written | None:
    x = call.kinds[0]
    options = settings(call, ("axis",), axis=None)
    axes = axes_of(options["axis"], x.ndim) if options else None
    if not axes:
        return None
    text = flipped(axes, x.ndim)
    return with_nothing(moved(x, x.ndim, np.flip, (axes,), text), call)


@function(np.flipud)
def write_flipud(call: Call) -> Written | None:
    x = call.kinds[0]
    text = flipped((0,), x.ndim)
    return moved(x, x.ndim, np.flipud, (), text) if only(call) else None


@function(np.fliplr)
def write_fliplr(call: Call) -> Written | None:
    x = call.kinds[0]
    supported, text = only(call) and x.ndim > 1, flipped((1,), x.ndim)
    return moved(x, x.ndim, np.fliplr, (), text) if supported else None


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
    lead = ":, " * axes[0]
    push = f"{{dz}}[{lead}1:] - {{dz}}[{lead}:-1]"
    return with_nothing(Written(x, None, (by_x,), pushes=(push,)), call)


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
    lanes = (f"{{dz}}.repeat({{1}}, {axes[0]})",)
    made = Written(x, None, (by_x,), pushes=(OWN,), lanes=lanes)
    return with_nothing(made, call)


@function(np.tile)
def write_tile(call: Call) -> Written | None:
    """A vector several times."""
    if not only(call, 2) or call.kinds != (array(1), INT):
        return None
    by_x = "np_add_reduce({dz}.reshape({1}, *{s0}), 0)"
    lanes = "np_tile({dz}, ({1}, 1))", None
    return Written(array(1), None, (by_x, None), pushes=(OWN, None), lanes=lanes)


@function(np.sort)
def write_sort(call: Call) -> Written | None:
    """A vector in order."""
    supported = only(call) and call.kinds[0] == array(1)
    text = "{dz}[{0}.argsort(kind='stable')]"
    pulls, pushes = ("sort_back({dz}, {0})",), (text,)
    made = Written(array(1), None, pulls, pushes=pushes, lanes=pushes)
    return made if supported else None


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
    pulls = (f"{{dz}}[{', '.join(places)}]",)
    pushes = (f"padded({{dz}}, {{sz}}, {starts!r})",)
    return with_nothing(Written(x, None, pulls, pushes=pushes), call)


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
    pulls = (f"{{dz}}.diagonal({options['k']})",)
    made = Written(array(2), None, pulls, pushes=(OWN,), lanes=(None,))
    return with_nothing(made, call)


def diagonal(k: int) -> Written:
    pulls = (f"diag_back({{dz}}, {{s0}}, {k})",)
    pushes, lanes = (f"{{dz}}.diagonal({k})",), (f"{{dz}}.diagonal({k}).T",)
    return Written(array(1), None, pulls, False, pushes, lanes)


@function(np.diagonal)
@method("diagonal")
def write_diagonal(call: Call) -> Written | None:
    options = settings(call, ("offset",), offset=0)
    if options is None or not whole(options["offset"]) or call.kinds[0] != array(2):
        return None
    return with_nothing(diagonal(options["offset"]), call)


def triangle(f: Any) -> Any:
    def write_triangle(call: Call) -> Written | None:
        x = call.kinds[0]
        options = settings(call, ("k",), k=0)
        if options is None or not whole(options["k"]) or not is_array(x) or x.ndim < 2:
            return None
        pulls = pulls_by_adjoint(f, (x,), options["k"])
        made = Written(x, None, pulls, pushes=(OWN,), lanes=(None,))
        return with_nothing(made, call)

    return write_triangle


function(np.triu)(triangle(np.triu))
function(np.tril)(triangle(np.tril))


def unit_axis(call: Call, ndim: int) -> Written | None:
    """`numpy.atleast_1d` and `numpy.atleast_2d` of an array."""
    x = call.kinds[0]
    return reshaped(call, max(x.ndim, ndim)) if only(call) else None


@function(np.atleast_1d)
def write_atleast_1d(call: Call) -> Written | None:
    return unit_axis(call, 1)


@function(np.atleast_2d)
def write_atleast_2d(call: Call) -> Written | None:
    return unit_axis(call, 2)
