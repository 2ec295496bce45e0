"""Results of rules: refused where a derivative would be cut off, and views known."""

import random
from typing import Any

import numpy as np

from rules_autodiff._python.opaque import root_of
from rules_autodiff._python.values import is_float_array, is_number
from rules_autodiff._refusals import refused
from rules_autodiff._shadows.memory import owner_of

from .interface import Hooks
from .texts import written

__all__ = ["check_kind", "is_view", "own_args", "views_in"]

NUMPYS = (np.ndarray, np.generic)
GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
MOVING = frozenset({"choice", "permutation", "permuted", "shuffle"})


def check_kind(run: Hooks, f: Any, args: Any, y: Any) -> None:
    """Refuse arrays in which values with a derivative would be cut off."""
    owner = getattr(f, "__self__", args[0] if args else None)
    drawn = isinstance(owner, GENERATORS) and f.__name__ not in MOVING
    if drawn and (is_number(y) or is_float_array(y)):
        refused("drawn", f.__name__)
    if not isinstance(y, np.ndarray | np.generic) or y.dtype.kind in "fc":
        return
    kind = y.dtype.kind
    if kind == "O":
        refused("objects")
    if kind in "SU":
        written(run, "", *args)
    elif kind == "V":
        refused("structured")
    elif f.__name__ != "astype" and any(names_dtype(x, y.dtype) for x in args):
        refused("truncated", f.__name__, y.dtype)


def own_args(found: Any) -> Any:
    """The arguments of a rule's call as the function itself takes them."""
    return found.args[1:] if found.bound else found.args


def is_view(run: Hooks, y: Any, f: Any, args: Any) -> bool:
    """Whether NumPy gave out views of an argument: they share its derivative."""
    found = views_in(y, f, args)
    return bool(found) and all(found)


def views_in(y: Any, f: Any, args: Any) -> list[bool]:
    """For each part of a result whether NumPy gave out a view of an argument."""
    own = getattr(f, "__self__", None)  # of a method that is bound
    named = type(own) if isinstance(own, NUMPYS) else f
    if root_of(getattr(named, "__objclass__", named)) != "numpy":
        return []
    parts = y if isinstance(y, tuple | list) else (y,)
    owners = {id(owner_of(a)) for a in args if isinstance(a, np.ndarray)}
    return [
        isinstance(part, np.ndarray) and id(owner_of(part)) in owners for part in parts
    ]


def names_dtype(x: Any, dtype: Any) -> bool:
    """Whether an argument asks for a dtype."""
    if not isinstance(x, type | str | np.dtype):
        return False
    try:
        return bool(np.dtype(x) == dtype)
    except TypeError:
        return False


def check_record(value: Any, a: Any = None) -> None:
    """Refuse records that were computed, or read from `a`, with a derivative."""
    records = isinstance(value, np.ndarray) and value.dtype.kind == "V"
    if records and a is not None and owner_of(value) is owner_of(a):
        return
    if records or isinstance(value, np.void):
        refused("structured")
