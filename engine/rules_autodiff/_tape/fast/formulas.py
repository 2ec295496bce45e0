"""Partial derivatives of the NumPy pack, as functions of the fast tape."""

import ast
import math
from collections.abc import Callable
from copy import deepcopy
from itertools import count
from typing import Any

import numpy as np

from rules_autodiff._own_rules.formulas import partials_of
from rules_autodiff._python.generated_source import keep_source

__all__ = ["partial_functions"]

Partial = Callable[[Any], Any]
COUNT = count()  # of the generated functions
UFUNCS = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
NAMES = ("cos", "cosh", "exp", "sin", "sinh", "sqrt")
NUMPY: dict[str, Any] = {
    name: getattr(np, name) for name in (*NAMES, *UFUNCS.values(), "negative")
}
MATH: dict[str, Any] = {name: getattr(math, name) for name in NAMES}


def partial_functions(f: Any) -> tuple[Partial, Partial, Partial, bool]:
    """The partial derivative of a function of one argument.

    Returns:
        The partial derivative as a function of an argument or result of any kind, of a
        float, and of an array, there with as little new memory as possible; and whether
        it is a function of the result.
    """
    (partial,) = partials_of(f, 1)
    assert partial is not None
    expression = Plain().visit(deepcopy(partial))
    names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    (variable,) = names & {"z", "x0"}
    text, constants = ast.unparse(expression), AsArrays()
    in_place = ast.unparse(constants.visit(reusing(expression)))
    return (
        function_of(variable, text, NUMPY),
        function_of(variable, text, MATH),
        function_of(variable, in_place, NUMPY | constants.arrays),
        variable == "z",
    )


def function_of(variable: str, text: str, namespace: dict[str, Any]) -> Partial:
    """A function with source, so that a level above can differentiate it."""
    source = f"def partial({variable}):\n    return {text}\n"
    file = f"<rules_autodiff partial {next(COUNT)}>"
    keep_source(file, source)
    made = {**namespace, "__name__": __name__}
    exec(compile(source, file, "exec"), made)
    function: Partial = made["partial"]
    return function


class Plain(ast.NodeTransformer):
    """Division by its sign."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call of a function of the namespace."""
        args = [self.visit(arg) for arg in node.args]
        assert isinstance(node.func, ast.Name)
        if node.func.id == "over":
            return ast.BinOp(args[0], ast.Div(), args[1])
        return ast.Call(node.func, args, [])


def reusing(node: ast.expr, depth: int = 0) -> ast.expr:
    """An expression of arrays whose operations write into their own operands."""
    if isinstance(node, ast.UnaryOp):
        return operation(node, "negative", [node.operand], depth)
    if isinstance(node, ast.BinOp):
        return operation(node, UFUNCS[type(node.op)], [node.left, node.right], depth)
    return node


def operation(
    node: ast.expr, ufunc: str, operands: list[ast.expr], depth: int
) -> ast.expr:
    """An operation, by a ufunc into an operand that is itself a result."""
    made = [reusing(operand, depth + i + 1) for i, operand in enumerate(operands)]
    fresh = [
        i for i, x in enumerate(made) if not isinstance(x, ast.Name | ast.Constant)
    ]
    if not fresh:
        return node
    memory = ast.Name(f"t{depth}")
    made[fresh[0]] = ast.NamedExpr(memory, made[fresh[0]])
    return ast.Call(ast.Name(ufunc), [*made, memory], [])


class AsArrays(ast.NodeTransformer):
    """Numbers as arrays, beside which NumPy takes two thirds of the time."""

    def __init__(self) -> None:
        self.arrays: dict[str, Any] = {}

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """A number, under a name."""
        name = f"c{len(self.arrays)}"
        self.arrays[name] = np.array(node.value)
        return ast.Name(name)
