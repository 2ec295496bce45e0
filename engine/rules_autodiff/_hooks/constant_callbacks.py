"""Functions given to a call that has no derivative by what it takes and captures.

A solver with constants alone runs without its rule. Its function may still reach a
value with a derivative: by an iterator, or as an attribute of a function. The result of
the call would be a constant then.
"""

from types import FunctionType
from typing import Any

from rules_autodiff._python.lifted_code import is_lifted
from rules_autodiff._python.opaque import is_opaque
from rules_autodiff._refusals import name_of, refused

from .interface import Hooks

__all__ = ["watched"]


def watched(run: Hooks, f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments for a function with rules, whose functions must give constants."""
    if not any(type(x) is FunctionType for x in args) or not run.has_rules(f):
        return args
    return tuple([constant(run, x) if may_reach(run, x) else x for x in args])


def may_reach(run: Hooks, x: Any) -> bool:
    """Whether a function may read what the run follows."""
    if type(x) is not FunctionType:
        return False
    return is_lifted(x) or bool((run.changes or run.rebinds) and not is_opaque(x))


def constant(run: Hooks, f: FunctionType) -> Any:
    def checked(*args: Any, **kwargs: Any) -> Any:
        y = run.call(f, *args, **kwargs)
        if run.is_active(y):
            refused("apart", name_of(f))
        return y

    return checked
