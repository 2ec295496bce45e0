"""The kinds of functions that are arguments: what they capture is part of an argument.

A function that a program defines inside itself has the values that it captures as its
entries. So has a function that is given, but for what cannot be active: that is looked
up by the guard, as what other functions read from outside. The entries of an instance
are its attributes, those of a method are its function and its instance.
"""

from abc import ABCMeta
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from rules_autodiff._lift.lift import unlifted
from rules_autodiff._python.lifted_code import NESTED, is_lifted
from rules_autodiff._python.opaque import is_opaque_module
from rules_autodiff.straight._program.kinds import Kind, kind_of
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import (
    Attributes,
    Closure,
    Known,
    Local,
    Partial,
)
from rules_core import has_tangent, structure

from .captures import ROOT, Place
from .class_entries import overrides

__all__ = [
    "active_cells", "as_written", "functions_in", "is_attribute", "is_entry",
    "is_instance", "kinds_of_given",
]  # fmt: skip

NAMES: dict[Any, str] = {tuple: "row", list: "list", dict: "dict"}


def kinds_of_given(args: Any) -> tuple[Kind, ...]:
    """The kinds of arguments among which are functions.

    A guard finds these, in the order in which they stand, as `functions` of what is
    called.
    """
    found: list[FunctionType] = []
    return tuple([kind_of_value(x, found) for x in args])


def functions_in(args: Any) -> list[Any]:
    """The functions, methods and instances in arguments, but those inside of others."""
    found: list[Any] = []
    for x in args:
        if type(x) in NAMES:
            found += functions_in(entries_of(x))
        elif is_holder(x):
            found.append(x)
    return found


def is_holder(x: Any) -> bool:
    """Whether a value is a function, a method or an instance of a class of programs."""
    return type(x) in (FunctionType, MethodType) or is_instance(x)


def is_instance(x: Any) -> bool:
    """Whether a value is its attributes, as Python keeps them usually."""
    cls: Any = type(x)
    return (
        type(cls) in (type, ABCMeta)
        and not is_opaque_module(cls.__module__)
        and cls.__module__ != "builtins"
        and cls.__getattribute__ is object.__getattribute__
        and not hasattr(cls, "__getattr__")
        and not hasattr(cls, "__tangent_structure__")
        and not issubclass(cls, BaseException)
        and type(getattr(x, "__dict__", None)) is dict
        and has_attributes_alone(x)
    )


def has_attributes_alone(x: Any) -> bool:
    """Whether the entries of an instance are all its attributes, and no others."""
    level, names = structure(x), tuple(vars(x))
    if level is None or level.keyed != "field" or tuple(level.names) != names:
        return False
    return not any(overrides(type(x), name) for name in names)


def entries_of(x: Any) -> Any:
    return x.values() if type(x) is dict else x


def kind_of_value(x: Any, found: list[Any]) -> Kind:
    if type(x) not in NAMES and is_holder(x):
        found.append(x)
        return kind_of_holder(x, Place(ROOT, f"{{}}.functions[{len(found) - 1}]"))
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


def kind_of_holder(x: Any, place: Place) -> Kind:
    """The kind of a function, method or instance; lifted functions as written."""
    if type(x) is FunctionType:
        return kind_of_function(as_written(x), place)
    if type(x) is MethodType:
        if type(x.__func__) is not FunctionType or is_lifted(x.__func__):
            refuse("it is given, or captures, a method of another kind")
        function = kind_of_function(x.__func__, Place(place, "{}.__func__"))
        owner = kind_of_instance(x.__self__, Place(place, "{}.__self__"))
        return Kind("function", parts=(function, owner), tag=Partial(()))
    return kind_of_instance(x, place)


def kind_of_instance(x: Any, place: Place) -> Kind:
    """The kind of an instance whose place for the guard is known."""
    if not is_instance(x):
        refuse("it is given, or captures, an instance of a kind of its own")
    names, parts = [], []
    for name, value in vars(x).items():
        if is_attribute(value):
            names.append(name)
            own = Place(place, f"{{}}.__dict__[{name!r}]")
            parts.append(kind_of_captured(value, own))
    cls = Known(type(x), Place(place, "type({})"))
    tag = Attributes(cls, tuple(names))
    return Kind("object", parts=tuple(parts), tag=tag)


def is_attribute(x: Any) -> bool:
    """Whether an attribute is an entry; what has no tangent and no kind is not read."""
    return has_tangent(x) or kind_of(x) is not None


def kind_of_captured(x: Any, place: Place) -> Kind:
    """The kind of what a function captures, or an instance holds."""
    if type(x) in NAMES and functions_in([x]):
        refuse("a function captures a container with functions")
    return kind_of_holder(x, place) if is_holder(x) else kind_of_known(x)


def kind_of_function(f: FunctionType, place: Place) -> Kind:
    """The kind of a function whose place for the guard is known."""
    cells = active_cells(f)
    if not cells:
        return Kind("function", tag=Known(f, place))
    parts = []
    for i, _, cell in cells:
        value = cell.cell_contents
        access = f"{{}}.__closure__[{i}].cell_contents"
        if type(value) is FunctionType and is_lifted(value):
            access = f"unlifted({access})"
        parts.append(kind_of_captured(value, Place(place, access)))
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
    if type(x) is MethodType or is_instance(x):
        return True
    if type(x) in NAMES:
        return any(map(holds_real, entries_of(x)))
    return type(x) is float or type(x) is np.float64
