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
from .formulas import Product, pull_of, pulls_of
from .table import Operation, function, operator

__all__ = [
    "binary", "broadcast", "by_formula", "by_formula_of_one", "is_mixed", "prefix_of",
    "reduced", "write_power", "write_remainder",
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


def reduced(cotangent: Product | str, place: int, kinds: tuple[Kind, ...]) -> Any:
    """A cotangent of the result's shape, unbroadcast to an operand."""
    if isinstance(cotangent, Product):
        return cotangent.reduced(place, kinds)
    own, others = kinds[place], kinds[:place] + kinds[place + 1 :]
    if not own.is_real:
        return None
    beside = any(k.name == "array" for k in others)
    if own is REAL:
        return f"summed({cotangent})" if beside else cotangent
    return f"fit({cotangent}, {{s{place}}})" if beside else cotangent


def binary(
    call: Call, *cotangents: Product | str | None, text: str | None = None
) -> Written | None:
    """An operator of two operands, by their cotangents; None for zero.

    The text is for integer or boolean arrays with a number: the number may be an
    integer in one branch, and the result would not be a float array.
    """
    kinds = call.kinds
    kind = broadcast(kinds) if len(kinds) == 2 else None
    if kind is None:
        return None
    pulls = [reduced(d, i, kinds) if d else None for i, d in enumerate(cotangents)]
    text = f"floats({text})" if text and is_mixed(call) else None
    return Written(kind, text, tuple(pulls), pushes=pushes_of(kind, *cotangents))


def by_formula(f: Any, text: str | None = None) -> Operation:
    """The operation of an operator, by the formula of the pack."""

    def write_by_formula(call: Call) -> Written | None:
        if not only(call, 2):
            return None
        return binary(call, *pulls_of(f, prefix_of(call), 2), text=text)

    return write_by_formula


def by_formula_of_one(f: Any) -> Operation:
    """The operation of a function that keeps the kind of its argument."""

    def write_of_one(call: Call) -> Written | None:
        kind = broadcast(call.kinds) if only(call) else None
        if kind is None:
            return None
        by_x = pull_of(f, prefix_of(call)) if kind.is_real else None
        return Written(kind, None, (by_x,), pushes=pushes_of(kind, by_x))

    return write_of_one


def prefix_of(call: Call) -> str:
    """The namespace of a call's operands."""
    return "math" if all(map(is_number, call.kinds)) else "np"


def pushes_of(kind: Kind, *texts: Product | str | None) -> Any:
    """The tangents of an elementwise operation: the cotangents' texts as they are."""
    if kind.name != "array":
        return None
    return tuple([None if text is None else str(text) for text in texts])


def is_mixed(call: Call) -> bool:
    """Whether numbers alone, and not literals, make the result a float."""
    if any(is_array(k) for k in call.kinds) or all(map(is_number, call.kinds)):
        return False
    pairs = zip(call.kinds, call.constants, strict=True)
    numbers = [c for k, c in pairs if k is REAL]
    return bool(numbers) and all(type(c) is not float for c in numbers)


# By the operator's name in Python: the function, and the text of the call.
OPERATIONS: dict[str, tuple[Any, str | None]] = {
    "add": (np.add, "{0} + {1}"),
    "sub": (np.subtract, "{0} - {1}"),
    "mul": (np.multiply, "{0} * {1}"),
    "floordiv": (np.floor_divide, "{0} // {1}"),
}
for _name, (_function, _text) in OPERATIONS.items():
    operator(_name)(function(_function)(by_formula(_function, _text)))
for _name, _functions in {
    "neg": (np.negative,),
    "pos": (np.positive,),
    "abs": (np.absolute, abs),
}.items():
    operator(_name)(function(*_functions)(by_formula_of_one(_functions[0])))
function(np.square)(by_formula_of_one(np.square))


@operator("truediv")
@function(np.divide)
def write_truediv(call: Call) -> Written | None:
    """A quotient, of integers too, is a float."""
    written = by_formula(np.divide)(call)
    if written is None or written.kind is not INT:
        return written and replace(written, kind=of_floats(written.kind))
    return replace(written, kind=REAL)


def of_floats(kind: Kind) -> Kind:
    return array(kind.ndim, "d") if kind.name == "array" else kind


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
    by_exponent = "{dz} * exponents_slope({0}, {z})"
    return binary(call, slope, by_exponent, text="{0} ** {1}")


POWER_BY_BASE = "{dz} * power_slope({0}, {1})"
# Exponents of functions that have a formula.
SAME: dict[int, Any] = {1: np.positive, 2: np.square, -1: np.reciprocal}


def by_base(p: int) -> str | None:
    """The cotangent of `x` in `x**p` for a literal whole exponent."""
    if p in SAME:
        return pull_of(SAME[p], "np")
    texts = {0: None, 3: "{dz} * (3 * ({0} * {0}))"}
    return texts[p] if p in texts else f"{{dz}} * ({p} * {{0}} ** {p - 1})"


# remainders


operator("mod")(by_formula(np.remainder, "{0} % {1}"))
REMAINDER = by_formula(np.remainder)


@function(np.remainder, np.fmod)
def write_remainder(call: Call) -> Written | None:
    """Remainders, with the whole quotient that the values give."""
    return None if is_mixed(call) else REMAINDER(call)


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
