"""The kinds of functions that are arguments: what they capture is part of an argument.

A function that a program defines inside itself has the values that it captures as its
entries. So has a function that is given, but for what cannot be active: that is looked
up by the guard, as what other functions read from outside.
"""

from types import CellType, FunctionType
from typing import Any

import numpy as np

from rules_autodiff._lift.lift import unlifted
from rules_autodiff._python.lifted_code import NESTED, is_lifted
from rules_autodiff.straight._program.kinds import Kind, kind_of
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import Closure, Known, Local

from .captures import ROOT, Place

__all__ = [
    "active_cells", "as_written", "functions_in", "is_entry", "kinds_of_given",
]  # fmt: skip

NAMES: dict[Any, str] = {tuple: "row", list: "list", dict: "dict"}


def kinds_of_given(args: Any) -> tuple[Kind, ...]:
    """The kinds of arguments among which are functions.

    A guard finds these, in the order in which they stand, as `functions` of what is
    called.
    """
    found: list[FunctionType] = []
    return tuple([kind_of_value(x, found) for x in args])


def functions_in(args: Any) -> list[FunctionType]:
    """The functions in arguments, but those that others capture."""
    found: list[FunctionType] = []
    for x in args:
        if type(x) is FunctionType:
            found.append(x)
        elif type(x) in NAMES:
            found += functions_in(entries_of(x))
    return found


def entries_of(x: Any) -> Any:
    return x.values() if type(x) is dict else x


def kind_of_value(x: Any, found: list[FunctionType]) -> Kind:
    if type(x) is FunctionType:
        found.append(x)
        own = as_written(x)
        return kind_of_function(own, Place(ROOT, f"{{}}.functions[{len(found) - 1}]"))
    if type(x) not in NAMES or not functions_in([x]):
        return kind_of_known(x)
    name = NAMES[type(x)]
    tag = tuple(x) if type(x) is dict else None
    parts = tuple([kind_of_value(part, found) for part in entries_of(x)])
    return Kind(name, parts=parts, tag=tag)


def kind_of_known(x: Any) -> Kind:
    kind = kind_of(x)
    if kind is None or kind.name == "many":
        refuse("it is given, or captures, what is of no kind that the tier knows")
    return kind


def kind_of_function(f: FunctionType, place: Place) -> Kind:
    """The kind of a function whose place for the guard is known."""
    cells = active_cells(f)
    if not cells:
        return Kind("function", tag=Known(f, place))
    parts = []
    for i, _, cell in cells:
        value = cell.cell_contents
        if type(value) is FunctionType:
            own = as_written(value)
            access = f"{{}}.__closure__[{i}].cell_contents"
            access = access if own is value else f"unlifted({access})"
            parts.append(kind_of_function(own, Place(place, access)))
        elif type(value) in NAMES and functions_in([value]):
            refuse("a function captures a container with functions")
        else:
            parts.append(kind_of_known(value))
    tag = Closure(Local(f, ()), place, tuple([name for _, name, _ in cells]), (), ())
    return Kind("function", parts=tuple(parts), tag=tag)


def as_written(f: FunctionType) -> FunctionType:
    """A function as its program defines it, which shares its variables."""
    found = unlifted(f)
    if found is None:
        refuse("a function in lifted code is not found in its program")
    return found


def active_cells(f: FunctionType) -> list[tuple[int, str, CellType]]:
    """The captured variables that are entries: index, name and cell."""
    pairs = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
    return [
        (i, name, cell)
        for i, (name, cell) in enumerate(pairs)
        if is_entry(cell.cell_contents)
    ]


def is_entry(x: Any) -> bool:
    """Whether a captured value can be active, or is a function in lifted code."""
    return holds_real(x) or (type(x) is FunctionType and is_lifted(x))


def captured_by(f: FunctionType) -> list[Any]:
    """The values that a function captures, but the hooks of lifted code."""
    hooks = NESTED.get(f.__code__)
    pairs = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
    return [cell.cell_contents for name, cell in pairs if name != hooks]


def holds_real(x: Any) -> bool:
    """Whether a value is or holds a float, or an array of floats."""
    if type(x) is np.ndarray:
        return bool(x.dtype.char == "d")
    if type(x) is FunctionType:
        return any(map(is_entry, captured_by(x)))
    if type(x) in NAMES:
        return any(map(holds_real, entries_of(x)))
    return type(x) is float or type(x) is np.float64
