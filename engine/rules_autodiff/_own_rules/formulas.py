"""Partial derivatives of the NumPy pack, as expressions that generated code is made of.

The pack writes each derivative once, as a function of the value and the arguments.
Written code and the fast tape take it from there: the function is read, and its
expressions are put into their own words.

>>> import numpy as np
>>> import rules_core as rc
>>> _ = rc.rrule(np.divide, 1.0, 2.0)  # the pack is there
>>> [ast.unparse(partial) for partial in partials_of(np.divide, 2)]
['over(1.0, x1)', 'over(-z, x1)']
"""

import ast
import inspect
import textwrap
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from types import FunctionType
from typing import Any

from rules_core import AbstractZero

__all__ = ["partials_of", "partials_of_code"]

NUMBERS = (bool, int, float, complex)


def partials_of(f: Any, count: int) -> tuple[ast.expr | None, ...]:
    """The partial derivatives of a function that the pack declares by partials.

    Args:
        f: The function.
        count: The number of its arguments.

    Returns:
        For each argument an expression of the value `z` and the arguments `x0`, `x1`,
        …; None where the derivative is zero.
    """
    # The pack is imported where code is first generated, which needs it anyway.
    from rules_numpy._declare.derivative import DECLARED

    return partials_of_code(DECLARED[f][0], count)


@cache
def partials_of_code(
    partials: Callable[..., Any], count: int
) -> tuple[ast.expr | None, ...]:
    """The expressions that a function of `(value, *arguments)` returns."""
    function = inspect.unwrap(partials)
    assert isinstance(function, FunctionType)
    text = textwrap.dedent(inspect.getsource(function))
    definition = ast.parse(text).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return Reading(function, definition, count).results()


class Reading(ast.NodeTransformer):
    """Reads the one way through a function: assignments, then what it returns."""

    def __init__(self, function: FunctionType, definition: ast.FunctionDef, count: int):
        self.globals = function.__globals__
        self.body = definition.body
        value, *names = [arg.arg for arg in definition.args.args]
        arguments: list[ast.expr] = [ast.Name(f"x{i}") for i in range(count)]
        self.meanings: dict[str, Any] = {value: ast.Name("z")}
        self.meanings |= dict(zip(names, arguments, strict=False))
        if definition.args.vararg is not None:
            self.meanings[definition.args.vararg.arg] = arguments

    def results(self) -> tuple[ast.expr | None, ...]:
        """The returned expressions."""
        for statement in self.body:
            if isinstance(statement, ast.Assign):
                (target,) = statement.targets
                assert isinstance(target, ast.Name)
                self.meanings[target.id] = self.visit(statement.value)
            elif isinstance(statement, ast.Return) and statement.value is not None:
                return tuple(map(self.active, self.entries(statement.value)))
        raise AssertionError

    def entries(self, node: ast.expr) -> list[ast.expr]:
        """The entries of a row, or of `tuple([… for x in arguments])`."""
        if isinstance(node, ast.Tuple):
            return [self.visit(entry) for entry in node.elts]
        assert isinstance(node, ast.Call)
        (row,) = node.args
        assert isinstance(row, ast.ListComp)
        (loop,) = row.generators
        assert isinstance(loop.iter, ast.Name)
        assert isinstance(loop.target, ast.Name)
        made = []
        for argument in self.meanings[loop.iter.id]:
            self.meanings[loop.target.id] = argument
            made.append(self.visit(deepcopy(row.elt)))
        return made

    def active(self, node: ast.expr) -> ast.expr | None:
        is_zero = isinstance(node, ast.Constant) and node.value is None
        return None if is_zero else node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """An argument, the value, a local variable, or a constant of the module."""
        if node.id in self.meanings:
            meaning = self.meanings[node.id]
            if isinstance(meaning, list):
                return ast.Tuple(meaning)
            made: ast.expr = deepcopy(meaning)
            return made
        constant = self.globals.get(node.id)
        if isinstance(constant, AbstractZero):
            return ast.Constant(None)
        return ast.Constant(constant) if isinstance(constant, NUMBERS) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A function of a namespace keeps its name."""
        return ast.Call(node.func, [self.visit(arg) for arg in node.args], [])
