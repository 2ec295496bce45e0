"""Special methods that Python asks on its own: a user's are followed, or refused.

`if x` asks `__bool__`, `sorted` asks `__lt__`, `[…].index(x)` asks `__eq__`. C code
would run them unlifted, and what they compute or change would be lost.
"""

import operator
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from rules_autodiff._python.methods import python_method, users_method
from rules_autodiff._python.outside_reads import code_reached
from rules_autodiff._python.values import INERT, is_numeric
from rules_autodiff._refusals import refused

from .close_calls import compared
from .interface import Hooks

__all__ = [
    "Ordered",
    "both_of",
    "check_finalizer",
    "check_key",
    "compare_parts",
    "either",
    "equal_dicts",
    "is_asked",
    "is_less",
    "may_write",
    "same",
    "truth",
    "writes_always",
]

PLAIN_TRUTH = frozenset({
    bool, int, float, str, bytes, list, tuple, dict, set, type(None), np.bool_,
    np.ndarray, np.float64, np.int64,
})  # fmt: skip
COMPARING = ("__eq__", "__lt__", "__gt__", "__le__", "__ge__", "__ne__")


def truth(run: Hooks, x: Any) -> Any:
    """The value that a test takes: `x` itself, or the answer of a user's method."""
    if type(x) in PLAIN_TRUTH:
        if type(x) not in INERT and not run.close and is_numeric(x):
            compared(run, x, 0.0, equal=False)  # zero where two are equal
        return x
    method = users_method(x, "__bool__", "__len__")
    if method is None:
        return x
    return run.call(len if method.__name__ == "__len__" else bool, x)


def either(run: Hooks, x: Any, other: Callable[[], Any]) -> Any:
    """`x or other()`."""
    return x if run.truth(x) else other()


def both_of(run: Hooks, x: Any, other: Callable[[], Any]) -> Any:
    """`x and other()`."""
    return other() if run.truth(x) else x


def compare_parts(run: Hooks, name: str, x: Any, y: Any) -> Any:
    """Lists or tuples compared item by item, as Python does."""
    if isinstance(x, list) and len(x) != len(y) and name in ("eq", "ne"):
        return name == "ne"
    for one, other in zip(x, y, strict=False):
        if not same(run, one, other):
            if name in ("eq", "ne"):
                return name == "ne"
            return run.comparison(name, one, other)
    return getattr(operator, name)(len(x), len(y))


def equal_dicts(run: Hooks, x: Any, y: Any) -> bool:
    """`x == y` of two dicts."""
    if x.keys() != y.keys():
        return False
    return all(same(run, value, y[key]) for key, value in x.items())


def same(run: Hooks, one: Any, other: Any) -> bool:
    """`one is other or one == other`: what containers ask."""
    return one is other or bool(run.truth(run.comparison("eq", one, other)))


def is_less(run: Hooks, one: Any, other: Any) -> bool:
    """`one < other`: what sorting asks."""
    return bool(run.truth(run.comparison("lt", one, other)))


def check_key(run: Hooks, key: Any) -> Any:
    """A key of a dict or set; refused if its own `__hash__` changes something."""
    if type(key) in INERT or is_numeric(key):
        return key
    if type(key) is tuple:
        for part in key:
            check_key(run, part)
    for name in ("__hash__", "__eq__"):
        method = users_method(key, name)
        if method is not None and may_write(method, type(key)):
            refused("hashed", f"{type(key).__name__}.{name}")
    return key


def check_finalizer(run: Hooks, cls: Any, given: Any) -> None:
    """Refuse an instance of which Python itself calls a method at the end."""
    method = python_method(cls, "__del__")
    if method is None or not run.is_active(given):
        return
    if may_write(method, cls):
        refused("finalizer", cls.__name__)


def is_asked(x: Any) -> bool:
    """Whether comparing a value runs a method of the user's."""
    if type(x) in INERT or is_numeric(x):
        return False
    if isinstance(x, list | tuple):
        return any(map(is_asked, x))
    if type(x) is dict:
        return any(map(is_asked, x.values()))
    return any(users_method(x, name) is not None for name in COMPARING)


class Ordered:
    """Stands for a value while C code sorts: comparisons are followed.

    Args:
        run: Who follows.
        value: The value.
    """

    __slots__ = ("run", "value")

    def __init__(self, run: Any, value: Any):
        self.run, self.value = run, value

    def __lt__(self, other: Any) -> bool:
        return bool(is_less(self.run, self.value, other.value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ordered) and same(self.run, self.value, other.value)

    __hash__ = None  # type: ignore[assignment]  # it is compared, no more


WRITING = frozenset({
    "STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "STORE_SLICE",
    "DELETE_ATTR", "DELETE_SUBSCR", "DELETE_GLOBAL", "DELETE_DEREF",
})  # fmt: skip
CHANGING = frozenset({
    "append", "extend", "insert", "pop", "remove", "clear", "update", "add", "discard",
    "setdefault", "popitem", "appendleft", "sort", "fill", "setattr",
})  # fmt: skip


def may_write(f: FunctionType, cls: type) -> bool:
    """Whether a method, or one that it names, changes more than its own locals."""
    return any(writes(code) for code in code_reached(f, cls, {}))


def writes_always(f: FunctionType, cls: type) -> bool:
    """Whether a method changes something each time; one that asks first may not."""
    import dis

    if not may_write(f, cls):
        return False
    return not any("JUMP" in step.opname for step in dis.get_instructions(f))


def writes(code: CodeType) -> bool:
    import dis  # 2 ms, and seldom asked

    if CHANGING.intersection(code.co_names):
        return True
    return any(step.opname in WRITING for step in dis.get_instructions(code))
