"""Functions of generated code, which is read again for derivatives of tangents."""

import math
from dataclasses import replace

import numpy as np

from rules_autodiff.straight._program.kinds import INT, REAL, array, is_array
from rules_autodiff.straight._program.written import Call, Written
from rules_autodiff.straight._runtime import arrays, elementwise, helpers

from .arithmetic import binary, broadcast, write_power
from .forms import is_number, only
from .joining import parts
from .reductions import MEAN, SUM
from .table import FUNCTIONS, Operation, function

__all__: list[str] = []


def with_axes(operation: Operation, keepdims: int) -> Operation:
    """A reduction whose axis, and perhaps `keepdims`, is given by position."""

    def write_with_axes(call: Call) -> Written | None:
        constants = call.constants
        if len(call.kinds) < 2 or call.options or ... in constants[1:]:
            return None
        options = {"axis": constants[1], "keepdims": constants[keepdims:] == (True,)}
        written = operation(Call(call.kinds[:1], constants[:1], options))
        if written is None:
            return None
        pulls = (*written.pulls, *(None,) * len(call.kinds))[: len(call.kinds)]
        return replace(written, text=None, pulls=pulls)

    return write_with_axes


function(np.add.reduce)(with_axes(SUM, 4))
function(arrays.mean_along)(with_axes(MEAN, 2))
function(arrays.mean_of)(lambda call: unnamed(MEAN(call)))
function(arrays.norm_of)(lambda call: unnamed(FUNCTIONS[np.linalg.norm](call)))
function(elementwise.real_power)(lambda call: unnamed(write_power(call)))


def unnamed(written: Written | None) -> Written | None:
    """An operation whose call stands in the program already."""
    return written and replace(written, text=None)


@function(arrays.row_of)
def write_row_of(call: Call) -> Written | None:
    kinds = call.kinds
    if len({k.ndim for k in kinds}) > 1 or any(k.dtype == "?" for k in kinds):
        return None
    pulls = parts(kinds, lambda i: f"{{dz}}[{i}]")
    return Written(array(1 + kinds[0].ndim), None, pulls) if kinds else None


@function(arrays.floats)
def write_floats(call: Call) -> Written | None:
    (x, *_) = call.kinds
    return Written(x, None, ("{dz}",)) if only(call) and is_array(x) else None


@function(helpers.wide)
def write_wide(call: Call) -> Written | None:
    """A tangent in the shape of a result."""
    if not only(call, 2) or call.kinds[1].name != "row" or not call.kinds[0].is_real:
        return None
    pull = "summed({dz})" if call.kinds[0] is REAL else "fit({dz}, {s0})"
    return Written(array(len(call.kinds[1].parts)), None, (pull, None))


@function(math.prod)
def write_size(call: Call) -> Written | None:
    """The number of entries, by a shape."""
    (x, *_) = call.kinds
    sizes = only(call) and x.name == "row" and all(part is INT for part in x.parts)
    return Written(INT, None, (None,)) if sizes else None


@function(elementwise.sign_or_one)
def write_divisor(call: Call) -> Written | None:
    """A norm as a divisor; where it is zero only the tape knows the derivative."""
    pull = "{dz} if {0} else unfollowed('a norm of zero')"
    supported = only(call) and call.kinds[0] is REAL
    return Written(REAL, None, (pull,)) if supported else None


# Slopes, which are factors of tangents: steps have the derivative zero.


@function(
    elementwise.math_sign,
    elementwise.math_rint,
    elementwise.math_share,
    elementwise.math_part_of,
)
def write_step_of_numbers(call: Call) -> Written | None:
    fits = all(is_number(k) or k.name == "row" for k in call.kinds)
    zeros = (None,) * len(call.kinds)
    return Written(REAL, None, zeros) if fits and not call.options else None


@function(elementwise.np_share)
def write_share(call: Call) -> Written | None:
    """A step function of arrays, whose entries are halves."""
    kind = broadcast(call.kinds[2:]) if only(call, 4) else None
    return Written(kind, None, (None,) * 4) if kind and is_array(kind) else None


@function(arrays.winners_along)
def write_winners(call: Call) -> Written | None:
    supported = only(call, 4) and is_array(call.kinds[1])
    return Written(call.kinds[1], None, (None,) * 4) if supported else None


@function(elementwise.power_slope)
def write_power_slope(call: Call) -> Written | None:
    """The slope of a power in its base; by that again."""
    if not only(call, 2) or call.kinds[1] not in (REAL, INT):
        return None
    written = binary(call, "{dz} * ({1} * power_slope({0}, {1} - 1))", "")
    return written and replace(written, text=None, pulls=(written.pulls[0], None))
