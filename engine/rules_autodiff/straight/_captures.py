"""What a function reads from outside itself, and the guard that looks at it.

A program is written for the functions, modules and kinds of values that its globals and
cells hold. Whether they still do is asked before each call, and what they hold is
handed to the written code, so that nobody can change it while that runs.
"""

import builtins
import sys
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any
from weakref import ref

import numpy as np

from rules_autodiff.straight._errors import refuse
from rules_autodiff.straight._kinds import Kind, kind_of
from rules_autodiff.straight._trust import is_answered
from rules_autodiff.straight._values import Known

__all__ = ["ROOT", "Captures", "Place"]

FIXED = (ModuleType, BuiltinFunctionType, type, np.ufunc, type(np.sum))


@dataclass(frozen=True)
class Place:
    """Where something is found: by an access, from where something else is found.

    Attributes:
        parent: The place before; None for the function itself.
        access: The text of the access, with a field for the parent's name.
    """

    parent: "Place | None"
    access: str


ROOT = Place(None, "f")
MISSING = object()


class Captures:
    """The places that a written program reads, with what is expected there."""

    def __init__(self, function: FunctionType) -> None:
        self.names: dict[Place, str] = {ROOT: "f"}
        self.functions: dict[Any, Place] = {function: ROOT}
        self.lines: list[str] = []
        self.values: dict[Place, tuple[int, Kind]] = {}
        self.builtins: dict[str, str] = {}
        self.namespace: dict[str, Any] = {
            "ndarray": np.ndarray, "float64": np.float64, "double": np.dtype(float),
            "int64": np.int64, "kind_of": kind_of, "function": FunctionType,
            "is_answered": is_answered,
        }  # fmt: skip

    # where things are

    def of_name(self, function: FunctionType, place: Place, name: str) -> Any:
        """What a function finds under a name that is not its own: value and place."""
        code = function.__code__
        if name in code.co_freevars:
            index = code.co_freevars.index(name)
            cell = (function.__closure__ or ())[index]
            where = Place(place, f"{{}}.__closure__[{index}].cell_contents")
            try:
                return self.found(cell.cell_contents, where)
            except ValueError:
                refuse(f"the variable {name} has no value yet")
        scope = Place(place, "{}.__globals__")
        if name in function.__globals__:
            value = function.__globals__[name]
            return self.found(value, Place(scope, f"{{}}[{name!r}]"))
        value = getattr(builtins, name, MISSING)
        if value is MISSING:
            refuse(f"the name {name} is not defined")
        if name not in self.builtins:
            self.builtins[name] = self.constant(name, value)
        access = f"{{}}.get({name!r}, {self.builtins[name]})"
        return self.found(value, Place(scope, access))

    def of_attribute(self, known: Known, name: str) -> Any:
        """What a module holds under a name."""
        value = getattr(known.value, name, MISSING)
        if value is MISSING:
            refuse(f"{known.value!r} has no attribute {name}")
        return self.found(value, Place(known.place, f"{{}}.{name}"))

    def module(self, name: str) -> Known:
        """A module as `import` finds it."""
        modules = self.constant("modules", sys.modules)
        found = self.found(sys.modules[name], Place(ROOT, f"{modules}.get({name!r})"))
        if not isinstance(found, Known):
            refuse(f"{name} is no module")
        return found

    def default(self, function: FunctionType, place: Place, name: str) -> Any:
        """The default value of an argument; None if it has none."""
        code = function.__code__
        if name in (function.__kwdefaults__ or {}):
            access = f"{{}}.__kwdefaults__[{name!r}]"
            return self.found(
                (function.__kwdefaults__ or {})[name], Place(place, access)
            )
        given = function.__defaults__ or ()
        names = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
        if name not in names:
            return None
        index = names.index(name)
        return self.found(given[index], Place(place, f"{{}}.__defaults__[{index}]"))

    def found(self, value: Any, place: Place) -> Any:
        """A `Known`, or the number and the kind of a value that may change."""
        if type(value) is FunctionType:
            self.expect_function(place, value)
            return Known(value, place)
        if isinstance(value, FIXED):
            self.expect(place, value)
            return Known(value, place)
        kind = kind_of(value)
        if kind is None:
            refuse(f"it reads a value of class {type(value).__qualname__}")
        return self.capture(place, kind)

    # the guard's lines

    def name_of(self, place: Place) -> str:
        """The guard's variable for a place, which it reads once."""
        if place not in self.names:
            parent = self.name_of(place.parent or ROOT)
            name = self.names[place] = f"v{len(self.names)}"
            self.lines.append(f"{name} = {place.access.format(parent)}")
        return self.names[place]

    def constant(self, name: str, value: Any) -> str:
        text = f"{name}__f{len(self.namespace)}"
        self.namespace[text] = value
        return text

    def expect(self, place: Place, value: Any) -> None:
        """Something that must be the same object at every call."""
        if place in self.names:
            return
        name = self.name_of(place)
        self.lines.append(f"if {name} is not {self.constant('known', value)}:")
        self.lines.append("    return None")

    def expect_function(self, place: Place, value: FunctionType) -> None:
        """A function of the program: one with the same code, for which nobody answers.

        So closures that are made anew share what is written, and none is kept alive.
        What the function itself reads is looked up by way of it.
        """
        if place in self.names:
            return
        name = self.name_of(place)
        first = self.functions.setdefault(value, place)
        if first != place:
            tests = [f"{name} is not {self.name_of(first)}"]
        else:
            code = self.constant("code", value.__code__)
            own = self.constant("own", ref(value))
            tests = [
                f"type({name}) is not function or {name}.__code__ is not {code}",
                f"{own}() is not {name} and is_answered({name})",
            ]
        for test in tests:
            self.lines += [f"if {test}:", "    return None"]

    def capture(self, place: Place, kind: Kind) -> tuple[int, Kind]:
        """A value that is read at every call, and must stay of its kind."""
        if place not in self.values:
            name = self.name_of(place)
            self.lines.append(f"if {self.refusal(name, kind)}:")
            self.lines.append("    return None")
            self.values[place] = (len(self.values), kind)
        return self.values[place]

    def refusal(self, name: str, kind: Kind) -> str:
        """The text that asks whether a value is of another kind."""
        if kind.name == "array" and kind.dtype == "d":
            return (
                f"type({name}) is not ndarray or {name}.dtype is not double "
                f"or {name}.ndim != {kind.ndim}"
            )
        if kind.name == "real":
            return f"type({name}) is not float and type({name}) is not float64"
        return f"kind_of({name}) != {self.constant('kind', kind)}"

    def code(self) -> str:
        """The guard: the captured values, or None where something has changed."""
        body = [f"    {line}" for line in self.lines]
        names = [self.names[place] for place in self.values]
        row = "".join(f"{name}, " for name in names)
        return "\n".join(["def guard(f):", *body, f"    return ({row})"])
