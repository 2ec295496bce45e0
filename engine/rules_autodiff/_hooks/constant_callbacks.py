"""Functions given to a call that has no derivative by what it takes and captures.

A solver with constants alone runs without its rule. Its function may still reach a
value with a derivative: by an iterator, as an attribute of a function or of a class, by
a property. The result of the call would be a constant then. What Python code can read
has no end, so the function is run by the engine, which sees what its result carries.
"""

from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakSet

from rules_autodiff._python.concealed import SIMPLE
from rules_autodiff._python.lifted_code import is_lifted
from rules_autodiff._python.methods import python_method
from rules_autodiff._python.opaque import is_opaque, root_of
from rules_autodiff._refusals import name_of, refused
from rules_core.extend import find_table

from .interface import Hooks

__all__ = ["watched"]

FUNCTIONS = (FunctionType, MethodType, partial)


def watched(run: Hooks, f: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Arguments for a function with rules, whose functions must give constants."""
    values = (*args, *kwargs.values())
    if all(type(x) in SIMPLE for x in values) or not run.has_rules(f):
        return args, kwargs
    table = find_table(f)
    names = (table and table.binder.names) or ()
    named = zip((*names, *["args"] * len(args)), args, strict=False)
    solver = root_of(f) in CALLING
    own = tuple([constants(run, x, solver and name != "args") for name, x in named])
    return own, {
        n: constants(run, x, solver and n != "args") for n, x in kwargs.items()
    }


CALLING = frozenset({"scipy", "rules_scipy"})


def constants(run: Hooks, x: Any, called: bool = False) -> Any:
    """A value with functions that must give constants in it, as constraints have.

    Args:
        run: The run.
        x: The value.
        called: Whether an object can only be called: others may read its attributes.
    """
    cls = type(x)
    if cls in SIMPLE:
        return x
    if cls in (list, tuple, dict):
        values = x.values() if cls is dict else x
        entries = [constants(run, entry) for entry in values]
        if all(a is b for a, b in zip(entries, values, strict=True)):
            return x
        return dict(zip(x, entries, strict=True)) if cls is dict else cls(entries)
    function = code_of(x) if called or isinstance(x, FUNCTIONS) else None
    if function is None or not may_reach(run, function):
        return x
    return constant(run, x)


def code_of(f: Any) -> FunctionType | None:
    """The Python function that a call of `f` runs."""
    while isinstance(f, partial):
        f = f.func
    if isinstance(f, MethodType):
        return code_of(f.__func__)
    if isinstance(f, FunctionType):
        return f
    return python_method(type(f), "__call__") if callable(f) else None


def may_reach(run: Hooks, f: FunctionType) -> bool:
    """Whether a function may read what the run follows."""
    if is_lifted(f) or f in CHECKED:
        return True
    return bool((run.changes or run.rebinds) and not is_opaque(f))


def constant(run: Hooks, f: Callable[..., Any]) -> Any:
    # What is checked, a run above calls itself. Others may have no hash.
    is_checked = isinstance(f, FunctionType) and f in CHECKED
    call = f if is_checked else partial(run.call, f)

    def checked(*args: Any, **kwargs: Any) -> Any:
        y = call(*args, **kwargs)
        if run.is_active(y):
            refused("apart", name_of(f))
        return y

    checked.__qualname__ = name_of(f)
    CHECKED.add(checked)
    return checked


CHECKED: WeakSet[Any] = WeakSet()
