"""Names in a function's source: mangling, modules, and a free name for the engine."""

import ast
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

from rules_core.extend import codes

__all__ = ["free_name", "local_names", "mangle", "module_names"]


def mangle(tree: ast.AST, owner: str) -> None:
    """``__x`` inside class ``C`` as ``_C__x``, like the compiler."""
    prefix = "_" + owner.lstrip("_")
    for node in outside_classes(tree):
        for field in () if isinstance(node, ast.keyword) else NAME_FIELDS:
            value = getattr(node, field, None)
            if isinstance(value, str) and is_private(value):
                setattr(node, field, prefix + value)
        if isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [prefix + n if is_private(n) else n for n in node.names]


def outside_classes(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree without class bodies, which mangle names themselves."""
    yield tree
    for field, value in ast.iter_fields(tree):
        if isinstance(tree, ast.ClassDef) and field == "body":
            continue
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST):
                yield from outside_classes(child)


NAME_FIELDS = ("id", "attr", "arg", "name")


def is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__") and "." not in name


def local_names(code: CodeType) -> set[str]:
    """The names that are not global somewhere in a function."""
    groups = ((*c.co_varnames, *c.co_cellvars, *c.co_freevars) for c in codes(code))
    return {name for group in groups for name in group}


def module_names(code: CodeType, namespace: dict[str, Any]) -> set[str]:
    """The global names of a function that are modules: these reads need no hook."""
    used = {name for c in codes(code) for name in c.co_names} - local_names(code)
    return {name for name in used if isinstance(namespace.get(name), ModuleType)}


def free_name(wanted: str, code: CodeType) -> str:
    """``wanted``, extended until the function does not use it."""
    names = local_names(code) | {name for c in codes(code) for name in c.co_names}
    while any(name.startswith(wanted) for name in names):
        wanted += "_"
    return wanted
