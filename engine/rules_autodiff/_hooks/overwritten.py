"""Arrays that a library's function may overwrite, as SciPy's `overwrite_a=True` allows.

Rules compute without such options, so that an array would be as it was, where in the
program it holds what LAPACK left there. What the program does is tried on a copy. An
array that holds the result then gets it, and the result stays in its memory. One that
holds its own numbers in another order, as after a median, gets them. Another one that
changes is filled with what is not a number, of a derivative that is an error.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np

import rules_core as rc

from .interface import Hooks

__all__ = ["with_overwritten"]

_LIBRARIES = ("scipy.", "numpy")


def with_overwritten(run: Hooks, f: Any, args: Any, kwargs: Any, y: Any) -> Any:
    """`y` of a rule for `f(*args, **kwargs)`, which may write to its arguments."""
    if not str(getattr(f, "__module__", "")).startswith(_LIBRARIES):
        return y
    for flag, owner in _flags(f):
        given = {**kwargs, **dict(zip(_names(f), args, strict=False))}
        x, is_set = given.get(owner), _is_set(given.get(flag))
        if is_set and isinstance(x, np.ndarray) and x.size and run.is_active((x, y)):
            left, result = _tried(f, args, kwargs, x)
            if not np.array_equal(left, x, equal_nan=True):
                order = _reordering(x, left)
                made = (
                    run.call(left_behind, x, y, _name(f), flag)
                    if order is None
                    else run.call(np.take, x, order)
                )
                run.write(x, Ellipsis, made)
                y = _in_memory_of(run, x, left, result, y)
    return y


def _reordering(x: np.ndarray, left: np.ndarray) -> np.ndarray | None:
    """Places in `x` of what is left; None if that differs, or equals two entries."""
    before, after = np.ravel(x), np.ravel(left)
    old, new = np.argsort(before), np.argsort(after)
    numbers = before[old]
    if not np.array_equal(numbers, after[new]) or np.any(numbers[1:] == numbers[:-1]):
        return None
    places = np.empty(x.size, np.intp)
    places[new] = old
    return places.reshape(x.shape)


def _in_memory_of(run: Hooks, x: Any, left: Any, result: Any, y: Any) -> Any:
    """`y`, with `x` for the part that is `left` in the `result` of the program."""
    if type(y) is tuple and isinstance(result, tuple) and len(y) == len(result):
        pairs = zip(result, y, strict=True)
        return tuple([_in_memory_of(run, x, left, r, part) for r, part in pairs])
    if not isinstance(y, np.ndarray) or not isinstance(result, np.ndarray):
        return y
    same = _place(result) == _place(left)
    if y.dtype != x.dtype or not (same or np.array_equal(result, left)):
        return y
    run.write(x, Ellipsis, y)
    return run.read_array(x, Ellipsis) if same else y


def _place(x: np.ndarray) -> Any:
    return x.__array_interface__["data"], x.strides, x.shape, x.dtype


def _is_set(flag: Any) -> bool:
    return isinstance(flag, bool | np.bool_ | int) and bool(flag)


@cache
def _names(f: Any) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        return ()


@cache
def _flags(f: Any) -> tuple[tuple[str, str], ...]:
    """Options that let `f` overwrite an argument, with the argument's name."""
    names = _names(f)
    found = [n for n in names if n.startswith("overwrite_")]
    owners = [n.removeprefix("overwrite_") for n in found]
    return tuple(
        (flag, owner if owner in names else names[0])
        for flag, owner in zip(found, owners, strict=True)
    )


def _tried(f: Any, args: Any, kwargs: Any, x: np.ndarray) -> tuple[np.ndarray, Any]:
    """What `f` leaves in an array of the numbers and layout of `x`, and its result."""
    place = _placed_like(x)
    own = {k: place if v is x else v for k, v in kwargs.items()}
    return place, f(*[place if v is x else v for v in args], **own)


def _placed_like(x: np.ndarray) -> np.ndarray:
    """A copy in memory of the order, contiguity and writability of `x`."""
    made = x.copy(order="K")
    if not (x.flags.c_contiguous or x.flags.f_contiguous):
        spaced = np.empty((*x.shape, 2), x.dtype)
        made = spaced[..., 0]
        made[...] = x
    made.flags.writeable = x.flags.writeable
    return made


def _name(f: Any) -> str:
    return f"{getattr(f, '__module__', '')}.{getattr(f, '__qualname__', f)}"


@rc.primitive
def left_behind(x: Any, y: Any, name: str, flag: str) -> Any:
    """What a function left in `x` when it computed `y`: not a number."""
    return np.full_like(x, np.nan)


@rc.frule.define(left_behind, symbolic_zeros=True)
def left_behind_frule(_tangents: Any, x: Any, y: Any, name: str, flag: str) -> Any:
    """Not a number either."""
    return left_behind(x, y, name, flag), np.full_like(x, np.nan)


@rc.rrule.define(left_behind)
def left_behind_rrule(x: Any, y: Any, name: str, flag: str) -> Any:
    """An error, unless nothing depends on it."""

    def left_behind_pullback(dx: Any) -> Any:
        if np.any(dx):
            raise rc.UnsupportedError(_READ.format(name, flag))
        return (rc.NoTangent(), rc.ZeroTangent(), rc.ZeroTangent(), *_NAMES)

    return left_behind(x, y, name, flag), left_behind_pullback


_NAMES = rc.NoTangent(), rc.NoTangent()
_READ = (
    "{} was called with {}=True: what it leaves in that array is not specified, and "
    "must not be read by a program with derivatives. Leave the option out, or give a "
    "copy."
)
