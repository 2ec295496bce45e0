"""Functions compiled by numba, which are differentiated by their Python source."""

import sys
from types import FunctionType
from typing import Any

from rules_core.extend import COMPILERS, find_table

from .opaque import root_of

__all__ = ["is_jitted", "python_of"]


def is_jitted(f: Any) -> bool:
    """Whether `f` is what `numba.njit` has made of a function without rules."""
    module = sys.modules.get("numba.core.dispatcher")
    if module is None or not isinstance(f, module.Dispatcher):
        return False
    function = f.py_func
    if type(function) is not FunctionType or root_of(function) in COMPILERS:
        return False  # numba's own is written in terms of itself
    return find_table(f) is None


def python_of(f: Any) -> Any:
    """The Python function that numba compiles; other values as they are."""
    return f.py_func if type(f) is not FunctionType and is_jitted(f) else f
