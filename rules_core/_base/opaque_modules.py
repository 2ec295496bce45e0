"""Modules whose functions read no values of a program: libraries and our packages."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import PurePath
from types import FunctionType
from typing import Any

__all__ = [
    "COMPILERS",
    "LIFTED_STANDARD",
    "OPAQUE",
    "OURS",
    "OWN",
    "is_closed",
    "is_installed",
    "root_of",
]

# Modules of the standard library in plain Python that call user code.
LIFTED_STANDARD = frozenset({
    "contextlib", "functools", "dataclasses", "collections", "_collections_abc",
})  # fmt: skip
# Our own packages: names in their functions are not values of a program.
OWN = frozenset({"rules_core", "rules_autodiff", "rules_numpy", "rules_scipy"})
# Them and the adapters.
OURS = OWN | {"rules_jax", "rules_torch"}
# Compilers: what they made holds the values that it read when it was compiled, and
# their objects change when they compile.
COMPILERS = frozenset({"numba", "llvmlite"})
OPAQUE = frozenset({
    "numpy", "scipy", "jax", "jaxlib", "torch", "pandas", "sklearn", "matplotlib",
    "pytest", "_pytest", "hypothesis", "optree", "multipledispatch",
}) | (sys.stdlib_module_names - LIFTED_STANDARD - {"__main__"})  # fmt: skip


def root_of(f: Any) -> str:
    """The top-level module of a function, by its globals if it has them."""
    if isinstance(f, FunctionType):
        name = f.__globals__.get("__name__", "")
    else:
        name = getattr(f, "__module__", None) or ""
    return str(name).partition(".")[0]


def is_closed(root: str) -> bool:
    """Whether code of a package reads no values of a program."""
    return root == "builtins" or root in OURS or root in OPAQUE


@cache
def is_installed(root: str) -> bool:
    """Whether a package is one of Python's, or stands among the installed ones."""
    if root in sys.stdlib_module_names and root != "__main__":
        return True
    path = getattr(sys.modules.get(root), "__file__", None) or ""
    return not {"site-packages", "dist-packages"}.isdisjoint(PurePath(path).parts)
