"""Functions of numbers in compiled code, and of arrays entry by entry."""

import math
from typing import Any

import numpy as np

from rules_autodiff.straight._runtime import arrays, elementwise, helpers

from .table import (
    FUNCTIONS,
    Function,
    axes_of,
    call,
    check_floats,
    check_numbers,
    function,
    higher,
    is_certain,
    of_class,
    ranks_of,
)
from .terms import FLOAT, INT, NUMPY, PLAIN, Piece, Term, array, refuse

__all__: list[str] = []


# elementwise functions

CURVES = (
    "exp expm1 log log2 log10 log1p sqrt sin cos tan sinh cosh tanh "
    "asin acos atan asinh acosh atanh exp2 cbrt degrees radians"
).split()
LONG = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip


CHECKED = {"sqrt": "root", "log": "logarithm"}
# Those that `math` of compiled code does not have, or in another way.
BY_NUMPY = frozenset({"exp2", "cbrt"})


def by_math(name: str, *args: Piece) -> str:
    """The text of a call of a function of numbers, with an error as in Python."""
    if name in CHECKED:
        return call(CHECKED[name], *args)
    home = "np" if name in BY_NUMPY else "math"
    return f"finite({call(f'{home}.{name}', *args)})"


def of_math(name: str) -> Function:
    def write(*args: Piece) -> Piece:
        check_numbers(args, 1)
        return of_class(FLOAT, by_math(name, *args))

    return write


def of_numpy(name: str) -> Function:
    def write(*args: Piece) -> Piece:
        (x,) = args
        if x.term.is_array:
            check_floats(x)
            return Piece(call(f"np.{LONG.get(name, name)}", x), x.term)
        check_numbers(args, 1)
        return of_class(NUMPY, by_math(name, x))

    return write


for _name in CURVES:
    FUNCTIONS[getattr(math, _name)] = of_math(_name)
    FUNCTIONS[getattr(np, LONG.get(_name, _name))] = of_numpy(_name)
for _name in ("erf", "erfc", "fabs"):
    FUNCTIONS[getattr(math, _name)] = of_math(_name)


FUNCTIONS[np.deg2rad], FUNCTIONS[np.rad2deg] = (
    FUNCTIONS[np.radians], FUNCTIONS[np.degrees],
)  # fmt: skip


@function(abs)
def write_abs(x: Piece) -> Piece:
    if x.term.is_array:
        check_floats(x)
        return Piece(f"np.abs({x.text})", x.term)
    check_numbers((x,))
    if x.term.name == "bool":
        refuse("truth values are not known")
    name = "abs_int" if x.term.is_whole else "abs"
    return Piece(call(name, x), x.term, x.rank)


@function(np.absolute, np.fabs)
def write_absolute(x: Piece) -> Piece:
    found = write_abs(x)
    if x.term.is_array:
        return found
    return Piece(found.text, Term(x.term.name, frozenset({NUMPY})), str(NUMPY))


def entrywise(text: str, of_number: str = "") -> Function:
    """A formula of a float of NumPy, and of each entry of an array of floats."""

    def write(x: Piece) -> Piece:
        if x.term.is_array:
            check_floats(x)
            return Piece(text.format(x=x.text), x.term)
        if not is_certain(x):
            refuse("only floats are known")
        return of_class(NUMPY, (of_number or text).format(x=x.text))

    return write


for _name in ("floor", "ceil", "trunc", "rint"):  # floats stay floats
    FUNCTIONS[getattr(np, _name)] = entrywise(f"np.{_name}({{x}})")
FUNCTIONS[np.square] = entrywise("({x} * {x})")
FUNCTIONS[np.reciprocal] = entrywise("(1.0 / {x})")
FUNCTIONS[np.sign] = entrywise("np.sign({x})", "sign({x})")


@function(elementwise.math_rint)
def write_rint(x: Piece) -> Piece:
    check_numbers((x,))
    return of_class(FLOAT, f"np.rint({x.text})")


def asked(name: str, rank: int) -> Function:
    """Whether a number, or each entry of an array, is finite, infinite, or neither."""

    def write(x: Piece) -> Piece:
        if x.term.is_array:
            check_floats(x)
            if rank == PLAIN:
                refuse("only numbers are known")
            return Piece(f"np.{name}({x.text})", array(x.term.ndim, "?"))
        check_numbers((x,))
        text = str(name == "isfinite") if x.term.is_whole else f"math.{name}({x.text})"
        return Piece(text, Term("bool", frozenset({rank})), str(rank))

    return write


for _name in ("isnan", "isinf", "isfinite"):
    FUNCTIONS[getattr(math, _name)] = asked(_name, PLAIN)
    FUNCTIONS[getattr(np, _name)] = asked(_name, NUMPY)


@function(elementwise.math_sign)
def write_sign(x: Piece) -> Piece:
    check_numbers((x,))
    return of_class(FLOAT, call("sign", x))


def of_two(name: str, rank: int) -> Function:
    def write(*args: Piece) -> Piece:
        check_numbers(args, 2)
        return of_class(rank, call(name, *args))

    return write


_f: Any
for _f, _name, _rank in (
    (math.atan2, "math.atan2", FLOAT), (math.hypot, "distance", FLOAT),
    (math.pow, "power", FLOAT),
    (elementwise.math_inverse_part, "inverse_part", FLOAT),
):  # fmt: skip
    FUNCTIONS[_f] = of_two(_name, _rank)


def of_two_arrays(name: str, of_arrays: str, rank: int = NUMPY) -> Function:
    """A function of two numbers, or of arrays of floats."""
    of_numbers = of_two(name, rank)

    def write(x: Piece, y: Piece) -> Piece:
        if not (x.term.is_array or y.term.is_array):
            return of_numbers(x, y)
        if not all(
            p.term.dtype == "d" or p.term.name in ("real", "int") for p in (x, y)
        ):
            refuse("only floats are known")
        return Piece(call(of_arrays, x, y), array(max(x.term.ndim, y.term.ndim)))

    return write


for _f, _name, _of_arrays in (
    (np.arctan2, "math.atan2", "np.arctan2"), (np.hypot, "distance", "np.hypot"),
    (np.logaddexp, "np.logaddexp", "np.logaddexp"),
    (elementwise.np_inverse_part, "inverse_part", "inverse_parts"),
):  # fmt: skip
    FUNCTIONS[_f] = of_two_arrays(_name, _of_arrays)


@function(elementwise.real_power)
def write_real_power(*args: Piece) -> Piece:
    check_numbers(args, 2)
    if all(0 in p.term.ranks for p in args):
        refuse("both may be whole numbers of Python")
    text = call("power", *args)
    return Piece(text, Term("real", ranks_of(*args, least=1)), higher(*args, least=1))


@function(helpers.math_hypotenuse, helpers.np_hypotenuse)
def write_hypotenuse(x: Piece) -> Piece:
    if x.term.is_array:
        check_floats(x)
        return Piece(f"np.hypot(1.0, {x.text})", x.term)
    check_numbers((x,))
    return of_class(FLOAT, f"distance(1.0, {x.text})")


@function(elementwise.power_slope)
def write_power_slope(x: Piece, p: Piece) -> Piece:
    """The slope of a power in its base, zero where the exponent is."""
    if not (x.term.is_array or p.term.is_array):
        check_numbers((x, p))
        return of_class(FLOAT, call("power_slope", x, p))
    known = [v.term.dtype == "d" or v.term.is_number for v in (x, p)]
    if not all(known):
        refuse("only floats are known")
    own, exponent = (f"exact({v.text})" if v.term.is_whole else v.text for v in (x, p))
    zeros = f"(({own} == 0.0) & ({exponent} == 0.0))"
    text = f"({exponent} * {own} ** ({exponent} - 1.0 + {zeros}))"
    return Piece(text, array(max(x.term.ndim, p.term.ndim)))


@function(elementwise.exponents_slope)
def write_exponents_slope(x: Piece, z: Piece) -> Piece:
    if x.term.is_array:
        check_floats(x)
        return Piece(f"({z.text} * np.log({x.text} + ({x.text} == 0.0)))", z.term)
    check_numbers((x,))
    if z.term.is_array:
        return Piece(f"({z.text} * log_or_zero({x.text}))", z.term)
    return of_class(FLOAT, f"({z.text} * log_or_zero({x.text}))")


@function(elementwise.log_or_zero)
def write_log_or_zero(x: Piece) -> Piece:
    check_numbers((x,))
    return of_class(FLOAT, call("log_or_zero", x))


@function(helpers.math_lorentzian)
def write_lorentzian(x: Piece) -> Piece:
    if not (x.term.is_array or x.term.is_number):
        refuse("only numbers and arrays are known")
    text = f"(1.0 / (1.0 + {x.text} * {x.text}))"
    return of_class(FLOAT, text) if x.term.is_number else Piece(text, x.term)


@function(elementwise.tanh_back)
def write_tanh_back(d: Piece, z: Piece) -> Piece:
    return Piece(f"({d.text} * (1.0 - {z.text} * {z.text}))", d.term)


@function(elementwise.sign_or_one, elementwise.nonzero)
def write_divisor(x: Piece) -> Piece:
    if x.term.is_array:
        check_floats(x)
        return Piece(f"({x.text} + ({x.text} == 0.0))", x.term)
    check_numbers((x,))
    return of_class(FLOAT, f"({x.text} if {x.text} != 0.0 else 1.0)")


# whole numbers


@function(np.float64)
def write_float64(x: Piece) -> Piece:
    return of_class(NUMPY, write_float(x).text)


@function(float)
def write_float(x: Piece) -> Piece:
    check_numbers((x,))
    if x.term.name == "bool":
        return of_class(FLOAT, f"(1.0 if {x.text} else 0.0)")
    text = f"exact({x.text})" if x.term.name == "int" else f"float({x.text})"
    return of_class(FLOAT, text)


def to_whole(text: str, *, numpy: bool = True) -> Function:
    def write(x: Piece) -> Piece:
        check_numbers((x,))
        if x.term.is_whole:
            if NUMPY in x.term.ranks and not numpy:
                refuse("whole numbers of NumPy's are not known")
            return Piece(f"int({x.text})" if x.term.name == "bool" else x.text, INT)
        return Piece(f"whole({text.format(x.text)})", INT)

    return write


function(int)(to_whole("{}"))
FUNCTIONS[math.trunc] = to_whole("{}", numpy=False)
FUNCTIONS[math.floor] = to_whole("np.floor({})")
FUNCTIONS[math.ceil] = to_whole("np.ceil({})")
function(round)(to_whole("np.rint({})", numpy=False))


@function(helpers.with_fraction)
def write_with_fraction(x: Piece) -> Piece:
    check_numbers((x,))
    if 0 in x.term.ranks:
        refuse("it may be a whole number already")
    return Piece(call("with_fraction", x), x.term, x.rank)


@function(len)
def write_len(x: Piece) -> Piece:
    if not x.term.is_array:
        refuse("only arrays are known")
    return Piece(f"{x.text}.shape[0]", INT)


@function(helpers.size_of)
def write_size(x: Piece) -> Piece:
    if x.term.name != "row" or not x.term.parts:
        refuse("only shapes are known")
    product = " * ".join(f"{x.text}[{i}]" for i in range(axes_of(x)))
    return Piece(f"({product})", INT)


@function(arrays.floats)
def write_floats(x: Piece) -> Piece:
    if not x.term.is_array or x.term.dtype != "d":
        refuse("only arrays of floats are known")
    return x
