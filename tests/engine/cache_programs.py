"""Programs that keep a result of an earlier call and find it again."""

import linecache
from itertools import count
from typing import Any, NamedTuple

import numpy as np

__all__ = ["ALWAYS_REFUSED", "CUBE", "FIRST", "HEAD", "Program", "made", "pure"]


class Program(NamedTuple):
    """The text of a program.

    Attributes:
        text: A module that defines `program`, or `make`, which returns it.
        value: What is kept, as an expression in `x`.
    """

    text: str
    value: str


# What is kept.
CUBE, FIRST = "np.sum(x**3)", "x[0] ** 3"
HEAD = """
import heapq
import math
from functools import partial
from itertools import repeat
from contextvars import ContextVar
from types import ModuleType
from collections import OrderedDict, UserDict, defaultdict
from contextlib import suppress
from weakref import WeakKeyDictionary, WeakValueDictionary
import numpy as np
class Box:
    k = v = f = p = None
    def __init__(self, k=None, v=None):
        if v is not None:
            self.k, self.v = k, v
    def value(self):
        return self.v
ONE = np.ones(1)
class Slots:
    __slots__ = ("k", "v", "f")
    def __init__(self):
        self.k = self.v = self.f = None
class Hidden:
    f = None
    def __init__(self):
        self.kept = [None, None]
    @property
    def k(self):
        return self.kept[0]
    @k.setter
    def k(self, value):
        self.kept[0] = value
    @property
    def v(self):
        return self.kept[1]
    @v.setter
    def v(self, value):
        self.kept[1] = value
class Own:
    def __init__(self):
        self.kept = {}
    def __getitem__(self, key):
        return self.kept.get(key)
    def __setitem__(self, key, value):
        self.kept[key] = value
"""
# Parts that are refused at any point: their stores have no rule, sets hold constants,
# and arrays of other points share an entry.
ALWAYS_REFUSED = {"context", "weak keys", "in a set", "kernel", "set of arrays"}
NUMBERS = count()


def made(program: Program) -> Any:
    """The program, with nothing kept yet."""
    name = f"<cache {next(NUMBERS)}>"
    lines = program.text.splitlines(keepends=True)
    linecache.cache[name] = len(program.text), None, lines, name
    space: dict[str, Any] = {"__name__": "cache_program"}
    exec(compile(program.text, name, "exec"), space)
    return space["make"]() if "make" in space else space["program"]


def pure(program: Program) -> Any:
    """What the program computes, without keeping it."""
    value = compile(program.value, "value", "eval")
    return lambda x: eval(value, {"np": np, "x": x}) + np.sum(x)
