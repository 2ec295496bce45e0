"""Cotangents whose products ask for strong zeros: 0 · ∞ = 0.

Written code does not ask, and a derivative that is not finite goes to the tape at last.
Where that happens again and again (a matrix of distances has a zero diagonal), code is
written that asks at each product: `{dz} * E` becomes `strong_product({dz}, lambda: E)`.
"""

import ast
from functools import cache

from rules_autodiff.straight._program.blocks import FIELD

__all__ = ["strictly"]

DZ = "__f_dz__"
NAME = "__f_{}__"


@cache
def strictly(text: str) -> str:
    """The text of a cotangent with strong products; unchanged if it has none.

    >>> from rules_autodiff.straight._write.strong_zeros import strictly
    >>> strictly("fit({dz} * (0.5 / {z}), {s0})")
    'fit(strong_product({dz}, lambda: 0.5 / {z}), {s0})'
    >>> strictly("-{dz}"), strictly("{dz} @ {1}")
    ('-{dz}', '{dz} @ {1}')
    """
    tree = ast.parse(FIELD.sub(lambda found: NAME.format(found[1]), text), mode="eval")
    if sum(map(is_dz, ast.walk(tree))) != 1:
        return text
    return restored(ast.unparse(Strong().visit(tree)))


def restored(text: str) -> str:
    """Names of fields as fields."""
    parts = text.split("__f_")
    rest = [part.split("__", 1) for part in parts[1:]]
    return parts[0] + "".join(f"{{{name}}}{after}" for name, after in rest)


def is_dz(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == DZ


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
