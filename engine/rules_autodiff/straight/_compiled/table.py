"""The functions that compiled code calls, by those that generated code calls."""

import ast
from collections.abc import Callable
from typing import Any

from .terms import NUMPY, PLAIN, Piece, Term, number, refuse

__all__ = [
    "BUILTINS", "FUNCTIONS", "Function", "LISTED", "METHODS", "axes_of", "call",
    "check_floats", "check_numbers", "constant_of", "function", "higher", "is_certain",
    "listed", "method", "of_class", "ranks_of",
]  # fmt: skip

Function = Callable[..., Piece]
FUNCTIONS: dict[Any, Function] = {}
BUILTINS: dict[str, Function] = {}  # by name, where generated code uses builtins
METHODS: dict[str, Function] = {}  # of arrays, beside functions of that name
LISTED: dict[Any, Function] = {}  # of a list of values


def function(*called: Any) -> Callable[[Function], Function]:
    """Register what writes calls of functions."""

    def register(make: Function) -> Function:
        for f in called:
            FUNCTIONS[f] = make
            if getattr(f, "__module__", None) == "builtins":
                BUILTINS[f.__name__] = make
        return make

    return register


def method(*names: str) -> Callable[[Function], Function]:
    """Register what writes calls of methods of arrays."""

    def register(make: Function) -> Function:
        METHODS.update(dict.fromkeys(names, make))
        return make

    return register


def listed(*called: Any) -> Callable[[Function], Function]:
    """Register what writes calls of functions of a list."""

    def register(make: Function) -> Function:
        LISTED.update(dict.fromkeys(called, make))
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
    """Refuse other values than numbers."""
    if count is not None and len(args) != count:
        refuse("another number of arguments is known")
    if not all(p.term.is_number for p in args):
        refuse("only numbers are known")


def check_floats(*args: Piece, most: int = 3) -> None:
    """Refuse other values than arrays of floats, with at most so many axes."""
    for x in args:
        if x.term.dtype != "d":
            refuse("only arrays of floats are known")
        if x.term.ndim > most:
            refuse(f"only arrays with up to {most} axes are known")


def call(name: str, *args: Piece) -> str:
    return f"{name}({', '.join(p.text for p in args)})"


def of_class(rank: int, text: str) -> Piece:
    """A float of a class."""
    return Piece(text, number(rank), str(rank))


def constant_of(x: Any) -> Any:
    """The literal that an argument or keyword is."""
    if not isinstance(x, Piece):
        return x
    try:
        return ast.literal_eval(x.text)
    except (ValueError, SyntaxError):
        refuse("an axis or another choice must be a literal")


def axes_of(shape: Piece) -> int:
    """The number of axes that a shape has."""
    if shape.term.name == "int":
        return 1
    parts: tuple[Term, ...] = shape.term.parts
    if shape.term.name != "row" or not parts or any(p.name != "int" for p in parts):
        refuse("a shape must be made of whole numbers")
    return len(parts)


def is_certain(x: Piece) -> bool:
    """Whether a number is a float in Python, and no whole number."""
    return x.term.name == "real" and PLAIN not in x.term.ranks
