"""The types of variables of compiled code.

A number also has the classes that Python would give it, as ranks: a compiled number has
none, but the value of a program must come back in its class.
"""

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

__all__ = [
    "BOOL", "FLOAT", "INT", "NONE", "NOTHING", "NUMPY", "PLAIN", "TEXT", "Piece",
    "Term", "Uncompiled", "array", "item_of", "join", "number", "refuse", "row",
    "term_of",
]  # fmt: skip

# Ranks of classes: the class of a sum is that of the highest.
PLAIN, FLOAT, NUMPY = 0, 1, 2  # int or bool; float; a scalar of NumPy


class Uncompiled(Exception):
    """Generated code has something that is not compiled.

    Attributes:
        reason: What it is.
        line: Its line in generated code, if known.
    """

    def __init__(self, reason: str, line: int = 0):
        super().__init__(reason)
        self.reason, self.line = reason, line


def refuse(reason: str, line: int = 0) -> NoReturn:
    raise Uncompiled(reason, line)


@dataclass(frozen=True)
class Term:
    """The type of a variable.

    Attributes:
        name: `"real"`, `"int"`, `"bool"`, `"none"`, `"array"`, `"row"` (a tuple),
            `"nothing"` (an array that was never made: zeros), `"kept"` (the residuals
            of a function), or `"other"`.
        ranks: The classes that a number may have.
        ndim: The number of axes of an array.
        dtype: Its dtype: `"d"`, `"l"` or `"?"`.
        parts: The types of a row's entries.
        tag: The function of residuals; the keys of a dict; the class of another value.
    """

    name: str
    ranks: frozenset[int] = frozenset()
    ndim: int = 0
    dtype: str = ""
    parts: "tuple[Term, ...]" = ()
    tag: Any = None

    @property
    def is_number(self) -> bool:
        return self.name in ("real", "int", "bool")

    @property
    def is_whole(self) -> bool:
        return self.name in ("int", "bool")

    @property
    def is_array(self) -> bool:
        return self.name == "array"


NONE, NOTHING, TEXT = Term("none"), Term("nothing"), Term("text")
INT, BOOL = Term("int", frozenset({PLAIN})), Term("bool", frozenset({PLAIN}))


def number(*ranks: int) -> Term:
    """The type of a float with one of these classes."""
    return Term("real", frozenset(ranks))


def array(ndim: int, dtype: str = "d") -> Term:
    return Term("array", ndim=ndim, dtype=dtype)


def row(*parts: Term) -> Term:
    return Term("row", parts=parts)


def item_of(dtype: str) -> Term:
    """The type of an entry of an array."""
    name = {"d": "real", "l": "int", "?": "bool"}[dtype]
    return Term(name, frozenset({NUMPY}))


def join(one: Term | None, other: Term) -> Term:
    """The type of a variable that is given values of both types."""
    if one is None or one == other:
        return other
    if one.is_number and other.is_number:
        return joined_numbers(one, other)
    arrays = {"array", "nothing"}
    if one.name in arrays and other.name in arrays:
        if NOTHING in (one, other):
            return other if one == NOTHING else one
        if (one.ndim, one.dtype) == (other.ndim, other.dtype):
            return one
    if one.name == other.name == "row" and len(one.parts) == len(other.parts):
        pairs = zip(one.parts, other.parts, strict=True)
        return replace(one, parts=tuple([join(x, y) for x, y in pairs]))
    refuse("a variable with values of several kinds")


def joined_numbers(one: Term, other: Term) -> Term:
    ranks = one.ranks | other.ranks
    if one.name == other.name:
        return Term(one.name, ranks)
    if "bool" in (one.name, other.name):
        refuse("a variable that is now a truth value, now a number")
    whole = one if one.name == "int" else other
    if NUMPY in whole.ranks:
        refuse("a variable that is now a whole number of NumPy's, now a float")
    return Term("real", ranks)


CLASSES: dict[type, Term] = {
    float: number(FLOAT), np.float64: number(NUMPY), int: INT, bool: BOOL,
    np.int64: Term("int", frozenset({NUMPY})),
    np.bool_: Term("bool", frozenset({NUMPY})), type(None): NONE,
}  # fmt: skip


def term_of(x: Any) -> Term:
    """The type of a value that is handed to compiled code."""
    if type(x) is np.ndarray:
        known = x.dtype.char in "dl?" and x.dtype.isnative
        return array(x.ndim, x.dtype.char) if known else Term("other", tag="ndarray")
    if type(x) is tuple or type(x) is list:
        return row(*map(term_of, x))
    if type(x) is dict:
        return Term("row", parts=tuple(map(term_of, x.values())), tag=(*x,))
    return CLASSES.get(type(x)) or Term("other", tag=type(x).__name__)


@dataclass(frozen=True)
class Piece:
    """An expression of compiled code.

    Attributes:
        text: Its text.
        term: Its type.
        rank: For a number, the text of the rank of its class.
        literal: Whether it is a literal.
        maybe: Whether it may be an array that was never made, for zeros.
    """

    text: str
    term: Term
    rank: str = "0"
    literal: bool = False
    maybe: bool = False
