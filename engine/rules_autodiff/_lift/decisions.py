"""Which parts of a program only decide: their values go into tests, no further."""

import ast
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["EXACT", "decides", "names_used"]

# Functions whose results tell no derivative: whole numbers and texts.
EXACT = frozenset({
    "int", "round", "floor", "ceil", "trunc", "rint", "bool", "hash", "str", "repr",
    "format", "print", "isinstance", "len",
})  # fmt: skip
COMPARING = frozenset({
    "allclose", "isclose", "array_equal", "array_equiv", "print", "len", "isinstance",
})  # fmt: skip
TESTS = ast.If | ast.While | ast.IfExp | ast.Assert


def decides(node: ast.AST) -> bool:
    """Whether the values inside an expression are compared, no more."""
    if isinstance(node, ast.Call):
        f = node.func
        name = f.id if isinstance(f, ast.Name) else getattr(f, "attr", None)
        return name in COMPARING
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return negated or isinstance(node, ast.Compare)


def names_used(body: Iterable[ast.AST]) -> frozenset[str]:
    """The variables that statements read for more than decisions."""
    return frozenset(name for node in body for name in used(node))


def used(node: Any) -> Iterator[str]:
    if decides(node):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, TESTS) and child is node.test):
            yield from used(child)
