"""Names in messages: functions, variables and syntax as a user writes them."""

import ast
import re
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from rules_core import Primitive

__all__ = ["function_in_words", "syntax_in_words", "variable_in_words"]

SYNTAX: dict[type, str] = {
    ast.AsyncFor: "an async for loop", ast.AsyncFunctionDef: "an async function",
    ast.AsyncWith: "an async with statement", ast.Await: "await",
    ast.ClassDef: "a class definition", ast.DictComp: "a dict comprehension",
    ast.GeneratorExp: "a generator expression", ast.Global: "a global statement",
    ast.JoinedStr: "an f-string", ast.Match: "a match statement",
    ast.Nonlocal: "a nonlocal statement", ast.Set: "a set",
    ast.SetComp: "a set comprehension", ast.Slice: "a slice",
    ast.Starred: "a starred expression", ast.TryStar: "an except* clause",
    ast.Yield: "yield", ast.YieldFrom: "yield from", ast.LShift: "<<",
    ast.RShift: ">>", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.Mod: "%", ast.FloorDiv: "//", ast.Pow: "**",
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
}  # fmt: skip
MADE = re.compile(r"__[a-z]*\d+(_\d+)?(?:_(?!bar|dot)(\w+?))?")
ENTRY = re.compile(r"(\w+?)__(\d+)")
ADDED = re.compile(r"__(v|c\d+|rank|bound)$")


def syntax_in_words(node: type) -> str:
    """A construct of Python, by the class of its node."""
    return SYNTAX.get(node, f"the syntax {node.__name__}")


def function_in_words(f: Any) -> str:
    """A function as a program names it."""
    f = f.fun if type(f) is Primitive else f
    if isinstance(f, ModuleType):
        return f"the module {f.__name__}"
    if type(f) is np.ufunc:
        return f"numpy.{f.__name__}"
    if type(f) is BuiltinFunctionType and type(f.__self__) is np.ufunc:
        return f"numpy.{f.__self__.__name__}.{f.__name__}"
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None)
    if name is None:
        return f"an object of class {type(f).__qualname__}"
    name = str(name).rpartition("<locals>.")[2].removeprefix("ndarray.")
    home = (getattr(f, "__module__", None) or "").partition("._")[0].lstrip("_")
    if type(f) is FunctionType and not home.startswith(("numpy", "scipy")):
        return name  # of the program
    return name if home in ("", "builtins") else f"{home}.{name}"


def variable_in_words(name: str) -> str:
    """A variable of generated code as the program names it; "" for a value without."""
    stem, derived, _ = name.partition("_bar")
    stem, pushed, _ = stem.partition("_dot")
    if derived or pushed:
        told = variable_in_words(stem.rstrip("_"))
        what = "cotangent" if derived else "tangent"
        return f"the {what} of {told or 'a value'}"
    name = ADDED.sub("", name) if "__" in name.lstrip("_") else name
    made = MADE.fullmatch(name)
    if made:
        return made[2] or ""
    if name.startswith("__"):
        return ""
    entry = ENTRY.fullmatch(name)
    return f"{entry[1]}[{entry[2]}]" if entry else name
