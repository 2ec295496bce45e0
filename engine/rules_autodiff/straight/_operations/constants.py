"""Functions without a derivative: new arrays, sizes, predicates."""

import math
from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import (
    BOOL,
    INT,
    REAL,
    Kind,
    array,
    is_array,
    row,
)
from rules_autodiff.straight._program.written import Call, Written

from .forms import (
    DTYPES,
    FLOATS,
    axes_of,
    is_float,
    is_number,
    only,
    settings,
    whole,
)
from .shapes import shape_kind
from .table import function, method

__all__: list[str] = []


def inactive(kind: Kind, call: Call, *, fresh: bool = True) -> Written:
    """A piecewise constant result."""
    return Written(kind, None, (None,) * len(call.kinds), fresh)


EVERYWHERE = None, "wide({dz}, {sz})"  # a number in all entries
IN_LANES = None, "wide_lanes({dz}, {sz})"


def only_dtype(call: Call) -> bool:
    """Whether the only keyword, if any, is a float dtype."""
    options = {**call.options}
    return options.pop("dtype", float) in FLOATS and not options


# new arrays


@function(np.zeros, np.ones, np.empty)
def write_zeros(call: Call) -> Written | None:
    options = settings(call, ("dtype",), dtype=None)
    ndim = shape_kind(call.kinds[:1])
    if options is None or not ndim:
        return None
    dtype = "d" if is_float(options["dtype"]) else DTYPES.get(options["dtype"])
    return inactive(array(ndim, dtype), call) if dtype else None


@function(np.eye, np.identity)
def write_eye(call: Call) -> Written | None:
    supported = call.kinds and all(k is INT for k in call.kinds)
    return inactive(array(2), call) if supported and only_dtype(call) else None


@function(np.zeros_like, np.ones_like, np.empty_like)
def write_zeros_like(call: Call) -> Written | None:
    return (
        inactive(call.kinds[0], call)
        if only(call) and is_array(call.kinds[0])
        else None
    )


@function(np.full)
def write_full(call: Call) -> Written | None:
    """A number in all entries: its cotangent is the sum."""
    supported = len(call.kinds) == 2 and only_dtype(call)
    ndim = shape_kind(call.kinds[:1]) if supported else None
    if not ndim or call.kinds[1] not in (REAL, INT):
        return None
    if call.options:
        by_value = "summed({dz})" if call.kinds[1] is REAL else None
        return Written(
            array(ndim), None, (None, by_value), pushes=EVERYWHERE, lanes=IN_LANES
        )
    if call.kinds[1] is INT:
        return inactive(array(ndim, "l"), call)
    pulls = None, "summed({dz})"
    text = "full({0}, {1})"
    return Written(array(ndim), text, pulls, pushes=EVERYWHERE, lanes=IN_LANES)


@function(np.full_like)
def write_full_like(call: Call) -> Written | None:
    if not only(call, 2) or not is_array(call.kinds[0]):
        return None
    if not is_number(call.kinds[1]):
        return None
    by_value = "summed({dz})" if call.kinds[1] is REAL else None
    pulls, pushes = ("np_zeros({s0})", by_value), ("np_zeros({sz})", EVERYWHERE[1])
    lanes = "np_zeros((*{sz}, {dz}.shape[-1]))", IN_LANES[1]
    return Written(call.kinds[0], None, pulls, pushes=pushes, lanes=lanes)


@function(np.arange)
def write_arange(call: Call) -> Written | None:
    """Integers, or numbers between inactive bounds."""
    if not only_dtype(call) or not call.kinds or len(call.kinds) > 3:
        return None
    if all(k is INT for k in call.kinds):
        return inactive(array(1, "d" if call.options else "l"), call)
    if call.options or not all(k in (REAL, INT) for k in call.kinds):
        return None
    fields = ", ".join(f"{{{i}}}" for i in range(len(call.kinds)))
    moving = "unfollowed('the bounds of numpy.arange')"
    pulls = tuple(
        moving if k is REAL and c is ... else None
        for k, c in zip(call.kinds, call.constants, strict=True)
    )
    return Written(array(1), f"float_range({fields})", pulls, pushes=pulls)


@function(np.linspace)
def write_linspace(call: Call) -> Written | None:
    """Evenly spaced numbers; both ends may be active."""
    options = settings(
        Call(call.kinds[:2], call.constants[:2], call.options), (), 2, num=50
    )
    ends, rest = call.kinds[:2], call.kinds[2:]
    if options is None or len(ends) != 2 or any(k not in (REAL, INT) for k in ends):
        return None
    if len(rest) > 1 or any(k is not INT for k in rest) or not whole(options["num"]):
        return None
    texts = "linspace_by_start({dz})", "linspace_by_stop({dz})"
    pulls = [t if k is REAL else None for k, t in zip(ends, texts, strict=True)]
    pushes = "{dz} * (1.0 - ramp({sz}))", "{dz} * ramp({sz})"
    lanes = "{dz} * (1.0 - ramp({sz}))[:, None]", "{dz} * ramp({sz})[:, None]"
    pulls += [None] * len(rest)
    return Written(array(1), None, tuple(pulls), pushes=pushes, lanes=lanes)


# sizes


@method("shape")
@function(np.shape)
def write_shape(call: Call) -> Written | None:
    x = call.kinds[0]
    if not only(call) or x.name != "array":
        return None
    return inactive(row(*(INT,) * x.ndim), call)


@method("size", "ndim")
@function(np.size, np.ndim)
def write_size(call: Call) -> Written | None:
    supported = only(call) and call.kinds[0].name == "array"
    return inactive(INT, call) if supported else None


@function(len)
def write_len(call: Call) -> Written | None:
    supported = only(call) and call.kinds[0].name in ("array", "row")
    return inactive(INT, call) if supported else None


# predicates


@function(np.isfinite, np.isnan, np.isinf, np.signbit)
def write_question(call: Call) -> Written | None:
    """A predicate of each entry."""
    x = call.kinds[0]
    if not only(call) or not (is_number(x) or x.name == "array"):
        return None
    return inactive(array(x.ndim, "?"), call)


@function(np.isclose)
def write_isclose(call: Call) -> Written | None:
    supported = {"rtol", "atol"}.issuperset(call.options) and len(call.kinds) == 2
    if not supported or not all(is_number(k) or k.name == "array" for k in call.kinds):
        return None
    return inactive(array(max(k.ndim for k in call.kinds), "?"), call)


def of_all(kind: Kind) -> Any:
    """A predicate of a whole array."""

    def write_of_all(call: Call) -> Written | None:
        supported = only(call) and call.kinds[0].name == "array"
        return inactive(kind, call) if supported else None

    return write_of_all


for _names, _functions, _kind in (
    (("any", "all"), (np.any, np.all), BOOL),
    ((), (np.count_nonzero,), INT),
):
    method(*_names)(function(*_functions)(of_all(_kind)))


@function(np.argmax, np.argmin)
@method("argmax", "argmin")
def write_argmax(call: Call) -> Written | None:
    """The index of an extreme, in the whole array or along an axis."""
    x = call.kinds[0]
    options = settings(call, ("axis",), axis=None)
    if options is None or x.name != "array":
        return None
    if options["axis"] is None:
        return inactive(INT, call)
    axes = axes_of(options["axis"], x.ndim) if whole(options["axis"]) else None
    return inactive(array(x.ndim - 1, "l"), call) if axes else None


@function(np.argsort)
@method("argsort")
def write_argsort(call: Call) -> Written | None:
    x = call.kinds[0]
    supported = only(call) and x.name == "array"
    return inactive(array(x.ndim, "l"), call) if supported else None


@function(np.searchsorted)
def write_searchsorted(call: Call) -> Written | None:
    """Positions of numbers in a sorted vector."""
    supported = len(call.kinds) == 2 and {"side"}.issuperset(call.options)
    if not supported or call.kinds[0].ndim != 1:
        return None
    v = call.kinds[1]
    return inactive(array(v.ndim, "l"), call) if is_number(v) or v.ndim else None


@function(np.array_equal, np.allclose)
def write_equality(call: Call) -> Written | None:
    supported = all(k.name == "array" or is_number(k) for k in call.kinds)
    return inactive(BOOL, call) if only(call, 2) and supported else None


@function(math.isfinite, math.isnan, math.isinf)
def write_math_question(call: Call) -> Written | None:
    supported = only(call) and is_number(call.kinds[0])
    return inactive(BOOL, call) if supported else None
