"""The level below all derivatives: plain Python.

A run does its own arithmetic (of cotangents, of partial derivatives, of the primal)
through the level below it, and a run can be the level below another: this
differentiates a derivative. The lowest level is here, where every hook is the plain
operation.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

__all__ = ["PLAIN", "Plain", "boxed", "live"]

OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift",
    "rshift", "and_", "or_", "xor", "neg", "pos", "invert", "lt", "le", "gt", "ge",
    "eq", "ne", "iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow",
    "imatmul", "ilshift", "irshift", "iand", "ior", "ixor", "getitem", "abs",
)  # fmt: skip


class Plain:
    """Every hook as the plain operation."""

    depth = 0
    over = False

    def call(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    def store_item(self, value: Any, owner: Any, key: Any) -> None:
        owner[key] = value

    def reshape_in_place(self, a: Any, shape: Any) -> None:
        a.shape = shape

    def getattr(self, owner: Any, name: str) -> Any:
        return getattr(owner, name)

    def changing(self, container: Any) -> None:
        """Nothing to record."""

    def note_attribute(self, owner: Any, name: str) -> None:
        """Nothing to record."""

    def note_append(self, owner: Any, item: Any) -> None:
        """Nothing to record."""

    def note_item(self, owner: Any, key: Any) -> None:
        """Nothing to record."""

    def box(self, x: Any) -> Any:
        return boxed(x)

    def copied(self, x: Any, order: Any = "K") -> Any:
        """A copy in an order of NumPy, or with the same "strides"."""
        if isinstance(x, np.ndarray):
            if order == "strides":
                return as_laid_out(x)
            return np.array(x, order=order, subok=True)
        return boxed(x)

    def add_at(self, dest: Any, key: Any, value: Any) -> None:
        np.add.at(dest, key, value)

    def is_active(self, x: Any) -> bool:
        return False


for _name in OPERATORS:
    setattr(Plain, _name, staticmethod(getattr(operator, _name)))

PLAIN = Plain()


def as_laid_out(x: Any) -> Any:
    """A copy with the strides of an argument, on which a program may depend."""
    low, high = byte_bounds(x)
    if x.flags.forc or type(x) is not np.ndarray or high - low < x.nbytes:
        return np.array(x, order="K", subok=True)  # without gaps, or overlapping
    memory = np.zeros(high - low, np.uint8)
    start = x.__array_interface__["data"][0] - low
    own: Any = np.ndarray(x.shape, x.dtype, memory, start, x.strides)
    own[...] = x
    return np.asarray(memoryview(own))  # the owner of its memory, as `alias` makes one


def live(level: Any) -> Any:
    """The first level from `level` downwards whose forward pass is not finished."""
    while level.over:
        level = level.below
    return level


def boxed(x: Any) -> Any:
    """An equal number as a separate object.

    The engine identifies a number by its object, and every operation creates a new one;
    an input, or a rule's result, must not be an object that occurs elsewhere.
    """
    if type(x) is float:
        return x * 1.0
    if isinstance(x, np.generic):
        return x.copy()
    return x * 1.0 if isinstance(x, float) else complex(x.real, x.imag)
