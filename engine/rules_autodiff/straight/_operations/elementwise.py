"""Elementwise functions of one or two numbers or arrays."""

import math
from dataclasses import replace

import numpy as np

from rules_autodiff.straight._program.kinds import BOOL, INT, REAL, Kind, array
from rules_autodiff.straight._program.written import Call, Written

from .arithmetic import (
    binary,
    broadcast,
    signed,
    write_remainder,
)
from .forms import is_number, only, settings, whole
from .formulas import pull_of
from .table import FUNCTIONS, Operation, function, operator

__all__ = ["by_reals"]


# functions of one argument, with derivatives from formulas of the NumPy pack

CURVES = (
    "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh arcsin "
    "arccos arctan arcsinh arccosh arctanh degrees radians"
).split()
SHORT = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh",
}  # fmt: skip
# For arrays, faster than the formula: memory is allocated once.
QUICKER = {"tanh": "tanh_back({dz}, {z})"}


def curve(name: str) -> Operation:
    """A smooth function, of integers too."""

    def write_curve(call: Call) -> Written | None:
        (x, *_) = call.kinds
        if not only(call) or x is BOOL or x.dtype == "?":  # NumPy: float16
            return None
        if is_number(x):
            pull = pull_of(name, "math") if x is REAL else None
            return Written(REAL, None, (pull,))
        if x.name != "array":
            return None
        pull = QUICKER.get(name) or pull_of(name, "np")
        pull = pull if x.is_real else None
        pushes = (pull_of(name, "np"),)
        return Written(array(x.ndim), None, (pull,), pushes=pushes)

    return write_curve


def of_numbers(operation: Operation) -> Operation:
    """A function of numbers alone, as in `math`."""

    def write_of_numbers(call: Call) -> Written | None:
        return operation(call) if all(map(is_number, call.kinds)) else None

    return write_of_numbers


for _name in CURVES:
    function(getattr(np, _name))(curve(_name))
    _short = getattr(math, SHORT.get(_name, _name), None)
    if _short is not None:
        function(_short)(of_numbers(curve(_name)))
for _name in ("erf", "erfc"):
    function(getattr(math, _name))(of_numbers(curve(_name)))
function(np.rad2deg)(FUNCTIONS[np.degrees])
function(np.deg2rad)(FUNCTIONS[np.radians])


@function(math.log)
def write_log(call: Call) -> Written | None:
    """The logarithm of a number, optionally to a base."""
    if len(call.kinds) == 1:
        return of_numbers(curve("log"))(call)
    if not only(call, 2) or not all(map(is_number, call.kinds)):
        return None
    by_x, by_base = (
        "{dz} / ({0} * math_log({1}))",
        "-{dz} * {z} / ({1} * math_log({1}))",
    )
    pulls = by_x, by_base
    of_real = zip(call.kinds, pulls, strict=True)
    return Written(
        REAL, None, tuple(text if k is REAL else None for k, text in of_real)
    )


# functions of one argument that preserve integers


@function(np.square)
def write_square(call: Call) -> Written | None:
    return signed(call, "{dz} * ({0} + {0})")


@function(np.reciprocal)
def write_reciprocal(call: Call) -> Written | None:
    return signed(call, "-({dz} * ({z} * {z}))") if call.kinds[0].is_real else None


@operator("abs")
@function(abs, np.absolute)
def write_abs(call: Call) -> Written | None:
    """The absolute value, zero at zero."""
    return signed(
        call, "{dz} * sign({0})" if call.kinds[0] is REAL else "{dz} * np_sign({0})"
    )


@function(np.fabs)
def write_fabs(call: Call) -> Written | None:
    return write_abs(call) if call.kinds[0].is_real else None


@function(math.fabs)
def write_fabs_of_number(call: Call) -> Written | None:
    return write_abs(call) if call.kinds[0] is REAL else None


# step functions: zero wherever there is a derivative


@function(np.sign)
def write_sign(call: Call) -> Written | None:
    kind = broadcast(call.kinds) if only(call) else None
    return Written(kind, None, (None,)) if kind else None


@function(np.floor, np.ceil, np.trunc, np.rint)
def write_step(call: Call) -> Written | None:
    (x, *_) = call.kinds
    return Written(x, None, (None,)) if only(call) and x.is_real else None


def to_whole(name: str) -> Operation:
    """A conversion to an integer; the tape decides where that keeps all digits."""

    def write_whole(call: Call) -> Written | None:
        if not only(call) or not is_number(call.kinds[0]):
            return None
        text = f"{name}(with_fraction({{0}}))" if call.kinds[0] is REAL else None
        return Written(INT, text, (None,))

    return write_whole


def of_reals(operation: Operation) -> Operation:
    """A function of numbers, but not of a bool."""
    return lambda call: None if call.kinds[0] is BOOL else operation(call)


function(int)(to_whole("int"))
function(math.trunc)(of_reals(to_whole("int")))
function(math.floor)(of_reals(to_whole("math_floor")))
function(math.ceil)(of_reals(to_whole("math_ceil")))
ROUND = of_reals(to_whole("round"))


@function(round)
def write_round(call: Call) -> Written | None:
    """An integer, or with digits a number."""
    options = settings(call, ("ndigits",), ndigits=None)
    if options is None or call.kinds[0] not in (REAL, INT):
        return None
    if not (options["ndigits"] is None or whole(options["ndigits"])):
        return None
    if len(call.kinds) == 1 and not call.options:
        return ROUND(call)
    kind = INT if options["ndigits"] is None else call.kinds[0]
    return Written(kind, None, (None,) * len(call.kinds))


# functions of two arguments


def slopes(by_x: str, by_y: str) -> Operation:
    """A function of two numbers or arrays with a float result."""

    def write_slopes(call: Call) -> Written | None:
        supported = only(call, 2) and not any(
            k is BOOL or k.dtype == "?" for k in call.kinds
        )
        written = binary(call, by_x, by_y) if supported else None
        if written is None or written.kind.is_real:
            return written
        return replace(written, kind=array(written.kind.ndim), text=None)

    return write_slopes


ARCTAN2 = slopes("{dz} * arctan2_slope({1}, {0})", "-({dz} * arctan2_slope({0}, {1}))")
function(np.arctan2)(ARCTAN2)
function(math.atan2)(of_numbers(ARCTAN2))
function(np.logaddexp)(
    slopes(
        "{dz} * np_exp(-np_logaddexp(0.0, {1} - {0}))",
        "{dz} * np_exp(-np_logaddexp(0.0, {0} - {1}))",
    )
)


@function(np.hypot)
def write_hypot(call: Call) -> Written | None:
    """The length, with derivative zero at zero."""
    arrays = any(k.name == "array" for k in call.kinds)
    size = "nonzero({z})" if arrays else "({z} or 1.0)"
    return slopes(f"{{dz}} * ({{0}} / {size})", f"{{dz}} * ({{1}} / {size})")(call)


@function(math.hypot)
def write_hypot_of_numbers(call: Call) -> Written | None:
    supported = (
        not call.options and call.kinds and all(k in (REAL, INT) for k in call.kinds)
    )
    if not supported:
        return None
    texts = [f"{{dz}} * ({{{i}}} / ({{z}} or 1.0))" for i in range(len(call.kinds))]
    return Written(REAL, None, by_reals(call.kinds, texts))


def by_reals(kinds: tuple[Kind, ...], texts: list[str]) -> tuple[str | None, ...]:
    """Texts for the active operands."""
    return tuple([t if k.is_real else None for k, t in zip(kinds, texts, strict=True)])


@function(math.pow)
def write_pow_of_numbers(call: Call) -> Written | None:
    if not only(call, 2) or not all(k in (REAL, INT) for k in call.kinds):
        return None
    texts = ["{dz} * power_slope({0}, {1})", "{dz} * exponents_slope({0}, {z})"]
    return Written(REAL, None, by_reals(call.kinds, texts))


REMAINDER = of_numbers(write_remainder)
function(math.fmod, math.remainder)(REMAINDER)


# conversions


@function(float)
def write_float(call: Call) -> Written | None:
    supported = only(call) and call.kinds[0] in (REAL, INT, BOOL)
    return (
        Written(REAL, None, ("{dz}" if call.kinds[0] is REAL else None,))
        if supported
        else None
    )


function(np.float64)(write_float)


@function(bool)
def write_bool(call: Call) -> Written | None:
    supported = only(call) and is_number(call.kinds[0])
    return Written(BOOL, None, (None,)) if supported else None
