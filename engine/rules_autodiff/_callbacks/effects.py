"""Functions of other authors whose calls change nothing and always give equal results.

A call that written code leaves to a tape of its own may be made twice. So only what is
known to have no effect is called there: NumPy's functions but those that write, draw
random numbers or change settings, `math`, builtins, methods of Python's containers.
"""

import ast
import builtins
import cmath
import dis
import math
import operator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from rules_autodiff._lift.source import definition
from rules_core.extend import ByIdentity, codes, find_table

__all__ = ["has_effects", "is_known"]

WRITING = frozenset({
    "asarray_chkfinite", "at", "busday_count", "copyto", "fill_diagonal", "from_dlpack",
    "frombuffer", "fromfile", "fromiter", "fromregex", "frompyfunc", "genfromtxt",
    "getbufsize", "geterrcall", "load", "loadtxt", "memmap", "nditer", "nested_iters",
    "place", "printoptions", "put", "put_along_axis", "putmask", "save", "savetxt",
    "savez", "savez_compressed", "set_printoptions", "setbufsize", "seterr",
    "seterrcall", "shares_memory", "may_share_memory", "show_config", "show_runtime",
    "info", "test", "vectorize", "apply_along_axis", "apply_over_axes", "fromfunction",
    "piecewise",
})  # fmt: skip
BUILTINS = (
    "abs", "all", "any", "bool", "callable", "chr", "complex", "dict", "divmod",
    "enumerate", "filter", "float", "format", "frozenset", "getattr", "hasattr", "int",
    "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min", "next",
    "ord", "pow", "range", "repr", "reversed", "round", "set", "slice",
    "sorted", "str", "sum", "super", "tuple", "type", "zip",
)  # fmt: skip
OPERATORS = (
    "abs", "add", "and_", "contains", "eq", "floordiv", "ge", "getitem", "gt", "index",
    "invert", "le", "lt", "matmul", "mod", "mul", "ne", "neg", "not_",
    "or_", "pos", "pow", "sub", "truediv", "truth", "xor",
)  # fmt: skip
HOLDERS = frozenset({list, tuple, dict, set, frozenset, str, int, float, complex})
METHODS = frozenset({
    "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "conjugate",
    "copy", "cumprod", "cumsum", "diagonal", "dot", "flatten", "item", "max", "mean",
    "min", "nonzero", "prod", "ravel", "repeat", "reshape", "round", "searchsorted",
    "squeeze", "std", "sum", "swapaxes", "take", "tolist", "trace", "transpose", "var",
})  # fmt: skip


OF_CLASSES = (
    BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType,
)  # fmt: skip


def public(module: ModuleType) -> list[Any]:
    """The functions and number types of a module of NumPy."""
    entries = vars(module).items()  # `dir` would name modules that are not loaded yet
    return [
        f
        for name, f in entries
        if name[0] != "_"
        and name not in WRITING
        and not isinstance(f, ModuleType)
        and callable(f)
        if not isinstance(f, type) or issubclass(f, np.generic | np.errstate)
    ]


def entries(module: Any, names: Any) -> list[Any]:
    return [getattr(module, name) for name in names]


KNOWN: frozenset[Any] = frozenset([
    *public(np), *public(np.linalg), *public(np.fft), np.ndarray,
    *[f for module in (math, cmath) for f in vars(module).values() if callable(f)],
    *entries(builtins, BUILTINS), *entries(operator, OPERATORS),
])  # fmt: skip


def is_known(f: Any) -> bool:
    """Whether calls of a function that is no program change nothing."""
    if type(f) in OF_CLASSES and type(getattr(f, "__self__", None)) is not ModuleType:
        cls = getattr(f, "__objclass__", None) or type(f.__self__)
        return cls in HOLDERS or (cls is np.ndarray and f.__name__ in METHODS)
    if isinstance(f, type) and issubclass(f, BaseException):
        return True
    try:
        return f in KNOWN or type(f) is np.ufunc or has_pure_rules(f)
    except TypeError:  # unhashable
        return False


def has_pure_rules(f: Any) -> bool:
    """Whether the rules of a function say that it computes, and draws nothing."""
    table = find_table(f)
    rules = () if table is None else (*table.rrule.rules, *table.frule.rules)
    return bool(rules) and not any(rule.constant for rule in rules)


def has_effects(f: FunctionType) -> bool:
    """Whether a program assigns outer variables, or defines classes.

    Or asks whether two values are one: it is given others than its caller has.
    """
    found: bool | None = EFFECTS.get(f.__code__)
    if found is None:
        found = any(map(changes_outside, codes(f.__code__)))
        found = found or any(map(asks_identity, ast.walk(definition(f.__code__).node)))
        EFFECTS.put(f.__code__, found)
    return found


def asks_identity(node: ast.AST) -> bool:
    """Whether an expression compares the identities of two values."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    literal = any(isinstance(side, ast.Constant) for side in sides)
    return not literal and any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)


EFFECTS = ByIdentity()


def changes_outside(code: CodeType) -> bool:
    """Whether code assigns variables of others, or makes classes."""
    return any(
        step.opname in OUTER
        or (step.opname in CELLS and step.argval in code.co_freevars)
        for step in dis.get_instructions(code)
    )


OUTER = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_BUILD_CLASS"})
CELLS = frozenset({"STORE_DEREF", "DELETE_DEREF"})
