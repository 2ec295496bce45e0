"""Errors of Python's own functions, with Python's texts.

The engine's handler of a builtin fails at another place than the builtin, with another
text. A program may read the text, and a reader expects the name of the called function.
"""

import copy
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from rules_core import RulesCoreError

from .values import INERT, is_number

__all__ = ["ERRORS", "raise_own"]

MODULES = frozenset({
    "builtins", "operator", "_operator", "math", "cmath", "itertools", "functools",
    "_functools", "bisect", "_bisect", "heapq", "_heapq", "collections",
    "_collections",
})  # fmt: skip
# Side effects that a second call would repeat.
EFFECTS = frozenset({
    "print", "open", "input", "breakpoint", "setattr", "delattr", "exec", "eval",
    "compile", "next",
})  # fmt: skip
CONTAINERS = (list, tuple, dict, deque, OrderedDict, defaultdict, Counter)
ERRORS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)


def raise_own(error: Exception, f: Any, args: Any, kwargs: Any) -> None:
    """Raise the error of `f` itself, if it may be called again with copies."""
    if isinstance(error, RulesCoreError) or not is_of_python(f):
        return
    owner = getattr(f, "__self__", None)
    bound = owner is not None and not isinstance(owner, ModuleType)
    arguments = (*args, *kwargs.values(), *([owner] if bound else []))
    if not all(map(is_data, arguments)):
        return
    again = getattr(copied(owner), f.__name__) if bound else f
    named = {name: copied(x) for name, x in kwargs.items()}
    try:
        again(*map(copied, args), **named)
    except ERRORS as own:
        raise own from None


def is_of_python(f: Any) -> bool:
    """Whether a function is one of Python's, with effects on its arguments only."""
    place = getattr(f, "__objclass__", None) or getattr(f, "__self__", f)
    if place is None:
        place = f
    if isinstance(place, ModuleType):
        standard = place.__name__ in MODULES
    elif isinstance(place, FunctionType):
        standard = place.__module__ in MODULES
    else:
        cls = place if isinstance(place, type) else type(place)
        standard = cls.__module__ in MODULES or issubclass(cls, np.generic)
    return standard and getattr(f, "__name__", "") not in EFFECTS


def is_data(x: Any, depth: int = 4) -> bool:
    """Whether a value contains only numbers, strings and functions in C."""
    cls = type(x)
    if cls in INERT or is_number(x) or cls is np.ndarray:
        return True
    if cls in (range, slice, bytes, Decimal, Fraction, BuiltinFunctionType):
        return True
    if cls not in CONTAINERS or not depth:
        return isinstance(x, type) and x.__module__ == "builtins"
    parts = (*x, *x.values()) if issubclass(cls, dict) else x
    return all(is_data(part, depth - 1) for part in parts)


def copied(x: Any) -> Any:
    return copy.copy(x) if type(x) in (*CONTAINERS, np.ndarray) else x
