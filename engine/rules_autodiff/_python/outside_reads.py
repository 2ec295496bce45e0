"""Values and functions that a function reads besides its arguments.

Closure cells are searched elsewhere; this module finds what is read through globals,
defaults and classes by a function that C code calls unlifted.
"""

import functools
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from rules_core.extend import cell_value, codes

from .opaque import OWN, is_opaque, is_opaque_module, root_of
from .values import INERT

__all__ = [
    "code_reached",
    "read_outside",
    "reads_active",
    "reads_uncaptured",
    "values_outside",
]


def reads_active(run: Any, f: Any) -> bool:
    """Whether a function for C code reads an active value that is not an argument."""
    return any(run.is_active(x) for x in read_outside(f))


def read_outside(f: Any) -> Iterator[Any]:
    """The values that a callable reads but does not capture."""
    while not isinstance(f, FunctionType) and "__wrapped__" in attributes(f):
        f = f.__wrapped__  # a derived function, `grad(f)`
    if isinstance(f, functools.partial):
        f = f.func
    elif isinstance(f, MethodType):
        f = f.__func__
    if isinstance(f, FunctionType):
        yield from values_outside(f, {})
        return
    method = type(f).__call__ if callable(f) else None
    if isinstance(method, FunctionType):
        yield from read_outside(method)


def attributes(x: Any) -> dict[str, Any]:
    """The attributes of an instance; none if `__dict__` is not a dict."""
    entries = getattr(x, "__dict__", None)
    return entries if isinstance(entries, dict) else {}


def reads_uncaptured(run: Any, f: Any) -> bool:
    """Whether a function for a rule reads an active value without capturing it.

    The rule differentiates captured values only.
    """
    if isinstance(f, functools.partial):
        return reads_uncaptured(run, f.func)
    if not isinstance(f, FunctionType | MethodType):
        called = type(f).__call__
        own = isinstance(called, FunctionType)
        return own and reads_uncaptured(run, MethodType(called, f))
    code_of = f.__func__ if isinstance(f, MethodType) else f
    if not isinstance(code_of, FunctionType):
        return False
    seen: dict[int, Any] = {}
    values = list(values_outside(code_of, seen, captured=False))
    if isinstance(f, MethodType):
        names = names_in(code_of.__code__)
        values += attributes_of(type(f.__self__), names, seen)
    return any(map(run.is_active, values))


def values_outside(
    f: FunctionType, seen: dict[int, Any], *, captured: bool = True
) -> Iterator[Any]:
    """The values that a function, or one that it calls, reads itself.

    Globals, defaults, attributes of classes, and, with `captured`, captured values.
    """
    if id(f) in seen or is_opaque(f) or root_of(f) in OWN:
        return
    seen[id(f)] = f
    yield from f.__defaults__ or ()
    yield from (f.__kwdefaults__ or {}).values()
    for code in codes(f.__code__):
        names = names_in(code)
        for name in names & f.__globals__.keys():
            yield from read_of(f.__globals__[name], names, seen)
    for cell in f.__closure__ or ():
        value = cell_value(cell)
        if value is not None:
            names = names_in(f.__code__)
            yield from read_of(value, names, seen, captured=captured)


def read_of(
    x: Any, names: set[str], seen: dict[int, Any], *, captured: bool = True
) -> Iterator[Any]:
    """The values that code with these names reads from a value."""
    if isinstance(x, FunctionType):
        yield from values_outside(x, seen, captured=captured)
    elif isinstance(x, type | ModuleType):
        yield x
        yield from attributes_of(x, names, seen)
    elif type(x) not in INERT:
        if captured:
            yield x
        yield from attributes_of(type(x), names, seen)


def attributes_of(owner: Any, names: set[str], seen: dict[int, Any]) -> Iterator[Any]:
    """The named attributes of a class or module."""
    module = owner.__module__ if isinstance(owner, type) else owner.__name__
    root = (module or "").partition(".")[0]
    if id(owner) in seen or root in OWN or is_opaque_module(root) or root == "builtins":
        return
    seen[id(owner)] = owner
    for base in owner.__mro__ if isinstance(owner, type) else (owner,):
        for name in names & vars(base).keys():
            entry = vars(base)[name]
            yield from read_of(getattr(entry, "__func__", entry), names, seen)


def names_in(code: CodeType) -> set[str]:
    """The names in code, as names or, in lifted code, as strings."""
    return {*code.co_names, *(c for c in code.co_consts if isinstance(c, str))}


def code_reached(
    f: FunctionType, cls: type, seen: dict[int, Any]
) -> Iterator[CodeType]:
    """The code of a method, and of the functions that it names."""
    if id(f) in seen or is_opaque(f):
        return
    seen[id(f)] = f
    for code in codes(f.__code__):
        yield code
        for name in code.co_names:
            own = (vars(base).get(name) for base in cls.__mro__)
            for entry in (*own, f.__globals__.get(name)):
                inner = entry.fget if isinstance(entry, property) else entry
                if isinstance(inner, FunctionType):
                    yield from code_reached(inner, cls, seen)
