"""The formulas of the NumPy pack, as texts of generated code."""

import ast
import inspect
from functools import cache
from typing import Any

__all__ = ["pull_of"]


@cache
def pull_of(name: str, prefix: str) -> str:
    """The cotangent of a function's argument, `{dz}` times its partial derivative.

    Args:
        name: The function's name in NumPy.
        prefix: `"np"` for the functions of arrays, `"math"` for those of numbers.
    """
    return product(Wording(prefix).visit(partial_of(name)))


def partial_of(name: str) -> ast.expr:
    """The expression of the only partial derivative."""
    # The pack is imported where code is first generated, which needs it anyway.
    from rules_numpy.formulas import FORMULAS

    text = inspect.getsource(FORMULAS[name].partials)
    definition: Any = ast.parse(text).body[0]
    (partial,) = definition.body[-1].value.elts
    expression: ast.expr = partial
    return expression


class Wording(ast.NodeTransformer):
    """Translates the names in formulas to names of generated code."""

    def __init__(self, prefix: str):
        self.prefix = prefix

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The argument, the value, or a constant."""
        from rules_numpy import formulas

        if node.id in ("x", "y"):
            return ast.Name({"x": "{0}", "y": "{z}"}[node.id])
        return ast.Constant(getattr(formulas, node.id))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A function of the namespace; `over` is a division."""
        args = [self.visit(arg) for arg in node.args]
        called: Any = node.func
        if called.id == "over":
            return ast.BinOp(args[0], ast.Div(), args[1])
        return ast.Call(ast.Name(f"{self.prefix}_{called.id}"), args, [])


def product(partial: ast.expr) -> str:
    """`{dz} * partial`, with as few operations as possible."""
    if isinstance(partial, ast.UnaryOp) and isinstance(partial.op, ast.USub):
        return f"-({product(partial.operand)})"
    if isinstance(partial, ast.BinOp) and is_inverse(partial):
        return ast.unparse(ast.BinOp(ast.Name("{dz}"), ast.Div(), partial.right))
    return ast.unparse(ast.BinOp(ast.Name("{dz}"), ast.Mult(), partial))


def is_inverse(partial: ast.BinOp) -> bool:
    """Whether it is `1.0 / something`."""
    is_one = isinstance(partial.left, ast.Constant) and partial.left.value == 1.0
    return is_one and isinstance(partial.op, ast.Div)
