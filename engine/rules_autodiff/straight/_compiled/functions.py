"""The functions that compiled code calls: of numbers, and of arrays."""

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff.straight._runtime import arrays, elementwise, helpers

from .terms import (
    FLOAT,
    INT,
    NUMPY,
    PLAIN,
    Piece,
    Term,
    array,
    number,
    refuse,
)

__all__ = ["BUILTINS", "FUNCTIONS", "axes_of", "dot", "higher", "ranks_of"]

Function = Callable[..., Piece]
FUNCTIONS: dict[Any, Function] = {}  # by the function that generated code calls


def function(*called: Any) -> Callable[[Function], Function]:
    def register(make: Function) -> Function:
        for f in called:
            FUNCTIONS[f] = make
        return make

    return register


def higher(*pieces: Piece, least: int = 0) -> str:
    """The text of the highest rank of numbers."""
    found = list(dict.fromkeys([p.rank for p in pieces if p.term.is_number]))
    known = [int(rank) for rank in found if rank.isdigit()]
    texts = [rank for rank in found if not rank.isdigit()]
    lowest = max([least, *known])
    if not texts or lowest == NUMPY:
        return str(lowest)
    return f"max({', '.join([*texts, *([str(lowest)] if lowest else []), '0'])})"


def ranks_of(*pieces: Piece, least: int = 0) -> frozenset[int]:
    """The ranks that the result of arithmetic may have."""
    found = frozenset({least})
    for p in pieces:
        if p.term.is_number:
            found = frozenset(max(a, b) for a in found for b in p.term.ranks)
    return found


def check_numbers(args: tuple[Piece, ...], count: int | None = None) -> None:
    if count is not None and len(args) != count:
        refuse("a call with more or fewer arguments than are known")
    if not all(p.term.is_number for p in args):
        refuse("a function of numbers is called with something else")


def call(name: str, *args: Piece) -> str:
    return f"{name}({', '.join(p.text for p in args)})"


def of_class(rank: int, text: str) -> Piece:
    return Piece(text, number(rank), str(rank))


# elementwise functions

CURVES = (
    "exp expm1 log log2 log10 log1p sqrt sin cos tan sinh cosh tanh "
    "asin acos atan asinh acosh atanh"
).split()
LONG = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip


CHECKED = {"sqrt": "root", "log": "logarithm"}


def by_math(name: str, *args: Piece) -> str:
    """The text of a call of a function of numbers, with an error as in Python."""
    if name in CHECKED:
        return call(CHECKED[name], *args)
    return f"finite({call(f'math.{name}', *args)})"


def of_math(name: str) -> Function:
    def write(*args: Piece) -> Piece:
        check_numbers(args, 1)
        return of_class(FLOAT, by_math(name, *args))

    return write


def of_numpy(name: str) -> Function:
    def write(*args: Piece) -> Piece:
        (x,) = args
        if x.term.is_array and x.term.dtype == "d":
            return Piece(call(f"np.{LONG.get(name, name)}", x), x.term)
        check_numbers(args, 1)
        return of_class(NUMPY, by_math(name, x))

    return write


for _name in CURVES:
    FUNCTIONS[getattr(math, _name)] = of_math(_name)
    FUNCTIONS[getattr(np, LONG.get(_name, _name))] = of_numpy(_name)
for _name in ("erf", "erfc", "fabs"):
    FUNCTIONS[getattr(math, _name)] = of_math(_name)


@function(abs, np.absolute)
def write_abs(x: Piece) -> Piece:
    if x.term.is_array and x.term.dtype == "d":
        return Piece(f"np.abs({x.text})", x.term)
    check_numbers((x,))
    if x.term.is_whole:
        refuse("an absolute value of a whole number")
    return Piece(f"abs({x.text})", x.term, x.rank)


@function(elementwise.math_sign)
def write_sign(x: Piece) -> Piece:
    check_numbers((x,))
    return of_class(FLOAT, call("sign", x))


@function(np.sign)
def write_signs(x: Piece) -> Piece:
    if not x.term.is_array or x.term.dtype != "d":
        refuse("a sign of something else than an array")
    return Piece(f"np.sign({x.text})", x.term)


def of_two(name: str, rank: int) -> Function:
    def write(*args: Piece) -> Piece:
        check_numbers(args, 2)
        return of_class(rank, call(name, *args))

    return write


for _f, _name, _rank in (
    (math.atan2, "math.atan2", FLOAT), (np.arctan2, "math.atan2", NUMPY),
    (math.hypot, "distance", FLOAT), (np.hypot, "distance", NUMPY),
    (math.pow, "power", FLOAT), (elementwise.power_slope, "power_slope", FLOAT),
    (elementwise.math_inverse_part, "inverse_part", FLOAT),
):  # fmt: skip
    FUNCTIONS[_f] = of_two(_name, _rank)


@function(elementwise.real_power)
def write_real_power(*args: Piece) -> Piece:
    check_numbers(args, 2)
    if all(0 in p.term.ranks for p in args):
        refuse("a power of what may be whole numbers")
    text = call("power", *args)
    return Piece(text, Term("real", ranks_of(*args, least=1)), higher(*args, least=1))


@function(elementwise.exponents_slope)
def write_exponents_slope(x: Piece, z: Piece) -> Piece:
    check_numbers((x, z))
    return of_class(FLOAT, f"({z.text} * log_or_zero({x.text}))")


@function(elementwise.log_or_zero)
def write_log_or_zero(x: Piece) -> Piece:
    check_numbers((x,))
    return of_class(FLOAT, call("log_or_zero", x))


@function(helpers.math_lorentzian)
def write_lorentzian(x: Piece) -> Piece:
    if not (x.term.is_array or x.term.is_number):
        refuse("a derivative of something else than numbers")
    text = f"(1.0 / (1.0 + {x.text} * {x.text}))"
    return of_class(FLOAT, text) if x.term.is_number else Piece(text, x.term)


@function(elementwise.tanh_back)
def write_tanh_back(d: Piece, z: Piece) -> Piece:
    return Piece(f"({d.text} * (1.0 - {z.text} * {z.text}))", d.term)


@function(elementwise.sign_or_one)
def write_divisor(x: Piece) -> Piece:
    check_numbers((x,))
    return of_class(FLOAT, f"({x.text} if {x.text} != 0.0 else 1.0)")


def extreme(name: str, sign: str) -> Function:
    """`max` or `min` of numbers: the first of equals."""

    def write(*args: Piece) -> Piece:
        check_numbers(args)
        if len(args) < 2 or len({p.term.name for p in args}) > 1:
            refuse("an extreme of a container, or of numbers of different kinds")
        found = args[0]
        for other in args[1:]:
            rank = found.rank
            if rank != other.rank:
                rank = f"({other.rank} if {other.text} {sign} {found.text} else {rank})"
            ranks = found.term.ranks | other.term.ranks
            term = Term(found.term.name, ranks)
            found = Piece(call(name, found, other), term, rank)
        return found

    return write


FUNCTIONS[max], FUNCTIONS[min] = extreme("larger_of", ">"), extreme("smaller_of", "<")


@function(elementwise.math_part_of)
def write_part_of(x: Piece, z: Piece, numbers: Piece) -> Piece:
    """The part of a number in an extreme of several."""
    check_numbers((x, z))
    terms = (x.term, z.term, *numbers.term.parts)
    if any(term.name != "real" or PLAIN in term.ranks for term in terms):
        refuse("an extreme of what may be whole numbers")
    each = [f"{numbers.text}[{i}]" for i in range(len(numbers.term.parts))]
    ties = " + ".join(f"(1.0 if {text} == {z.text} else 0.0)" for text in each)
    return of_class(FLOAT, f"part_of({x.text}, {z.text}, {ties})")


@function(elementwise.math_share)
def write_share(*args: Piece) -> Piece:
    check_numbers(args, 4)
    return of_class(FLOAT, call("share", *args))


def numpy_extreme(name: str) -> Function:
    def write(*args: Piece) -> Piece:
        check_numbers(args, 2)
        if any(p.term.is_whole for p in args):
            refuse("an extreme of whole numbers")
        return of_class(NUMPY, call(name, *args))

    return write


FUNCTIONS[np.maximum] = numpy_extreme("known_larger")
FUNCTIONS[np.minimum] = numpy_extreme("known_smaller")


# whole numbers


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
                refuse("a whole number of NumPy's is truncated")
            return Piece(f"int({x.text})" if x.term.name == "bool" else x.text, INT)
        return Piece(f"whole({text.format(x.text)})", INT)

    return write


FUNCTIONS[int], FUNCTIONS[math.trunc] = to_whole("{}"), to_whole("{}", numpy=False)
FUNCTIONS[math.floor] = to_whole("np.floor({})")
FUNCTIONS[math.ceil] = to_whole("np.ceil({})")


@function(helpers.with_fraction)
def write_with_fraction(x: Piece) -> Piece:
    check_numbers((x,))
    if 0 in x.term.ranks:
        refuse("an integer of what may be a whole number")
    return Piece(call("with_fraction", x), x.term, x.rank)


@function(len)
def write_len(x: Piece) -> Piece:
    if not x.term.is_array:
        refuse("a length of something else than an array")
    return Piece(f"{x.text}.shape[0]", INT)


@function(helpers.size_of)
def write_size(x: Piece) -> Piece:
    if x.term.name != "row" or len(x.term.parts) != 1:
        refuse("a size by a shape of several axes")
    return Piece(f"{x.text}[0]", INT)


@function(arrays.floats)
def write_floats(x: Piece) -> Piece:
    if not x.term.is_array or x.term.dtype != "d":
        refuse("an array of whole numbers")
    return x


# new arrays


def axes_of(shape: Piece) -> int:
    """The number of axes that a shape has."""
    if shape.term.name == "int":
        return 1
    parts = shape.term.parts
    if shape.term.name != "row" or not parts or any(p.name != "int" for p in parts):
        refuse("a shape that is not made of whole numbers")
    return len(parts)


def of_shape(name: str) -> Function:
    def write(shape: Piece) -> Piece:
        return Piece(f"{name}({shape.text})", array(axes_of(shape)))

    return write


for _name in ("zeros", "ones"):
    FUNCTIONS[getattr(np, _name)] = of_shape(f"np.{_name}")


def alike(name: str) -> Function:
    def write(x: Piece) -> Piece:
        if not x.term.is_array or x.term.dtype != "d":
            refuse("an array like something else than an array of floats")
        return Piece(f"np.{name}({x.text}.shape)", x.term)

    return write


FUNCTIONS[np.zeros_like], FUNCTIONS[np.ones_like] = alike("zeros"), alike("ones")
FUNCTIONS[np.empty_like] = alike("zeros")


@function(np.copy)
def write_copy(x: Piece) -> Piece:
    if not x.term.is_array:
        refuse("a copy of something else than an array")
    return Piece(f"{x.text}.copy()", x.term)


@function(arrays.norm_of)
def write_norm(x: Piece) -> Piece:
    if x.term != array(1):
        refuse("a norm of something else than a vector")
    return of_class(NUMPY, f"math.sqrt(dot_1_1({x.text}, {x.text}))")


@function(helpers.spread, helpers.filled)
def write_spread(*args: Piece) -> Piece:
    """An array with a broadcast number or smaller array."""
    d, shape = args if args[1].term.name == "row" else args[::-1]
    if not (d.term.is_array or d.term.is_number):
        refuse("what is spread is no number and no array")
    term = array(axes_of(shape))
    if d.term.is_number:
        return Piece(f"spread(float({d.text}), {shape.text})", term)
    ends = d.term.ndim, term.ndim
    if ends not in ((1, 1), (1, 2), (2, 2)):
        refuse(f"an array of {ends[0]} axes is spread over {ends[1]}")
    return Piece(f"spread_{ends[0]}_{ends[1]}({d.text}, {shape.text})", term)


@function(helpers.wide)
def write_wide(d: Piece, shape: Piece) -> Piece:
    if d.term == array(axes_of(shape)):
        text = f"spread_{d.term.ndim}_{d.term.ndim}({d.text}, {shape.text})"
        return Piece(text, d.term)
    return write_spread(d, shape)


# reductions


@function(np.add.reduce)
def write_sum(*args: Piece) -> Piece:
    x = args[0]
    if len(args) != 2 or args[1].text != "None":
        refuse("a sum along axes")
    return of_class(NUMPY, sum_of(x))


def sum_of(x: Piece) -> str:
    if not x.term.is_array or x.term.dtype != "d" or x.term.ndim > 2:
        refuse("a sum of something else than a vector or a matrix")
    return f"sum_{x.term.ndim}({x.text})"


@function(helpers.summed)
def write_summed(x: Piece) -> Piece:
    return of_class(NUMPY, sum_of(x))


@function(arrays.mean_of)
def write_mean(x: Piece) -> Piece:
    return of_class(NUMPY, f"({sum_of(x)} / {x.text}.size)")


@function(helpers.vdot)
def write_vdot(d: Piece, x: Piece) -> Piece:
    if d.term.ndim != 1 or x.term.ndim != 1:
        return of_class(NUMPY, sum_of(Piece(f"({d.text} * {x.text})", d.term)))
    return of_class(NUMPY, f"vdot({d.text}, {x.text})")


@function(helpers.fit)
def write_fit(d: Piece, shape: Piece) -> Piece:
    ends = d.term.ndim, axes_of(shape)
    if ends not in ((1, 1), (2, 1), (2, 2)):
        refuse(f"arrays of {ends[0]} axes that meet arrays of {ends[1]}")
    return Piece(f"fit_{ends[0]}_{ends[1]}({d.text}, {shape.text})", array(ends[1]))


@function(elementwise.scaled)
def write_scaled(d: Piece, y: Piece, shape: Piece) -> Piece:
    return write_fit(Piece(f"({d.text} * {y.text})", d.term), shape)


def dot(x: Piece, y: Piece) -> Piece:
    """The product of vectors and matrices."""
    ends = x.term.ndim, y.term.ndim
    floats = x.term.dtype == y.term.dtype == "d"
    if not floats or not {*ends} <= {1, 2}:
        refuse("a product of other arrays than vectors and matrices")
    text = f"dot_{ends[0]}_{ends[1]}({x.text}, {y.text})"
    if ends == (1, 1):
        return of_class(NUMPY, text)
    return Piece(text, array(sum(ends) - 2))


@function(arrays.times)
def write_times(d: Piece, y: Piece) -> Piece:
    return dot(d, y)


@function(arrays.from_left)
def write_from_left(d: Piece, x: Piece) -> Piece:
    return dot(x, d)


# by name, where generated code uses builtins


BUILTINS: dict[str, Function] = {
    name: FUNCTIONS[getattr(builtins, name)]
    for name in ("len", "abs", "max", "min", "float", "int")
}
