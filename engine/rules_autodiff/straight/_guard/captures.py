"""Values that a function reads besides its arguments, and the guard that checks them.

Code is generated for the functions, modules and kinds of values in the program's
globals and cells. The guard checks them before each call, and passes their values to
the code, so that they cannot change during the call.
"""

import builtins
import copy
import sys
from dataclasses import dataclass
from enum import EnumType
from types import BuiltinFunctionType, FunctionType, ModuleType, SimpleNamespace
from typing import Any
from weakref import ref

import numpy as np

from rules_autodiff._lift.lift import unlifted
from rules_autodiff._python.frozen import stale
from rules_autodiff._python.jitted import is_jitted
from rules_autodiff._python.lifted_code import is_lifted
from rules_autodiff.straight._program.kinds import Kind, kind_of
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import Known, Thing
from rules_autodiff.straight._program.words import function_in_words
from rules_core import Primitive

from .class_entries import MISSING, computes, entry, overrides
from .trust import is_answered

__all__ = ["ROOT", "Captures", "Method", "Place", "is_fixed"]

FIXED = (ModuleType, BuiltinFunctionType, type, np.ufunc, type(np.sum), Primitive)


@dataclass(frozen=True)
class Place:
    """The place of a value: an access, relative to another place.

    Attributes:
        parent: The parent place; None for the function itself.
        access: The text of the access, with a field for the parent's name.
    """

    parent: "Place | None"
    access: str


ROOT = Place(None, "f")
# Python's own attribute look-ups.
USUAL: tuple[Any, ...] = (object.__getattribute__, SimpleNamespace.__getattribute__)
CONTAINERS = (tuple, list, dict, set, frozenset, np.ndarray, str, float, int, complex)


@dataclass(frozen=True)
class Method:
    """A function of a class, as an attribute of an object.

    Attributes:
        function: The function.
        is_property: Whether reading it calls it.
    """

    function: Known
    is_property: bool = False


def is_fixed(value: Any) -> bool:
    """Whether a guard expects one identical object."""
    return isinstance(value, FIXED) or isinstance(type(value), EnumType)


def is_plain_object(value: Any) -> bool:
    """Whether the attributes of an object are those in its dict and in its class."""
    cls = type(value)
    own = any(cls.__getattribute__ is usual for usual in USUAL)
    plain = own and not hasattr(cls, "__getattr__") and hasattr(value, "__dict__")
    return plain and not isinstance(value, CONTAINERS)


def is_computed(x: Any, name: str) -> bool:
    """Whether reading an attribute of a module or class would run code of a program."""
    if isinstance(x, ModuleType):
        return name not in vars(x)
    if not isinstance(x, type) or isinstance(x, EnumType):
        return False
    cls = type(x)
    own = cls.__getattribute__ is type.__getattribute__
    metaclasses: Any = cls.__mro__[:-2]  # type: ignore[index]  # of a metaclass
    if not own or any(name in vars(c) for c in metaclasses):
        return True
    raw = entry(x, name)
    if raw is MISSING:
        return hasattr(cls, "__getattr__")
    return isinstance(getattr(type(raw), "__get__", None), FunctionType)


class Captures:
    """The places that a program reads, with their expected values."""

    def __init__(self, function: FunctionType) -> None:
        self.names: dict[Place, str] = {ROOT: "f"}
        self.functions: dict[Any, Place] = {function: ROOT}
        self.plain: dict[FunctionType, FunctionType] = {}  # of lifted functions
        self.lines: list[str] = []
        self.same: set[Place] = set()
        self.entries: set[tuple[str, str]] = set()  # of classes
        self.values: dict[Place, tuple[int, Kind]] = {}
        self.held: dict[Place, int | str] = {}  # what may be pinned
        self.builtins = ""
        self.namespace: dict[str, Any] = {
            "ndarray": np.ndarray, "float64": np.float64, "double": np.dtype(float),
            "int64": np.int64, "kind_of": kind_of, "function": FunctionType,
            "is_answered": is_answered, "is_jitted": is_jitted, "entry": entry,
            "overrides": overrides, "computes": computes, "unlifted": unlifted,
            "stale": stale,
        }  # fmt: skip

    def state(self) -> dict[str, Any]:
        """The captures so far."""
        return {name: copy.copy(value) for name, value in vars(self).items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Forget what was collected since."""
        vars(self).update({name: copy.copy(value) for name, value in state.items()})

    # places

    def of_name(self, function: FunctionType, place: Place, name: str) -> Any:
        """The value and place of a name that is not local to a function."""
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
        if not self.builtins:
            self.builtins = self.constant("builtins", vars(builtins))
        access = f"{{}}.get({name!r}, {self.builtins}.get({name!r}))"
        return self.found(value, Place(scope, access))

    def of_object(self, thing: Thing, name: str) -> Any:
        """An attribute of an object: a result of `found`, a `Method`, or a property."""
        cls, attributes = type(thing.value), vars(thing.value)
        raw, owner = entry(cls, name), Place(thing.place, "type({})")
        self.expect_held(thing, name, raw, name in attributes)
        if type(raw) is property:
            return Method(self.found(raw.fget, Place(owner, f"{{}}.{name}.fget")), True)
        if raw is not MISSING and hasattr(type(raw), "__set__"):
            refuse(f"the attribute {name} is computed")
        if name in attributes:
            scope = Place(thing.place, "{}.__dict__")
            return self.found(attributes[name], Place(scope, f"{{}}[{name!r}]"))
        if type(raw) is FunctionType:
            return Method(self.found(raw, Place(owner, f"{{}}.{name}")))
        computed = hasattr(type(raw), "__get__") and type(raw) is not staticmethod
        if raw is MISSING or computed:
            what = "a call" if name == "__call__" else f"the attribute {name}"
            refuse(f"{what} of an object of class {cls.__qualname__} is not known")
        return self.found(getattr(cls, name), Place(owner, f"{{}}.{name}"))

    def of_attribute(self, known: Known, name: str) -> Any:
        """The value of a name in a module."""
        if isinstance(known, Thing):
            return self.of_object(known, name)
        computed = is_computed(known.value, name)
        value = MISSING if computed else getattr(known.value, name, MISSING)
        if value is MISSING:
            told = function_in_words(known.value)
            refuse(f"{told} has no attribute {name}, or computes it")
        return self.found(value, Place(known.place, f"{{}}.{name}"))

    def module(self, name: str) -> Known:
        """A module as `import` returns it."""
        modules = self.constant("modules", sys.modules)
        entry = self.found(sys.modules[name], Place(ROOT, f"{modules}.get({name!r})"))
        if not isinstance(entry, Known):
            refuse(f"{name} is no module")
        return entry

    def default(self, function: FunctionType, place: Place, name: str) -> Any:
        """The default value of an argument; None if it has none."""
        code = function.__code__
        if name in (function.__kwdefaults__ or {}):
            access = f"{{}}.__kwdefaults__[{name!r}]"
            return self.found(
                (function.__kwdefaults__ or {})[name], Place(place, access)
            )
        defaults = function.__defaults__ or ()
        names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
        if name not in names:
            return None
        index = names.index(name)
        return self.found(defaults[index], Place(place, f"{{}}.__defaults__[{index}]"))

    def found(self, value: Any, place: Place) -> Any:
        """A `Known`, or the number and the kind of a value that may change."""
        if type(value) is FunctionType:
            value, place = self.written(value, place)
            self.expect_function(place, value)
            return Known(value, place)
        if is_jitted(value):
            self.expect(place, value)
            name = self.name_of(place)
            self.forbid(f"not is_jitted({name}) or stale({name})")
            return self.found(value.py_func, Place(place, "{}.py_func"))
        if is_fixed(value):
            self.expect(place, value)
            return Known(value, place)
        kind = kind_of(value)
        if kind is None and is_plain_object(value):
            self.expect_class(place, type(value))
            return Thing(value, place)
        if kind is None:
            refuse(f"it reads a value of class {type(value).__qualname__}")
        if type(value) in (int, str):
            self.held[place] = value
        return self.capture(place, kind)

    def written(self, f: FunctionType, place: Place) -> tuple[FunctionType, Place]:
        """A function as its program defines it, and its place.

        A lifted program may have bound a function that it made to a global variable.
        """
        if not is_lifted(f):
            return f, place
        if f not in self.plain:
            found = unlifted(f)
            if found is None:
                refuse("a function in lifted code is not found in its program")
            self.plain[f] = found
        first = self.functions.setdefault(f, place)
        if first != place:
            self.forbid(f"{self.name_of(place)} is not {self.name_of(first)}")
        return self.plain[f], Place(first, "unlifted({})")

    # the guard's lines

    def name_of(self, place: Place) -> str:
        """The guard's variable for a place, read once."""
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
        """Require one identical object at every call."""
        if place in self.names:
            return
        name = self.name_of(place)
        self.lines.append(f"if {name} is not {self.constant('known', value)}:")
        self.lines.append("    return None")

    def expect_class(self, place: Place, cls: type) -> None:
        """Require an object of one class at every call."""
        if place in self.names:
            return
        name = self.name_of(place)
        own = self.constant("class", cls)
        lookup = self.constant("lookup", cls.__getattribute__)
        changed = f"{own}.__getattribute__ is not {lookup}"
        self.lines.append(f"if type({name}) is not {own} or {changed}:")
        self.lines.append("    return None")

    def expect_held(self, thing: Thing, name: str, raw: Any, held: bool) -> None:
        """Require that an attribute stays in its place: the object, or its class."""
        own = self.name_of(thing.place)
        if not held:
            self.forbid(f"{name!r} in {own}.__dict__")
            self.expect_entry(f"type({own})", name, raw)
        elif raw is MISSING:
            self.forbid(f"hasattr(type({own}), {name!r})")
        else:
            self.forbid(f"overrides(type({own}), {name!r})")

    def expect_entry(self, cls: str, name: str, raw: Any) -> None:
        """Require that a class answers for an attribute by the same code, or none."""
        if (cls, name) in self.entries:
            return
        self.entries.add((cls, name))
        if hasattr(type(raw), "__get__"):
            expected = self.constant("entry", raw)
            self.forbid(f"entry({cls}, {name!r}) is not {expected}")
        else:
            self.forbid(f"computes({cls}, {name!r})")

    def forbid(self, test: str) -> None:
        line = f"if {test}:"
        if line not in self.lines:
            self.lines += [line, "    return None"]

    def expect_function(self, place: Place, value: FunctionType) -> None:
        """Require a function of the program with this code and without a rule.

        So new closures share the generated code, and none is kept alive. The function's
        own reads are looked up through it.
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

    def expect_same(self, place: Place, value: FunctionType) -> None:
        """Require this very function with rules at every call."""
        if place not in self.same:
            self.same.add(place)
            name = self.name_of(place)
            self.forbid(f"{self.constant('own', ref(value))}() is not {name}")

    def capture(self, place: Place, kind: Kind) -> tuple[int, Kind]:
        """A value that is read at every call, and must keep its kind."""
        if place not in self.values:
            name = self.name_of(place)
            self.lines.append(f"if {self.refusal(name, kind)}:")
            self.lines.append("    return None")
            self.values[place] = (len(self.values), kind)
        return self.values[place]

    def hand_over(self, place: Place) -> tuple[int, Kind]:
        """A function or object that is passed on, as it is at each call."""
        if place not in self.values:
            self.name_of(place)
            self.values[place] = (len(self.values), Kind("function"))
        return self.values[place]

    def pin(self, number: int) -> Any:
        """The value of an integer or text that is the same at every call."""
        place = next(p for p, (n, _) in self.values.items() if n == number)
        if place not in self.held:
            refuse("a value that is not known before it is asked for")
        value = self.held[place]
        self.forbid(f"{self.name_of(place)} != {value!r}")
        return value

    def refusal(self, name: str, kind: Kind) -> str:
        """The text that checks whether a value has another kind."""
        if kind.name == "array" and kind.dtype == "d":
            return (
                f"type({name}) is not ndarray or {name}.dtype is not double "
                f"or {name}.ndim != {kind.ndim}"
            )
        if kind.name == "real":
            return f"type({name}) is not float and type({name}) is not float64"
        return f"kind_of({name}) != {self.constant('kind', kind)}"

    def code(self) -> str:
        """The guard: the captured values, or None if something has changed."""
        body = [f"        {line}" for line in self.lines]
        names = [self.names[place] for place in self.values]
        row = "".join(f"{name}, " for name in names)
        gone = "    except (AttributeError, IndexError, KeyError, ValueError):"
        lines = ["def guard(f):", "    try:", *body, f"        return ({row})"]
        return "\n".join([*lines, gone, "        return None"])
