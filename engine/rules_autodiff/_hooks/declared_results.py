"""Results of host functions as their declarations promise, derivatives included."""

from typing import Any

import numpy as np

from rules_autodiff._python.errors import EngineError
from rules_autodiff._refusals import name_of, where
from rules_core import structure
from rules_core.extend import find_table

from .interface import Hooks

__all__ = ["as_declared"]


def as_declared(run: Hooks, f: Any, y: Any, args: Any, kwargs: Any) -> Any:
    """The result of a primitive, converted as its declaration promises.

    Raises:
        EngineError: A rule returned integers where the declaration promises floats.
        PrimitiveError: The result is not what the declaration promises.
    """
    kept = f.keep(y, args, kwargs)
    if kept is y:
        return y
    if not run.is_active(y):
        if run.is_active((args, kwargs)) and has_derivatives(f):
            raise lost(f, y, kept)
        return kept
    return converted(run, y, kept)


def converted(run: Hooks, y: Any, kept: Any) -> Any:
    """`y` like `kept`, by operations that are differentiated."""
    if y is kept:
        return y
    if isinstance(kept, np.ndarray | np.generic):
        if not isinstance(y, np.ndarray | np.generic):
            return run.call(type(kept), y)
        if y.dtype == kept.dtype:
            return run.call(np.asarray, y)
        return run.method(y, "astype", kept.dtype)
    level, parts = structure(y), structure(kept)
    assert level is not None
    assert parts is not None
    pairs = zip(level.values, parts.values, strict=True)
    return level.rebuild([converted(run, *pair) for pair in pairs])


def has_derivatives(f: Any) -> bool:
    """Whether a function has rules of its author that are no constants."""
    table = find_table(f.fun)
    rules = () if table is None else (*table.rrule.rules, *table.frule.rules)
    return any(not (rule.constant or rule.opted_out) for rule in rules)


def lost(f: Any, y: Any, kept: Any) -> EngineError:
    name = name_of(f)
    text = (
        f"the rule of {name} ({where()}) must return the result as {name} is declared, "
        f"with dtype {getattr(kept, 'dtype', 'as declared')}, but got "
        f"{getattr(y, 'dtype', type(y).__name__)}, which carries no derivative. Return "
        f"{name}(…) itself, or convert the result in the rule."
    )
    return EngineError(text)
