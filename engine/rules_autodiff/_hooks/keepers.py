"""Functions and iterators that keep numbers: in closures, defaults, owners, items."""

import gc
from collections.abc import Iterable, Iterator
from functools import partial
from types import CellType, FunctionType, GeneratorType, MethodType
from typing import Any

from rules_autodiff._python.leaves import leaves
from rules_autodiff._python.methods import class_attribute
from rules_autodiff._python.values import INERT
from rules_autodiff._shadows.saved_state import own_dict

__all__ = ["behind", "is_keeper", "keepers", "keeps_numbers"]

CONTAINERS = (list, tuple, dict, set)
KEEPERS = (FunctionType, MethodType, partial, GeneratorType, BaseException)
DEPTH = 3  # of functions that keep functions


def keepers(x: Any) -> Iterator[Any]:
    """A function or iterator that keeps numbers, or those in a container."""
    if isinstance(x, CONTAINERS):
        for value in x.values() if isinstance(x, dict) else x:
            if type(value) not in INERT:
                yield from () if isinstance(value, CONTAINERS) else keepers(value)
    elif keeps_numbers(x):
        yield x
    elif not callable(x) and type(own := own_dict(x)) is dict:  # a table of its own
        for value in own.values():
            yield from keepers(value) if isinstance(value, CONTAINERS) else ()


def keeps_numbers(x: Any) -> bool:
    """Whether a function or iterator keeps numbers that it may give."""
    return is_keeper(x) and bool(behind(x))


def is_keeper(x: Any) -> bool:
    return isinstance(x, KEEPERS) or is_iterator(x)


def is_iterator(x: Any) -> bool:
    """Whether an object of C code gives items one by one."""
    cls = type(x)
    of_c = cls.__module__ in ("builtins", "itertools")
    return of_c and class_attribute(cls, "__next__") is not None


def behind(x: Any, depth: int = DEPTH) -> list[Any]:
    """The numbers that a function or iterator keeps."""
    found: list[Any] = []
    for part in inside(x):
        if is_keeper(part):
            found += behind(part, depth - 1) if depth else []
        else:
            found += leaves(part)
    return found


def inside(x: Any) -> Iterable[Any]:
    if isinstance(x, FunctionType):
        defaults = (*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values())
        return (*map(content, x.__closure__ or ()), *defaults)
    if isinstance(x, MethodType):
        return x.__self__, x.__func__
    if isinstance(x, partial):
        return x.func, *x.args, *x.keywords.values()
    if isinstance(x, BaseException):
        return x.args
    if isinstance(x, GeneratorType):
        return () if x.gi_frame is None else tuple(x.gi_frame.f_locals.values())
    return gc.get_referents(x)


def content(cell: CellType) -> Any:
    """The value of a captured variable; None before it is set."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
