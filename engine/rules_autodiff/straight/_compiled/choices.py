"""Choices in compiled code: extremes of numbers and arrays, `where`, `clip`."""

from typing import Any

import numpy as np

from rules_autodiff.straight._runtime import elementwise

from .table import (
    FUNCTIONS,
    Function,
    call,
    check_numbers,
    function,
    is_certain,
    of_class,
)
from .terms import FLOAT, INT, NONE, NUMPY, PLAIN, Piece, Term, array, refuse

__all__: list[str] = []

NO_BOUND = Piece("None", NONE)


def extreme(name: str, sign: str) -> Function:
    """`max` or `min` of numbers: the first of equals."""

    def write(*args: Piece) -> Piece:
        if len(args) < 2 or any(not p.term.is_number for p in args):
            refuse("only two or more numbers are known")
        if len({p.term.name for p in args}) > 1:
            args = tuple(map(as_real, args))
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


def as_real(x: Piece) -> Piece:
    """A number among floats; a whole number keeps its class in Python."""
    if x.term.name == "real":
        return x
    if x.term != INT:
        refuse("only floats and whole numbers of Python are known")
    text = f"float({x.text})" if x.literal else f"exact({x.text})"
    return Piece(text, Term("real", x.term.ranks), x.rank)


function(max)(extreme("larger_of", ">"))
function(min)(extreme("smaller_of", "<"))


@function(elementwise.math_part_of)
def write_part_of(x: Piece, z: Piece, numbers: Piece) -> Piece:
    """The part of a number in an extreme of several."""
    check_numbers((x, z))
    terms = (x.term, z.term, *numbers.term.parts)
    if any(term.name not in ("real", "int") for term in terms):
        refuse("an extreme of truth values")
    each = [f"{numbers.text}[{i}]" for i in range(len(numbers.term.parts))]
    ties = " + ".join(f"(1.0 if {text} == {z.text} else 0.0)" for text in each)
    # Of a float and a whole number that are equal Python takes the first.
    certain = all(term.name == "real" and PLAIN not in term.ranks for term in terms)
    name = "part_of" if certain else "part_alone"
    return of_class(FLOAT, f"{name}({x.text}, {z.text}, {ties})")


@function(elementwise.math_share)
def write_share(*args: Piece) -> Piece:
    check_numbers(args, 4)
    return of_class(FLOAT, call("share", *args))


def numpy_extreme(name: str, of_arrays: str) -> Function:
    def write(*args: Piece) -> Piece:
        if any(p.term.is_array for p in args) and len(args) == 2:
            known = [p.term.dtype == "d" or is_literal_or_float(p) for p in args]
            if not all(known):
                refuse("only floats are known")
            return Piece(call(of_arrays, *args), array(max(p.term.ndim for p in args)))
        check_numbers(args, 2)
        if not all(map(is_literal_or_float, args)):
            refuse("only floats are known")
        if all(p.term.is_whole for p in args):
            refuse("whole numbers alone are not known")
        return of_class(NUMPY, f"{name}({', '.join(f'float({p.text})' for p in args)})")

    return write


def is_literal_or_float(x: Piece) -> bool:
    """Whether a number is a float for NumPy, as a literal is beside one."""
    return is_certain(x) or (x.literal and x.term == INT)


_f: Any
for _f in (np.maximum, np.fmax):
    FUNCTIONS[_f] = numpy_extreme("known_larger", "np.maximum")
for _f in (np.minimum, np.fmin):
    FUNCTIONS[_f] = numpy_extreme("known_smaller", "np.minimum")


@function(elementwise.np_share)
def write_shares(more: Piece, less: Piece, a: Piece, b: Piece) -> Piece:
    """The part of each entry in an extreme: 1, a half at ties, or 0."""
    if not more.term.is_array:
        return write_share(more, less, a, b)
    text = f"shares({more.text}, {less.text}, ({a.text} == {b.text}))"
    return Piece(text, array(more.term.ndim))


# choices


@function(np.where)
def write_where(mask: Piece, x: Piece, y: Piece) -> Piece:
    """Entries of one or the other."""
    ndim = max(p.term.ndim for p in (mask, x, y))
    values = [p.term.dtype == "d" or p.term.is_number for p in (x, y)]
    masks = mask.term.dtype == "?" or mask.term.name == "bool"
    floats = any(p.term.dtype == "d" or is_certain(p) for p in (x, y))
    if not ndim or not masks or not all(values) or not floats:
        refuse("only masks, and arrays of floats, are known")
    return selected(mask, x, y)


def selected(mask: Piece, x: Piece, y: Piece) -> Piece:
    """Entries of one or the other: by a loop, as numba compiles `where` for seconds."""
    ndim = max(p.term.ndim for p in (mask, x, y))
    if ndim > 2:
        refuse("only arrays with up to 2 axes are known")
    texts = [with_axes(p, ndim) for p in (mask, x, y)]
    return Piece(f"where_{ndim}({', '.join(texts)})", array(ndim))


def with_axes(x: Piece, ndim: int) -> str:
    """The text of a number or array with so many axes, new ones of length one."""
    if x.term.ndim == ndim:
        return x.text
    if x.term.is_array:
        return f"{x.text}[None]"
    key = "[None]" if ndim == 2 else ""
    if x.term.name == "bool":
        return f"one_mask({x.text}){key}"
    return f"row_of((float({x.text}),)){key}"


def bounds_of(low: Piece, high: Piece) -> list[Piece | None]:
    """The bounds of a clip, None where there is none."""
    found = [None if p.term == NONE else p for p in (low, high)]
    if found == [None, None]:
        refuse("a bound must be given")
    return found


@function(np.clip)
def write_clip(x: Piece, low: Piece, high: Piece = NO_BOUND) -> Piece:
    """The upper bound is the stronger one."""
    made = x
    for bound, f in zip(bounds_of(low, high), (np.maximum, np.minimum), strict=True):
        if bound is not None:
            made = FUNCTIONS[f](made, bound)
    return made


def clipped(place: int) -> Function:
    """The cotangents of a clip, of what is clipped and of its bounds."""

    def write(d: Piece, x: Piece, low: Piece, high: Piece) -> Piece:
        below, above = bounds_of(low, high)
        over = f"({x.text} > {above.text})" if above else ""
        under = f"({x.text} < {below.text})" if below else ""
        if above and below:
            over = f"({over} | ({below.text} > {above.text}))"
            under = f"({under} & (~{over}))" if x.term.is_array else under
        if x.term.is_array:
            asked = " | ".join(filter(None, (over, under)))
            mask = Piece((f"({asked})", under, over)[place], array(d.term.ndim, "?"))
            zero = of_class(FLOAT, "0.0")
            return selected(mask, *((d, zero) if place else (zero, d)))
        inside = " or ".join(filter(None, (over, under)))
        texts = [
            f"(0.0 if {inside} else {d.text})",
            f"({d.text} if {under} and not {over or 'False'} else 0.0)",
            f"({d.text} if {over} else 0.0)",
        ]
        return of_class(FLOAT, texts[place])

    return write


for _place, _f in enumerate(
    (elementwise.clipped, elementwise.clipped_low, elementwise.clipped_high)
):
    FUNCTIONS[_f] = clipped(_place)
