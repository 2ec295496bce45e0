"""What compiled code does not have, in the words of the program."""

import ast
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rules_autodiff.straight._program.words import (
    function_in_words,
    syntax_in_words,
    variable_in_words,
)
from rules_autodiff.straight._runtime import arrays, elementwise, helpers

from .terms import Piece, Term

__all__ = [
    "OPERATION", "both_in_words", "call_in_words", "name_in_words",
    "statement_in_words", "stem_of", "term_in_words",
]  # fmt: skip

OWN = "rules_autodiff."
OPERATION = "an operation that its language does not have"
# What generated code calls for functions of the program.
STANDING: dict[Any, str] = {
    np.add.reduce: "numpy.sum", np.maximum.reduce: "numpy.max",
    np.minimum.reduce: "numpy.min", arrays.mean_of: "numpy.mean",
    arrays.mean_along: "numpy.mean", arrays.norm_of: "numpy.linalg.norm",
    arrays.row_of: "numpy.array", arrays.full: "numpy.full",
    arrays.float_range: "numpy.arange", helpers.array_of: "numpy.array",
    helpers.with_fraction: "int", elementwise.real_power: "pow",
}  # fmt: skip
DTYPES = {"d": "floats", "l": "whole numbers", "?": "truth values"}
NUMBERS = {"real": "a number", "int": "a whole number", "bool": "a truth value"}


def term_in_words(term: Term) -> str:
    """The type of a value."""
    if term.name in NUMBERS:
        return NUMBERS[term.name]
    if term.is_array:
        axes = "1 axis" if term.ndim == 1 else f"{term.ndim} axes"
        return f"an array of {DTYPES[term.dtype]} with {axes}"
    if term.name == "other" and term.tag:
        return f"a value of class {term.tag}"
    words = {"row": "a tuple", "none": "None", "nothing": "zeros", "text": "a text"}
    return words.get(term.name, "a value of another kind")


def name_in_words(name: str) -> str:
    """A variable of generated code."""
    return variable_in_words(name) or "a value"


def stem_of(name: str) -> str:
    """The name of a function of the program, by that of generated code."""
    return name.removesuffix("_back").rpartition("__")[0] or name


def call_in_words(
    f: Any, name: str, args: Sequence[Piece], options: Iterable[str] = ()
) -> str:
    """A call of a function by its name in generated code.

    Args:
        f: The function; None for a builtin.
        name: Its name in generated code.
        args: The arguments.
        options: The names of keywords.
    """
    terms = [x.term for x in args if x.term.name != "none"]
    given = ", ".join([*map(term_in_words, terms), *options])
    if f is None:
        return f"{name}({given})"
    try:
        standing = STANDING.get(f)
    except TypeError:
        standing = None
    home = str(getattr(f, "__module__", None) or type(f).__module__)
    if standing is None and home.startswith(OWN):
        if name.startswith("taped__"):
            return "a call that is left to a tape"
        is_rule = home.endswith(".rule_calls")
        return f"a call of {stem_of(name)} by its rule" if is_rule else OPERATION
    return f"{standing or function_in_words(f)}({given})"


def both_in_words(x: Piece, y: Piece) -> str:
    """The types of two values."""
    return f"{term_in_words(x.term)} and {term_in_words(y.term)}"


def statement_in_words(node: ast.stmt) -> str:
    """A statement, by its syntax."""
    words: dict[type, str] = {ast.With: "a with statement", ast.Try: "a try statement"}
    return words.get(type(node)) or syntax_in_words(type(node))
