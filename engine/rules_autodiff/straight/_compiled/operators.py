"""Operators of compiled code: of numbers, and of arrays entry by entry."""

import ast
from typing import Any

import numpy as np

from .reductions import dot
from .table import higher, ranks_of
from .terms import FLOAT, INT, NOTHING, NUMPY, PLAIN, Piece, Term, array, join, refuse
from .words import both_in_words, term_in_words

__all__ = ["UFUNCS", "as_numpy", "binary", "both", "compared", "either", "unary"]

ARITHMETIC: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//",
    ast.Mod: "%",
}  # fmt: skip
COMPARISONS: dict[type, str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==",
    ast.NotEq: "!=",
}  # fmt: skip
BITWISE: dict[type, str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
CHECKED: dict[type, str] = {
    ast.Add: "add_int", ast.Sub: "sub_int", ast.Mult: "mul_int",
    ast.FloorDiv: "div_int", ast.Mod: "mod_int",
}  # fmt: skip
# NumPy's functions that are operators, but for the class of their value.
UFUNCS: dict[Any, type] = {
    np.add: ast.Add, np.subtract: ast.Sub, np.multiply: ast.Mult, np.divide: ast.Div,
    np.floor_divide: ast.FloorDiv, np.remainder: ast.Mod, np.power: ast.Pow,
    np.negative: ast.USub, np.positive: ast.UAdd, np.invert: ast.Invert,
    np.less: ast.Lt, np.less_equal: ast.LtE, np.greater: ast.Gt,
    np.greater_equal: ast.GtE, np.equal: ast.Eq, np.not_equal: ast.NotEq,
    np.bitwise_and: ast.BitAnd, np.bitwise_or: ast.BitOr, np.bitwise_xor: ast.BitXor,
    np.logical_and: ast.BitAnd, np.logical_or: ast.BitOr, np.logical_xor: ast.BitXor,
    np.logical_not: ast.Invert,
}  # fmt: skip
PRODUCTS = frozenset({2, 3})  # exponents of powers that are products


def as_numpy(x: Piece) -> Piece:
    """What a function of NumPy gives, where an operator gives a number of Python."""
    if not x.term.is_number:
        return x
    term = Term(x.term.name, frozenset({NUMPY}))
    return Piece(x.text, term, str(NUMPY))


def binary(op: type, x: Piece, y: Piece) -> Piece:
    """An operator of two values."""
    if op is ast.Pow:
        return power(x, y)
    if op is ast.MatMult:
        return dot(x, y)
    if op in COMPARISONS:
        return compared(op, x, y)
    if op in BITWISE:
        return of_bits(x, y, BITWISE[op])
    sign = ARITHMETIC[op]
    if x.term.is_array or y.term.is_array or NOTHING in (x.term, y.term):
        return of_arrays(x, y, sign)
    if not (x.term.is_number and y.term.is_number):
        refuse(f"the operator {sign} of {both_in_words(x, y)}")
    if x.term.is_whole and y.term.is_whole:
        return of_whole(x, y, op, sign)
    if sign != "/":
        check_whole(x, y)
    least = FLOAT if sign == "/" else PLAIN
    ranks, rank = ranks_of(x, y, least=least), higher(x, y, least=least)
    text = f"({x.text} {sign} {y.text})"
    if PLAIN in ranks:  # in Python it may be a whole number, which is not rounded
        text = f"digits{text}"
    return Piece(text, Term("real", ranks), rank)


def check_whole(x: Piece, y: Piece) -> None:
    """Refuse arithmetic of what may be whole numbers, which are not rounded."""
    literal = x.literal or y.literal
    if PLAIN in x.term.ranks and PLAIN in y.term.ranks and not literal:
        refuse("an operator of two numbers that may be whole numbers of Python")


def of_whole(x: Piece, y: Piece, op: type, sign: str) -> Piece:
    """Whole numbers, in Python without a limit."""
    ranks, rank = ranks_of(x, y), higher(x, y)
    if sign == "/":
        text = f"(exact({x.text}) / exact({y.text}))"
        ranks, rank = ranks_of(x, y, least=FLOAT), higher(x, y, least=FLOAT)
        return Piece(text, Term("real", ranks), rank)
    if x.term.name == y.term.name == "bool" and NUMPY in ranks:
        refuse("an operator of truth values of NumPy's, which are no numbers")
    texts = [f"int({p.text})" if p.term.name == "bool" else p.text for p in (x, y)]
    return Piece(f"{CHECKED[op]}({', '.join(texts)})", Term("int", ranks), rank)


def of_bits(x: Piece, y: Piece, sign: str) -> Piece:
    """Truth values, masks, or whole numbers bit by bit."""
    terms = x.term, y.term
    text = f"({x.text} {sign} {y.text})"
    if any(t.is_array for t in terms):
        if any(t.name != "bool" and t.dtype != "?" for t in terms):
            refuse(f"the operator {sign} of {both_in_words(x, y)}")
        return Piece(text, array(max(t.ndim for t in terms), "?"))
    if terms[0].name != terms[1].name or not terms[0].is_whole:
        refuse(f"the operator {sign} of {both_in_words(x, y)}")
    return Piece(text, Term(terms[0].name, ranks_of(x, y)), higher(x, y))


def of_arrays(x: Piece, y: Piece, sign: str) -> Piece:
    """Arithmetic of arrays of floats, or of one and a number."""
    floats = [p.term.dtype == "d" or p.term.name == "real" for p in (x, y)]
    others = [p.term.is_array or p.term.is_number or p.term == NOTHING
              for p in (x, y)]  # fmt: skip
    if sign not in ("+", "-", "*", "/") or not all(others):
        refuse(f"the operator {sign} of {both_in_words(x, y)}")
    if x.term == NOTHING:
        return Piece(y.text, y.term) if y.term.is_array else x
    if y.term == NOTHING:
        refuse("a derivative that is zero everywhere")
    if not any(floats):
        refuse(f"the operator {sign} of {both_in_words(x, y)}")
    term = array(max(x.term.ndim, y.term.ndim))
    if x.maybe and sign == "+" and y.term.is_array:
        return Piece(f"joined({x.text}, {y.text})", term)
    return Piece(f"({x.text} {sign} {y.text})", term, maybe=x.maybe)


def power(x: Piece, p: Piece) -> Piece:
    """A power of numbers, or of the entries of an array."""
    exponent = int(p.text.strip("(+)")) if p.literal and p.term == INT else None
    if x.term.is_array or p.term.is_array:
        return power_of_arrays(x, p, exponent)
    if not (x.term.is_number and p.term.is_number):
        refuse(f"the operator ** of {both_in_words(x, p)}")
    if x.term.is_whole and p.term.is_whole:
        if exponent != 2 or x.term.name != "int":
            refuse("a power of whole numbers, but for squares")
        return Piece(f"mul_int({x.text}, {x.text})", x.term, x.rank)
    if PLAIN in x.term.ranks and PLAIN in p.term.ranks:
        refuse("a power of two numbers that may be whole numbers of Python")
    product = f"finite({x.text} ** {p.text})"
    text = product if exponent in PRODUCTS else f"power({x.text}, {p.text})"
    ranks, rank = ranks_of(x, p, least=FLOAT), higher(x, p, least=FLOAT)
    return Piece(text, Term("real", ranks), rank)


def power_of_arrays(x: Piece, p: Piece, exponent: int | None) -> Piece:
    """Powers as NumPy computes them: some are products, roots or quotients."""
    terms = x.term, p.term
    known = [t.dtype == "d" or t.name in ("real", "int") for t in terms]
    if not all(known) or any(PLAIN in t.ranks for t in terms if t.name == "real"):
        refuse(f"the operator ** of {both_in_words(x, p)}")
    if exponent in PRODUCTS:
        return Piece(f"({x.text} ** {p.text})", x.term)
    if exponent == -1:
        return Piece(f"(1.0 / {x.text})", x.term)
    if p.literal and p.text == "0.5":
        return Piece(f"np.sqrt({x.text})", x.term)
    texts = [f"exact({v.text})" if v.term.name == "int" else v.text for v in (x, p)]
    return Piece(f"({texts[0]} ** {texts[1]})", array(max(t.ndim for t in terms)))


def unary(op: type, x: Piece) -> Piece:
    """A sign, or an inverse."""
    if op is ast.Invert:
        return inverted(x)
    if x.term.name == "bool" or not (x.term.is_number or x.term.dtype == "d"):
        refuse(f"the negative of {term_in_words(x.term)}")
    sign = "-" if op is ast.USub else "+"
    checked = sign == "-" and x.term.is_whole and not x.literal
    text = f"neg_int({x.text})" if checked else f"({sign}{x.text})"
    return Piece(text, x.term, x.rank, x.literal, x.maybe)


def inverted(x: Piece) -> Piece:
    if x.term.dtype == "?" or x.term == INT:
        return Piece(f"(~{x.text})", x.term, x.rank)
    return refuse(f"the operator ~ of {term_in_words(x.term)}")


def compared(op: type, x: Piece, y: Piece) -> Piece:
    """A comparison of numbers, or of the entries of arrays."""
    sign = COMPARISONS.get(op)
    if sign is None:
        refuse(f"a comparison of {both_in_words(x, y)} by is or in")
    if x.term.is_array or y.term.is_array:
        return compared_arrays(sign, x, y)
    if not (x.term.is_number and y.term.is_number):
        refuse(f"the comparison {sign} of {both_in_words(x, y)}")
    texts = [x.text, y.text]
    if x.term.is_whole != y.term.is_whole:
        texts = [as_float(p) for p in (x, y)]
    ranks = {NUMPY if rank == NUMPY else PLAIN for rank in ranks_of(x, y)}
    term, rank = Term("bool", frozenset(ranks)), str(max(ranks))
    if len(ranks) > 1:
        rank = f"({NUMPY} if {higher(x, y)} == {NUMPY} else {PLAIN})"
    return Piece(f"({texts[0]} {sign} {texts[1]})", term, rank)


def compared_arrays(sign: str, x: Piece, y: Piece) -> Piece:
    known = [p.term.dtype == "d" or p.term.name in ("real", "int") for p in (x, y)]
    if not all(known):
        refuse(f"the comparison {sign} of {both_in_words(x, y)}")
    texts = [as_float(p) for p in (x, y)]
    ndim = max(x.term.ndim, y.term.ndim)
    return Piece(f"({texts[0]} {sign} {texts[1]})", array(ndim, "?"))


def as_float(x: Piece) -> str:
    """A number that is compared with a float, exactly."""
    if x.literal or not x.term.is_whole:
        return x.text
    return f"exact({x.text})"


def either(x: Piece, y: Piece) -> Piece:
    """`x or y` of truth values, of which Python gives one."""
    rank = x.rank if x.rank == y.rank else f"({x.rank} if {x.text} else {y.rank})"
    return Piece(f"({x.text} or {y.text})", join(x.term, y.term), rank)


def both(x: Piece, y: Piece) -> Piece:
    """`x and y` of truth values, of which Python gives one."""
    rank = x.rank if x.rank == y.rank else f"({y.rank} if {x.text} else {x.rank})"
    return Piece(f"({x.text} and {y.text})", join(x.term, y.term), rank)
