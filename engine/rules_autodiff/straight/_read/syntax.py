"""Facts about a program from its syntax alone."""

import ast
from collections.abc import Iterator
from typing import TypeGuard

__all__ = [
    "appended_names", "is_leaving", "is_name", "is_stored", "own_statements",
    "written_names",
]  # fmt: skip

GROW = ("append", "extend")


def written_names(body: list[ast.stmt]) -> set[str]:
    """The variables that name what is written into."""
    found = set()
    for node in (n for statement in body for n in ast.walk(statement)):
        target = node.target if isinstance(node, ast.AugAssign) else node
        if isinstance(target, ast.Subscript) and not isinstance(target.ctx, ast.Load):
            target = target.value
        elif not isinstance(node, ast.AugAssign):
            continue
        if isinstance(target, ast.Name):
            found.add(target.id)
    return found


def appended_names(node: ast.AST) -> set[str]:
    """The variables that name what is appended to."""
    calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
    owners = [f.value for f in calls if isinstance(f, ast.Attribute) and f.attr in GROW]
    return {owner.id for owner in owners if isinstance(owner, ast.Name)}


def is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def is_leaving(node: ast.AST) -> bool:
    return isinstance(node, ast.Break | ast.Continue)


def own_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in the body of a loop, not those in the bodies of loops in it."""
    for node in body:
        yield node
        if not isinstance(node, ast.For | ast.While | ast.FunctionDef):
            yield from own_statements(getattr(node, "body", []))
        yield from own_statements(getattr(node, "orelse", []))
