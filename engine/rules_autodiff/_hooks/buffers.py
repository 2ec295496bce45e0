"""Arrays that the engine cannot follow: their memory is reached by another way.

A buffer, a C iterator or a second array over one memory would read active values
without their derivatives. They are noted when they are made and refused when an active
value comes into the memory.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff._boundary.enter import Guard
from rules_autodiff._python.handlers import HANDLERS
from rules_autodiff._python.values import is_foreign
from rules_autodiff._refusals import refused
from rules_autodiff._shadows.memory import owner_of

from .interface import Hooks

__all__ = [
    "is_lent",
    "check_buffer",
    "check_class",
    "check_exported",
    "check_foreign",
    "check_hidden",
    "check_lent",
    "export",
]


def export(run: Hooks, a: Any, to: str) -> None:
    """Called when the memory of an array, or of bytes, is given out."""
    if id(a) in run.raw or (isinstance(a, np.generic) and run.is_active(a)):
        refused("exported", to)
    if isinstance(a, np.ndarray) and a.dtype.kind in "fcV":
        if run.is_active(a):
            refused("exported", to)
        owner = owner_of(a)
        run.exported[id(owner)] = owner, to


def check_exported(run: Hooks, owner: Any) -> None:
    """Called when an array that was a constant gets a derivative."""
    if id(owner) in run.exported:
        refused("exported", run.exported[id(owner)][1])
    if owner.base is not None:
        run.outside.append(owner)


def check_hidden(run: Hooks, owner: Any) -> None:
    """Called for a constant in memory that no array owns."""
    behind = owner.base
    if isinstance(behind, memoryview) and not is_given(run, behind.obj):
        check_buffer(run, behind)
    for other in run.outside:
        if other is not owner and np.may_share_memory(other, owner):
            refused("exported", "another array")


def is_given(run: Hooks, x: Any) -> bool:
    """Whether an array is one that the user gave as an argument."""
    known = isinstance(x, np.ndarray) and run.guards.get(id(owner_of(x)))
    return isinstance(known, Guard)


def is_lent(run: Hooks, x: Any) -> bool:
    """Whether the memory of an array is that of an argument."""
    return isinstance(x.base, memoryview) and is_given(run, x.base.obj)


def check_lent(run: Hooks, f: Any, args: Any) -> None:
    """Called before a function in C: ctypes keeps the memory that it is given."""
    owner: Any = getattr(f, "__self__", None)
    of_ctypes = isinstance(owner, type) and type(owner).__module__ == "_ctypes"
    if of_ctypes and f.__name__ == "from_buffer":
        export(run, args[0], f"{owner.__name__}.from_buffer")


def check_foreign(run: Hooks, *objects: Any) -> None:
    """Called when objects are read that are no arrays but may own their memory."""
    behind = [owner.base for owner in run.outside]
    behind += [view.obj for view in behind if isinstance(view, memoryview)]
    for x in objects:
        if any(x is base for base in behind) and not isinstance(x, np.ndarray):
            refused("exported", type(x).__name__)


def check_buffer(run: Hooks, view: Any) -> None:
    """Called when a memoryview is read."""
    if isinstance(view.obj, np.ndarray) and run.slot(view.obj) is not None:
        refused("exported", "memoryview")


def check_class(a: Any) -> None:
    """Called for arrays with a derivative whose class is not `ndarray`."""
    if is_foreign(type(a)):
        refused("subclass", type(a).__name__)


def exporting(f: Any) -> Callable[..., Any]:
    """A function that keeps the memory of its arrays."""

    def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
        for x in args:
            for a in x if isinstance(x, list | tuple) else (x,):
                export(run, a, getattr(f, "__name__", str(f)))
        if run.is_active(args):
            refused("exported", getattr(f, "__name__", str(f)))
        return run.below.call(f, *args, **kwargs)

    return handle


for _export in (
    memoryview, np.from_dlpack, np.ndarray.__dlpack__, np.ctypeslib.as_ctypes,
    np.nditer, np.nested_iters, np.broadcast,
):  # fmt: skip
    HANDLERS[_export] = exporting(_export)


def reading(method: Any) -> Callable[..., Any]:
    """A method of a memoryview that reads it."""

    def handle(run: Any, view: Any, *args: Any) -> Any:
        check_buffer(run, view)
        return method(view, *args)

    return handle


for _read in (memoryview.tolist, memoryview.tobytes, memoryview.__getitem__):
    HANDLERS[_read] = reading(_read)
