"""Tests of arguments that hold here, but not everywhere near.

A program that keeps results finds out whether they belong to the present argument: it
compares the two, or looks up a key made of the argument. The answer is yes at one
point, or nearly there, and says nothing of the slope. From then on the run does not
read what a skipped branch has stored in an earlier call (`skipped_stores`).
"""

import math
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from rules_autodiff._python.handlers import HANDLERS
from rules_autodiff._python.values import INERT, is_arithmetic
from rules_autodiff._refusals import refused

from .interface import Hooks
from .own_keys import is_own_key

__all__ = [
    "ALMOST", "asked", "compared", "found_key", "found_keys", "meet", "subtracted",
    "whole",
]  # fmt: skip

NEAR = 1e-2  # relative, and absolute for differences
ALMOST = 1e-6  # where no tolerance is seen
# Classes of keys that may be made of rounded numbers.
WHOLE = (int, np.integer, float, str, bytes, tuple, frozenset)
REAL = frozenset({float, np.float64})


def meet(run: Hooks) -> None:
    """Note that the argument was found to be what the program knows."""
    if not run.close:
        run.close = True
        run.found()
        if run.read_early:
            refused("skipped", run.read_early)


def compared(run: Hooks, x: Any, y: Any, *, equal: bool) -> None:
    """Called for numbers and arrays that were compared in any way.

    Args:
        run: The run.
        x: One operand.
        y: The other one.
        equal: Whether the answer was that they are equal.
    """
    if run.close:
        return
    if not equal and apart(first(x), first(y)):
        table = (type(x) is np.ndarray) is not (type(y) is np.ndarray)
        if table and in_table(run, x, y):
            meet(run)
        return
    one, other = run.slot(x) is not None, run.slot(y) is not None
    if not (one or other):
        if run.whole and (equal or (type(x) is int is type(y) and 0 in (x, y))):
            meet(run)
    elif equal or near(x, y) or in_table(run, x, y):
        meet(run)
    elif (not one or near(x, 0.0)) and (not other or near(y, 0.0)):
        meet(run)  # a difference, and a tolerance


def first(x: Any) -> Any:
    """A number, or the first entry of an array: seldom are the others asked."""
    return x.item(0) if isinstance(x, np.ndarray) and x.size else x


def apart(x: Any, y: Any) -> bool:
    """Whether two numbers are far from each other and from zero."""
    if not (type(x) in REAL and type(y) in REAL):
        return False
    return bool(abs(x - y) > NEAR * abs(y) and abs(x) > NEAR < abs(y))


def in_table(run: Hooks, x: Any, y: Any) -> bool:
    """Whether one operand is an active number, and an entry of the other one."""
    number, table = (y, x) if np.ndim(x) else (x, y)
    if np.ndim(number) or not np.ndim(table):
        return False
    if run.slot(number) is None or run.slot(table) is not None:
        return False
    return bool(np.any(np.equal(number, table)))


def near(x: Any, y: Any, by: float = NEAR) -> bool:
    """Whether two values are nearly equal numbers."""
    if type(x) in REAL and type(y) in REAL:
        return bool(abs(x - y) <= (by * abs(y) or by))
    try:
        scale = np.max(np.abs(y), initial=0.0) or 1.0
        with np.errstate(all="ignore"):
            return bool(np.all(np.abs(np.subtract(x, y)) <= by * scale))
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        # objects, other shapes, sparse matrices
        return False


# differences, and what is told of an argument without a derivative


def subtracted(run: Hooks, z: Any, x: Any, y: Any) -> None:
    """Called for a difference: what becomes of a zero is told by nothing else.

    It may be made a sign, a text or a whole number.
    """
    if run.close or not (is_arithmetic(z) and np.size(z)) or abs(first(z)) > ALMOST:
        return
    one, other = run.slot(x) is not None, run.slot(y) is not None
    if one and other:
        return
    if not (one or other):
        if run.whole and isinstance(z, int | np.integer):
            meet(run)
    elif near(x, y, ALMOST):
        meet(run)


def asked(run: Hooks, args: Any) -> None:
    """Called for what a function was given whose result has no derivative."""
    parts = [v for x in args for v in (x if type(x) in (list, tuple) else (x,))]
    parts = [x for x in parts if is_arithmetic(x)]
    known = [x for x in parts if run.slot(x) is None]
    own = [x for x in parts if run.slot(x) is not None]
    pairs = ((x, y) for x in own for y in known)
    if any(near(x, y, ALMOST) or in_table(run, x, y) for x, y in pairs):
        meet(run)


# keys


def found_key(run: Hooks, key: Any) -> None:
    """Called for a key that a container holds."""
    if run.close:
        return
    rounded = run.whole and isinstance(key, WHOLE)
    active = type(key) not in INERT and run.is_active(key)
    if rounded or active or is_own_key(run, key):
        meet(run)


def found_keys(run: Hooks, keys: int, table: Any) -> None:
    """Called for a dict spelled out, where two of its keys may be one."""
    if len(table) < keys and not run.close:
        meet(run)


def looking_up(f: Callable[..., Any]) -> Callable[..., Any]:
    """A look-up in a dict that refers to its values weakly."""

    def handle(run: Any, owner: Any, key: Any, *default: Any) -> Any:
        if not run.close and key in owner:
            found_key(run, key)
        return run.call_opaque(f, (owner, key, *default), {})

    return handle


for _name in ("get", "__getitem__", "__contains__", "setdefault"):
    _look_up = vars(WeakValueDictionary)[_name]
    HANDLERS[_look_up] = looking_up(_look_up)


def whole(run: Hooks, x: Any) -> None:
    """Called for a value that is made a whole number, or rounded."""
    if not run.whole and type(x) not in INERT and run.is_active(x):
        run.whole = True


def rounding(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose results may be keys of a cache."""

    def handle(run: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        whole(run, x)
        return run.call_opaque(f, (x, *args), kwargs)

    return handle


def converted(f: Callable[..., Any]) -> Callable[..., Any]:
    """`x.astype(int)`."""

    def handle(run: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        result = run.call_opaque(f, (x, *args), kwargs)
        if getattr(result, "dtype", np.dtype(float)).kind in "iu":
            whole(run, x)
        return result

    return handle


for _convert in (np.ndarray.astype, np.generic.astype):
    HANDLERS[_convert] = converted(_convert)
for _round in (
    np.floor, np.ceil, np.rint, np.trunc, np.fix, np.floor_divide, np.sign,
):  # fmt: skip
    HANDLERS[_round] = rounding(_round)


def merging(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that leaves out what occurs twice."""

    def handle(run: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        if not run.close and run.is_active((x, *args)) and repeats(x, *args):
            meet(run)
        return run.call_opaque(f, (x, *args), kwargs)

    return handle


def repeats(*parts: Any) -> bool:
    """Whether a number occurs twice."""
    rows = [row for row in map(np.ravel, parts) if row.dtype.kind in "fc"]
    entries = np.concatenate(rows) if rows else np.empty(0)
    return np.unique(entries).size < entries.size


def subtracting(run: Any, x: Any, y: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`np.subtract`."""
    z = run.call_opaque(np.subtract, (x, y, *args), kwargs)
    subtracted(run, z, x, y)
    return z


for _merge in (np.unique, np.intersect1d, np.union1d, np.setdiff1d, np.setxor1d):
    HANDLERS[_merge] = merging(_merge)
HANDLERS[np.subtract] = subtracting


# functions that compare


def comparing(f: Callable[..., Any], *, wanted: bool) -> Callable[..., Any]:
    """A function that says whether an array is another, or is zero."""

    def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
        result = run.call_opaque(f, args, kwargs)
        told = not run.close and bool(np.all(result)) is wanted
        if told and (run.whole or any(map(run.is_active, args))):
            meet(run)
        return result

    return handle


for _compare in (np.allclose, np.isclose, np.array_equiv, math.isclose):
    HANDLERS[_compare] = comparing(_compare, wanted=True)
for _ask in (np.any, np.count_nonzero):
    HANDLERS[_ask] = comparing(_ask, wanted=False)
