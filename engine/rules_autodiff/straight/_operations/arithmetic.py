"""Operators on numbers and arrays."""

from dataclasses import replace
from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import (
    BOOL,
    INT,
    REAL,
    Kind,
    array,
    is_array,
)
from rules_autodiff.straight._program.written import Call, Written

from .forms import is_number, only, whole
from .table import function, operator

__all__ = [
    "binary", "broadcast", "is_mixed", "reduced", "signed", "write_mul",
    "write_remainder",
]  # fmt: skip


DTYPES = {"real": "d", "int": "l", "bool": "?"}


def broadcast(kinds: tuple[Kind, ...]) -> Kind | None:
    """The kind of a sum of two values."""
    if any(not is_number(k) and k.name != "array" for k in kinds):
        return None
    arrays = [k for k in kinds if k.name == "array"]
    if not arrays:
        if all(k is BOOL for k in kinds):  # the sum depends on the boolean type
            return None
        return REAL if any(k is REAL for k in kinds) else INT
    dtypes = {k.dtype for k in arrays} | {DTYPES[k.name] for k in kinds if is_number(k)}
    if dtypes == {"?"}:
        return None
    ndim = max(k.ndim for k in arrays)
    return array(ndim, "d" if "d" in dtypes else "l")


def reduced(cotangent: str, place: int, kinds: tuple[Kind, ...]) -> str | None:
    """A cotangent of the result's shape, unbroadcast to an operand."""
    own, others = kinds[place], kinds[:place] + kinds[place + 1 :]
    if not own.is_real:
        return None
    beside = any(k.name == "array" for k in others)
    if own is REAL:
        return f"summed({cotangent})" if beside else cotangent
    return f"fit({cotangent}, {{s{place}}})" if beside else cotangent


def binary(call: Call, by_x: str, by_y: str, text: str | None = None) -> Written | None:
    """An operator of two operands, by the texts of their cotangents.

    The text is for integer or boolean arrays with a number: the number may be an
    integer in one branch, and the result would not be a float array.
    """
    kinds = call.kinds
    kind = broadcast(kinds) if len(kinds) == 2 else None
    if kind is None:
        return None
    by_both = reduced(by_x, 0, kinds), reduced(by_y, 1, kinds)
    text = f"floats({text})" if text and is_mixed(call) else None
    return Written(kind, text, by_both, pushes=pushes_of(kind, by_x, by_y))


def pushes_of(kind: Kind, *texts: str | None) -> tuple[str | None, ...] | None:
    """The tangents of an elementwise operation: the cotangents' texts as they are."""
    return texts if kind.name == "array" else None


def is_mixed(call: Call) -> bool:
    """Whether numbers alone, and not literals, make the result a float."""
    if any(is_array(k) for k in call.kinds) or all(map(is_number, call.kinds)):
        return False
    pairs = zip(call.kinds, call.constants, strict=True)
    numbers = [c for k, c in pairs if k is REAL]
    return bool(numbers) and all(type(c) is not float for c in numbers)


def beside_array(kinds: tuple[Kind, ...], place: int) -> bool:
    """Whether an operand is a number and the other an array of float64."""
    return kinds[place] is REAL and is_array(kinds[1 - place])


def replaced(written: Written, place: int, text: str) -> Written:
    """This operation with another cotangent of one operand."""
    pulls = (*written.pulls[:place], text, *written.pulls[place + 1 :])
    return replace(written, pulls=pulls)


@operator("add")
@function(np.add)
def write_add(call: Call) -> Written | None:
    return None if call.options else binary(call, "{dz}", "{dz}", "{0} + {1}")


@operator("sub")
@function(np.subtract)
def write_sub(call: Call) -> Written | None:
    written = None if call.options else binary(call, "{dz}", "-{dz}", "{0} - {1}")
    if written and call.kinds[1] is REAL and written.kind is not REAL:
        return replaced(written, 1, "-summed({dz})")
    return written


@operator("mul")
@function(np.multiply)
def write_mul(call: Call) -> Written | None:
    kinds = call.kinds
    by_x, by_y = "{dz} * {1}", "{dz} * {0}"
    written = None if call.options else binary(call, by_x, by_y, "{0} * {1}")
    if written is None or written.kind is REAL:
        return written
    # For an array operand a number's cotangent is an inner product.
    if beside_array(kinds, 0):
        return replaced(written, 0, "vdot({dz}, {1})")
    if beside_array(kinds, 1):
        return replaced(written, 1, "vdot({dz}, {0})")
    if is_array(kinds[0]) and is_array(kinds[1]):
        pulls = "scaled({dz}, {1}, {s0})", "scaled({dz}, {0}, {s1})"
        return replace(written, text=None, pulls=pulls)
    return written


@operator("truediv")
@function(np.divide)
def write_truediv(call: Call) -> Written | None:
    kinds = call.kinds
    by_x, by_y = "{dz} / {1}", "-({dz} * {z} / {1})"
    written = None if call.options else binary(call, by_x, by_y)
    if written is None:
        return None
    kind = REAL if written.kind is INT else array(written.kind.ndim, "d")
    if beside_array(kinds, 1):
        written = replaced(written, 1, "-vdot({dz}, {z}) / {1}")
    return replace(written, kind=kind, text=None, pushes=pushes_of(kind, by_x, by_y))


@operator("neg")
@function(np.negative)
def write_neg(call: Call) -> Written | None:
    return signed(call, "-{dz}")


@operator("pos")
@function(np.positive)
def write_pos(call: Call) -> Written | None:
    return signed(call, "{dz}")


def signed(call: Call, by_x: str) -> Written | None:
    kind = broadcast(call.kinds) if only(call) else None
    if kind is None:
        return None
    pull = by_x if kind.is_real else None
    return Written(kind, None, (pull,), pushes=pushes_of(kind, by_x))


# powers


@operator("pow")
@function(pow)
def write_pow(call: Call) -> Written | None:
    """Powers; powers of numbers with a complex result raise."""
    written = write_power(call)
    if written is None or written.kind is not REAL or whole(call.constants[1]):
        return written
    if call.kinds[1] is INT:
        return written
    return Written(REAL, "real_power({0}, {1})", written.pulls)


@function(np.power)
def write_power(call: Call) -> Written | None:
    if not only(call, 2):
        return None
    (x, y), p = call.kinds, call.constants[1]
    if x is INT and y is INT:  # a negative exponent gives a float
        return Written(INT, None, (None, None)) if whole(p) and p >= 0 else None
    if whole(p) and x.is_real:
        pushes = pushes_of(x, by_base(p), None)
        return Written(x, None, (by_base(p), None), pushes=pushes)
    if not all(k.is_real or k is INT or k.dtype == "l" for k in (x, y)):
        return None
    if not (x.is_real or y.is_real):
        return None
    slope = "{dz} * ({1} * {0} ** ({1} - 1))" if y is INT else POWER_BY_BASE
    return binary(call, slope, "{dz} * exponents_slope({0}, {z})", "{0} ** {1}")


POWER_BY_BASE = "{dz} * power_slope({0}, {1})"


def by_base(p: int) -> str | None:
    """The cotangent of `x` in `x**p` for a literal whole exponent."""
    texts = {
        0: None, 1: "{dz}", 2: "{dz} * ({0} + {0})", 3: "{dz} * (3 * ({0} * {0}))",
        -1: "-({dz} * ({z} * {z}))",
    }  # fmt: skip
    return texts[p] if p in texts else f"{{dz}} * ({p} * {{0}} ** {p - 1})"


# quotients of integers


@operator("floordiv")
@function(np.floor_divide)
def write_floordiv(call: Call) -> Written | None:
    written = binary(call, "", "", "{0} // {1}") if only(call, 2) else None
    return written and Written(written.kind, written.text, (None, None))


@operator("mod")
def write_mod(call: Call) -> Written | None:
    if not only(call, 2):
        return None
    return binary(call, "{dz}", "-({dz} * ({0} // {1}))", "{0} % {1}")


@function(np.remainder, np.fmod)
def write_remainder(call: Call) -> Written | None:
    if not only(call, 2) or is_mixed(call):
        return None
    return binary(call, "{dz}", "-({dz} * np_rint(({0} - {z}) / {1}))")


# comparisons


def compared(call: Call) -> Written | None:
    """The kind of a comparison."""
    kinds = call.kinds
    if not only(call, 2) or any(not is_number(k) and k.name != "array" for k in kinds):
        return None
    return Written(array(max(k.ndim for k in kinds), "?"), None, (None, None))


COMPARISONS: dict[str, Any] = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip
for _name, _ufunc in COMPARISONS.items():
    operator(_name)(function(_ufunc)(compared))


def both_boolean(call: Call) -> Written | None:
    """Masks, or integers, combined."""
    kinds = call.kinds
    if not only(call, 2) or any(k.is_real for k in kinds):
        return None
    dtypes = {dtype_of(k) for k in kinds}
    if len(dtypes) > 1 or None in dtypes:
        return None
    (dtype,) = dtypes
    return Written(array(max(k.ndim for k in kinds), dtype or ""), None, (None, None))


def dtype_of(kind: Kind) -> str | None:
    if kind.name == "array":
        return kind.dtype
    return {"int": "l", "bool": "?"}.get(kind.name)


BITWISE: dict[str, Any] = {
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor
}  # fmt: skip
for _name, _ufunc in BITWISE.items():
    operator(_name)(function(_ufunc)(both_boolean))


@operator("invert")
@function(np.invert)
def write_invert(call: Call) -> Written | None:
    """The inverse of a mask, or of an integer."""
    (x, *_) = call.kinds
    if not only(call) or x.is_real or dtype_of(x) is None or x is BOOL:
        return None  # ~True is -2 in Python, False in NumPy
    return Written(x, None, (None,))


def logical(call: Call) -> Written | None:
    """`numpy.logical_and` and similar functions."""
    count = 1 if len(call.kinds) == 1 else 2
    if not only(call, count) or any(dtype_of(k) != "?" for k in call.kinds):
        return None
    kind = array(max(k.ndim for k in call.kinds), "?")
    return Written(kind, None, (None,) * count)


function(np.logical_and, np.logical_or, np.logical_xor, np.logical_not)(logical)
