"""Cotangents whose products ask for strong zeros: 0 · ∞ = 0.

Written code does not ask, and a derivative that is not finite goes to the tape at last.
Where that happens again and again (a matrix of distances has a zero diagonal), code is
written that asks at each product: `{dz} * E` becomes `strong_product({dz}, lambda: E)`.
What else an operation makes of a cotangent is noted, for its zeros may be new; moving
entries, and leaving some out, makes none.
"""

import ast
from functools import cache
from typing import Any

from rules_autodiff.straight._program.blocks import FIELD

__all__ = ["strictly"]

DZ = "__f_dz__"
NAME = "__f_{}__"


@cache
def strictly(text: str) -> str:
    """The text of a cotangent with strong products, noted where it may have new zeros.

    >>> from rules_autodiff.straight._write.strong_zeros import strictly
    >>> strictly("fit({dz} * (0.5 / {z}), {s0})")
    'fitted(strong_product({dz}, lambda: 0.5 / {z}), {s0})'
    >>> strictly("-{dz}"), strictly("{dz} @ {1}")
    ('-{dz}', 'noted({dz} @ {1})')
    """
    tree = ast.parse(FIELD.sub(lambda found: NAME.format(found[1]), text), mode="eval")
    if sum(map(is_dz, ast.walk(tree))) != 1:
        return f"noted({text})"
    if moves_entries(tree.body):
        return text
    body: Any = Strong().visit(tree.body)
    inner = body
    if isinstance(body, ast.Call) and is_name(body.func, "fit"):
        body.func, inner = ast.Name("fitted"), body.args[0]
    made = restored(ast.unparse(body))
    return made if keeps_zeros(inner) else f"noted({made})"


def keeps_zeros(node: ast.expr) -> bool:
    """Whether an expression has no new zeros but those that are looked for."""
    product = isinstance(node, ast.Call) and is_name(node.func, "strong_product")
    return product or moves_entries(node)


def is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def restored(text: str) -> str:
    """Names of fields as fields."""
    parts = text.split("__f_")
    rest = [part.split("__", 1) for part in parts[1:]]
    return parts[0] + "".join(f"{{{name}}}{after}" for name, after in rest)


def is_dz(node: ast.AST) -> bool:
    """Whether it is the cotangent itself."""
    return isinstance(node, ast.Name) and node.id == DZ


# Functions and methods that move entries or leave some out.
MOVING = frozenset({
    "list", "np_broadcast_to", "np_tril", "np_triu", "np_where", "spread", "wide",
    "wide_lanes",
})  # fmt: skip
MOVING_METHODS = frozenset({"diagonal", "item", "reshape", "swapaxes", "transpose"})


def moves_entries(node: ast.expr) -> bool:
    """Whether an expression is a cotangent, with entries moved or left out."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return moves_entries(node.operand)
    if isinstance(node, ast.Subscript):
        return moves_entries(node.value)
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return moves_entries(node.value)
    if isinstance(node, ast.Call):
        f = node.func
        if isinstance(f, ast.Attribute) and f.attr in MOVING_METHODS:
            return moves_entries(f.value)
        own = any(is_name(f, name) for name in MOVING)
        return own and any(map(moves_entries, node.args))
    return is_dz(node)


class Strong(ast.NodeTransformer):
    """Replaces the largest product that the cotangent is a factor of."""

    def visit(self, node: ast.AST) -> ast.AST:
        if not (isinstance(node, ast.expr) and is_factor(node)):
            return self.generic_visit(node)
        partial = without_dz(node)
        if partial is None or is_sign(partial):
            return node
        given = ast.arguments([], [], None, [], [], None, [])
        call = ast.Name("strong_product", ast.Load())
        args: list[ast.expr] = [ast.Name(DZ, ast.Load()), ast.Lambda(given, partial)]
        return ast.Call(call, args, [])


def is_factor(node: ast.expr) -> bool:
    """Whether an expression is the cotangent times something, entry by entry."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return is_factor(node.left) or is_factor(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return is_factor(node.left)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return is_factor(node.operand)
    return is_dz(node)


def without_dz(node: ast.expr) -> ast.expr | None:
    """What the cotangent is multiplied by; None for one."""
    if isinstance(node, ast.UnaryOp):
        inner = without_dz(node.operand)
        return ast.UnaryOp(ast.USub(), ast.Constant(1.0) if inner is None else inner)
    if not isinstance(node, ast.BinOp):
        return None
    if not is_factor(node.left):
        inner = without_dz(node.right)
        return node.left if inner is None else ast.BinOp(node.left, node.op, inner)
    inner = without_dz(node.left)
    if inner is None and isinstance(node.op, ast.Mult):
        return node.right
    one = ast.Constant(1.0) if inner is None else inner
    return ast.BinOp(one, node.op, node.right)


def is_sign(node: ast.expr) -> bool:
    """Whether an expression is minus one."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
