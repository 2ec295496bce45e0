"""Elementwise functions of one or two numbers or arrays."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import BOOL, INT, REAL, Kind, array
from rules_autodiff.straight._program.written import Call, Taken, Written

from .arithmetic import binary, broadcast, by_formula_of_one, prefix_of, write_remainder
from .forms import is_number, only, settings, whole
from .formulas import Product, pull_of, pulls_of, pulls_of_code
from .table import FUNCTIONS, Operation, function

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
QUICKER: dict[Any, str] = {np.tanh: "tanh_back({dz}, {z})"}


def curve(f: Any) -> Operation:
    """A smooth function, of integers too."""

    def write_curve(call: Call) -> Written | None:
        (x, *_) = call.kinds
        if not only(call) or x is BOOL or x.dtype == "?":  # NumPy: float16
            return None
        if is_number(x):
            return Written(REAL, None, (pull_of(f, "math") if x is REAL else None,))
        if x.name != "array":
            return None
        pushes = (pull_of(f, "np"),)
        pull = QUICKER.get(f, *pushes) if x.is_real else None
        return Written(array(x.ndim), None, (pull,), pushes=pushes)

    return write_curve


def of_numbers(operation: Operation) -> Operation:
    """A function of numbers alone, as in `math`."""

    def write_of_numbers(call: Call) -> Written | None:
        return operation(call) if all(map(is_number, call.kinds)) else None

    return write_of_numbers


for _name in CURVES:
    function(getattr(np, _name))(curve(getattr(np, _name)))
    _short = getattr(math, SHORT.get(_name, _name), None)
    if _short is not None:
        function(_short)(of_numbers(curve(_short)))
for _name in ("erf", "erfc"):
    function(getattr(math, _name))(of_numbers(curve(getattr(math, _name))))
function(np.rad2deg)(FUNCTIONS[np.degrees])
function(np.deg2rad)(FUNCTIONS[np.radians])


@function(math.log)
def write_log(call: Call) -> Written | None:
    """The logarithm of a number, optionally to a base."""
    from rules_numpy.formulas import FORMULAS

    if len(call.kinds) == 1:
        return of_numbers(curve(np.log))(call)
    if not only(call, 2) or not all(map(is_number, call.kinds)):
        return None
    pulls = pulls_of_code(FORMULAS["log_to_base"].partials, "math", 2)
    return Written(REAL, None, by_reals(call.kinds, pulls))


# functions of one argument that keep its kind


def of_floats(operation: Operation) -> Operation:
    """A function of floats alone: NumPy treats integers in another way."""
    return lambda call: operation(call) if call.kinds[0].is_real else None


_f: Any
for _f in (np.reciprocal, np.fabs):
    function(_f)(of_floats(by_formula_of_one(_f)))
function(math.fabs)(of_floats(of_numbers(by_formula_of_one(math.fabs))))


# step functions: zero wherever there is a derivative


@function(np.sign)
def write_sign(call: Call) -> Written | None:
    kind = broadcast(call.kinds) if only(call) else None
    return Written(kind, None, (None,)) if kind else None


for _f in (np.floor, np.ceil, np.trunc, np.rint):
    function(_f)(of_floats(by_formula_of_one(_f)))


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
    pulls = pulls_of(round, "math", 2)[: len(call.kinds)]
    return Written(kind, None, by_reals(call.kinds, pulls))


# functions of two arguments


def slopes(f: Any) -> Operation:
    """A function of two numbers or arrays with a float result."""

    def write_slopes(call: Call) -> Written | None:
        if not only(call, 2) or any(k is BOOL or k.dtype == "?" for k in call.kinds):
            return None
        written = binary(call, *pulls_of(f, prefix_of(call), 2))
        if written is None or written.kind.is_real:
            return written
        return replace(written, kind=array(written.kind.ndim), text=None)

    return write_slopes


for _f in (np.arctan2, np.logaddexp, np.hypot):
    function(_f)(slopes(_f))
function(math.atan2)(of_numbers(slopes(math.atan2)))


@function(math.hypot)
def write_hypot_of_numbers(call: Call) -> Written | None:
    supported = (
        not call.options and call.kinds and all(k in (REAL, INT) for k in call.kinds)
    )
    if not supported:
        return None
    pulls = pulls_of(math.hypot, "math", len(call.kinds))
    return Written(REAL, None, by_reals(call.kinds, pulls))


def by_reals(
    kinds: tuple[Kind, ...], pulls: Sequence[Product | str | None]
) -> tuple[str | None, ...]:
    """Texts for the active operands."""
    pairs = zip(kinds, pulls, strict=True)
    return tuple([as_text(pull) if k.is_real and pull else None for k, pull in pairs])


def as_text(pull: Product | str) -> str:
    return pull if isinstance(pull, str) else Taken(pull)


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
    if not only(call) or call.kinds[0] not in (REAL, INT, BOOL):
        return None
    return Written(REAL, None, by_reals(call.kinds, pulls_of(float, "math")))


function(np.float64)(write_float)


@function(bool)
def write_bool(call: Call) -> Written | None:
    supported = only(call) and is_number(call.kinds[0])
    return Written(BOOL, None, (None,)) if supported else None
