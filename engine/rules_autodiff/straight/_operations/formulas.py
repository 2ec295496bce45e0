"""Cotangents by the partial derivatives of the NumPy pack, as generated code."""

import ast
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

from rules_autodiff._own_rules.formulas import partials_of, partials_of_code
from rules_autodiff.straight._program.kinds import REAL, Kind
from rules_autodiff.straight._program.written import Taken

__all__ = ["Product", "pull_of", "pulls_of", "pulls_of_code"]


@dataclass(frozen=True)
class Product:
    """A cotangent: that of the result, times factors.

    Attributes:
        negative: Whether it has the other sign.
        above: The texts of the factors.
        below: The texts of the divisors.
    """

    negative: bool
    above: tuple[str, ...]
    below: tuple[str, ...]

    def __str__(self) -> str:
        return self.signed(with_factors("{dz}", self.above, self.below))

    def signed(self, text: str) -> str:
        """The text with this sign."""
        if not self.negative:
            return text
        return f"-{text}" if text.isidentifier() or text == "{dz}" else f"-({text})"

    def reduced(self, place: int, kinds: tuple[Kind, ...]) -> str | None:
        """This cotangent of a result, unbroadcast to an operand."""
        return Taken(self.unbroadcast(place, kinds)) if kinds[place].is_real else None

    def unbroadcast(self, place: int, kinds: tuple[Kind, ...]) -> str:
        """The text of it, in the shape of an operand."""
        own, others = kinds[place], kinds[:place] + kinds[place + 1 :]
        if all(k.name != "array" for k in others):
            return str(self)
        if own is REAL:
            return self.summed(kinds)
        factor = self.above[0] if len(self.above) == 1 else ""
        fields = {f"{{{i}}}" for i, k in enumerate(kinds) if k.name == "array"}
        if factor in fields and not self.below and not self.negative:
            return f"scaled({{dz}}, {factor}, {{s{place}}})"
        return f"fit({self}, {{s{place}}})"

    def summed(self, kinds: tuple[Kind, ...]) -> str:
        """The sum of all entries: an inner product, where one factor is an array."""
        numbers = {f"{{{i}}}" for i, k in enumerate(kinds) if k is REAL}
        arrays = {f"{{{i}}}" for i, k in enumerate(kinds) if k.is_real} - numbers
        above = [factor for factor in self.above if factor not in numbers]
        outside = [factor for factor in self.above if factor in numbers]
        inner = len(above) == 1 and above[0] in {"{z}", *arrays}
        if not self.above and not self.below:
            return self.signed("summed({dz})")
        if not inner or not set(self.below) <= numbers:
            return f"summed({self})"
        return self.signed(
            with_factors(f"vdot({{dz}}, {above[0]})", outside, self.below)
        )


def with_factors(text: str, above: Any, below: Any) -> str:
    return text + "".join(f" * {f}" for f in above) + "".join(f" / {f}" for f in below)


def pull_of(f: Any, prefix: str) -> str | None:
    """The text of the cotangent of a function's only argument; None for zero."""
    (product,) = pulls_of(f, prefix)
    return None if product is None else Taken(product)


@cache
def pulls_of(f: Any, prefix: str, count: int = 1) -> tuple[Product | None, ...]:
    """The cotangents of a function's arguments; None where the derivative is zero.

    Args:
        f: The function, which the pack declares by its partial derivatives.
        prefix: `"np"` for the functions of arrays, `"math"` for those of numbers.
        count: The number of arguments.
    """
    return worded(partials_of(f, count), prefix)


@cache
def pulls_of_code(
    partials: Callable[..., Any], prefix: str, count: int
) -> tuple[Product | None, ...]:
    """The cotangents by a function of the pack that returns partial derivatives."""
    return worded(partials_of_code(partials, count), prefix)


def worded(
    partials: tuple[ast.expr | None, ...], prefix: str
) -> tuple[Product | None, ...]:
    words = Words(prefix)
    return tuple(
        [p if p is None else product(words.visit(deepcopy(p))) for p in partials]
    )


def product(partial: ast.expr) -> Product:
    """The factors of a partial derivative."""
    negative, above, below = factors(partial)
    return Product(negative, tuple(map(text_of, above)), tuple(map(text_of, below)))


def text_of(node: ast.expr) -> str:
    text = ast.unparse(node)
    alone = isinstance(node, ast.Name | ast.Constant | ast.Call)
    return text if alone else f"({text})"


def factors(node: ast.expr) -> tuple[bool, list[ast.expr], list[ast.expr]]:
    """The sign, the factors and the divisors of an expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        negative, above, below = factors(node.operand)
        return not negative, above, below
    if isinstance(node, ast.Constant) and node.value == 1.0:
        return False, [], []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        one, other = factors(node.left), factors(node.right)
        return one[0] != other[0], one[1] + other[1], one[2] + other[2]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        negative, above, below = factors(node.left)
        return negative, above, [*below, node.right]
    return False, [node], []


def divided(_prefix: str, one: ast.expr, other: ast.expr) -> ast.expr:
    return ast.BinOp(one, ast.Div(), other)


def subtracted(_prefix: str, _y: ast.expr, one: ast.expr, other: ast.expr) -> ast.expr:
    return ast.BinOp(other, ast.Sub(), one)


def sign_of(prefix: str, _y: ast.expr, x: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(f"{prefix}_sign"), [x], [])


def zero(_prefix: str, _y: ast.expr) -> ast.expr:
    return ast.Constant(0.0)


# Functions of formulas in other words: numbers here are real, and a value that is no
# number leaves the program to the tape.
WORDS: dict[str, Callable[..., ast.expr]] = {
    "over": divided, "difference": subtracted, "direction": sign_of, "zero_like": zero,
}  # fmt: skip
# Functions that do without the value, which their first argument is.
WITHOUT_VALUE = frozenset({"inverse_part", "share"})


class Words(ast.NodeTransformer):
    """Translates the names in formulas to names of generated code."""

    def __init__(self, prefix: str):
        self.prefix = prefix

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The value or an argument, as a field."""
        return ast.Name("{z}" if node.id == "z" else f"{{{node.id[1:]}}}")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A function of the namespace."""
        assert isinstance(node.func, ast.Name)
        name, args = node.func.id, [self.visit(arg) for arg in node.args]
        if name in WORDS:
            return WORDS[name](self.prefix, *args)
        if name in WITHOUT_VALUE:
            args = args[1:]
        return ast.Call(ast.Name(f"{self.prefix}_{name}"), args, [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Arithmetic; of constants, its result."""
        made = ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))
        if isinstance(made.left, ast.Constant) and isinstance(made.right, ast.Constant):
            return ast.Constant(eval(ast.unparse(made)))
        return made

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """A sign; that of a difference turns it."""
        operand = self.visit(node.operand)
        if isinstance(operand, ast.BinOp) and isinstance(operand.op, ast.Sub):
            return ast.BinOp(operand.right, ast.Sub(), operand.left)
        return ast.UnaryOp(node.op, operand)
