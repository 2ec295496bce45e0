"""Values that a function's code reads besides its arguments, with their names.

Globals, cells, defaults, attributes of classes, modules and instances, of the function
itself and of those that it names. What the function itself captures is left out, unless
it is asked for: that is an argument of its rules.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from functools import partial
from itertools import islice
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple
from weakref import ref

from rules_core._base.arrays import is_array_type
from rules_core._base.opaque_modules import (
    COMPILERS,
    LIFTED_STANDARD,
    OURS,
    is_closed,
    is_installed,
    root_of,
)
from rules_core._primitives.primitive import Primitive

from .code_names import cell_value, names_read
from .functions_in import functions_in
from .read_trail import Trail

__all__ = ["Place", "Search", "attribute_of_class", "places_read"]

# Values that lead nowhere, and have no derivative.
INERT = frozenset({
    int, bool, str, bytes, type(None), range, type(Ellipsis), BuiltinFunctionType,
})  # fmt: skip
ENDS = INERT | {float, complex}
CONTAINERS = (list, tuple, dict, MappingProxyType)
# Entries of a container that are looked into.
MOST = 100
UNWRAPPED = (staticmethod, classmethod)
# Methods that run where an instance or a derived class is made, and not later.
MAKING = frozenset({
    "__init__", "__init_subclass__", "__new__", "__post_init__", "__prepare__",
    "__set_name__",
})  # fmt: skip
# Builtins that are constants.
STANDARD = frozenset({"Ellipsis", "False", "None", "NotImplemented", "True"})
# With these code reads attributes by names that it computes.
COMPUTING = frozenset({
    "__dict__", "__getattribute__", "attrgetter", "dir", "getattr", "getattr_static",
    "getmembers", "methodcaller", "vars",
})  # fmt: skip


class Place(NamedTuple):
    """A value that code reads.

    Attributes:
        path: The expression that reads it.
        value: What stands there; None for an owner of which nothing is read yet.
        owner: What it is an entry of: a namespace, a cell, a class, a module, an
            instance.
    """

    path: str
    value: Any
    owner: Any


def places_read(
    f: Any, *, everything: bool = False, written: set[str] | None = None
) -> Iterator[Place]:
    """The places that a function, or a class when it makes an instance, reads.

    Args:
        f: The function.
        everything: Also what the function captures, and what has no derivative:
            numbers that are no floats, functions, classes, modules.
        written: Receives the names in which the functions write.
    """
    return Search(everything, set() if written is None else written).of(f)


def attribute_of_class(cls: Any, name: str) -> Any:
    """The class's own entry for an attribute, bases included."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


class Search:
    """A search, which visits each function and each entry of a class once.

    Args:
        everything: As for `places_read`.
        written: As for `places_read`.

    Attributes:
        trail: The look-ups by which it found what it did.
        words: The names in all code that was visited.
        codes: This code.
        classes: Classes of the program that the code may reach, by their ids.
        instances: Instances of them, each with the expression by which it was reached.
    """

    def __init__(self, everything: bool, written: set[str]) -> None:
        self.everything, self.written = everything, written
        self.trail = Trail()
        self.seen: dict[Any, Any] = {}
        self.inside: dict[int, Any] = {}  # instances
        self.closed: dict[int, bool] = {}  # classes and modules, by their ids
        self.roots: set[str] = set()
        self.words: set[str] = set()
        self.codes: list[CodeType] = []
        self.classes: dict[int, type] = {}
        self.asked: dict[int, Any] = {}  # classes: what was asked of them
        self.named_classes: set[int] = set()  # those of which code may make instances
        self.has_class_methods = False
        self.instances: dict[int, tuple[str, Any]] = {}

    def leave_out(self, functions: Iterable[Any]) -> None:
        """Do not look at these."""
        self.seen.update((f, f) for f in functions if isinstance(f, FunctionType))

    def reach(self, cls: type) -> None:
        """Note a class, and those of which it is one, if they are the program's."""
        for x in (*cls.__mro__, type(cls)):
            if id(x) not in self.classes and self.is_own(root_of(x)):
                self.classes[id(x)] = x

    def is_own(self, root: str) -> bool:
        """Whether a package is the program's, or that of the functions asked about."""
        if is_closed(root) or root in LIFTED_STANDARD:
            return False
        return root in self.roots or not is_installed(root)

    def of_classes(self) -> Iterator[Place]:
        """The places in classes that code may reach, by whatever way.

        An instance made in the code, `cls`, `type(self)`, `super()`, an argument of a
        helper: which class an attribute is read of cannot be told from the code. So
        each attribute counts whose name occurs in any of the code.
        """
        done = (0, 0, 0)
        written, self.written = self.written, set()  # what is only perhaps called
        while done != (done := self.size()):
            if "__subclasses__" in self.words:
                for cls in [*self.classes.values()]:
                    derived: type
                    for derived in type.__subclasses__(cls):
                        self.reach(derived)
            names = frozenset(self.words)
            for cls in [*self.classes.values()]:
                question = names, self.may_make(cls)
                if self.asked.get(id(cls)) != question:
                    self.asked[id(cls)] = question
                    yield from self.named(cls.__name__, cls, self._wanted(cls), names)
            for path, x in [*self.instances.values()]:
                yield from self._led(path, x, names)
        self.written = written

    def size(self) -> tuple[int, int, int]:
        """How much was found."""
        made = len(self.named_classes) + self.has_class_methods
        return len(self.words), len(self.classes) + made, len(self.instances)

    def may_make(self, cls: type) -> bool:
        """Whether code may make an instance of a class: it does not by an instance."""
        if self.has_class_methods or not self.words.isdisjoint({"type", "__class__"}):
            return True
        return id(cls) in self.named_classes

    def _led(self, path: str, x: Any, names: frozenset[str]) -> Iterator[Place]:
        """The places to which the attributes of an instance lead; others are facts."""
        for name in names & vars(x).keys():
            key, value = (id(x), name), vars(x)[name]
            is_end = type(value) in ENDS or is_array_type(type(value))
            if key not in self.seen and not is_end:
                self.seen[key] = value
                yield from self.follow(f"{path}.{name}", value, None, names, x)

    def _is_closed(self, base: Any) -> bool:
        """Whether a class or module is one of a library."""
        found = self.closed.get(id(base))
        if found is None:
            found = self.closed[id(base)] = is_closed(root_of(base))
        return found

    def _wanted(self, cls: type) -> Any:
        """The names of attributes that code may read of a class."""
        if self.words.isdisjoint(COMPUTING):
            return frozenset(self.words)
        hidden = ("__", "_abc_")
        return {name for name in vars(cls) if not name.startswith(hidden)}

    def of(self, f: Any) -> Iterator[Place]:
        self.roots.add(root_of(f if isinstance(f, FunctionType | type) else type(f)))
        self.trail.value(f)
        if isinstance(f, type):
            yield from self.follow(f.__name__, f, None, frozenset(), None)
        elif isinstance(f, FunctionType):
            yield from self.read_by(f, captured=self.everything)
        elif isinstance(f, MethodType):
            yield from self.bound(f, f.__func__, (f.__self__,))
        elif isinstance(f, partial):
            yield from self.bound(f, f.func, (*f.args, *f.keywords.values()))
        else:
            call = attribute_of_class(type(f), "__call__")
            if self.everything:
                yield Place(_name(f), f, None)
                yield from self.methods(f)
            if isinstance(call, FunctionType):
                yield from self.read_by(call, captured=True)

    def bound(self, f: Any, inner: Any, held: tuple[Any, ...]) -> Iterator[Place]:
        """The places of a function and, if wanted, of the arguments that it holds."""
        if isinstance(inner, FunctionType) and root_of(inner) in OURS:  # hooks of a run
            return
        code = inner.__code__ if isinstance(inner, FunctionType) else None
        names = frozenset() if code is None else names_read(code).attributes
        for x in held if self.everything else ():
            yield from self.follow(_name(f), x, None, names, f)
        yield from self.of(inner)

    def methods(self, f: Any) -> Iterator[Place]:
        """The places that a library may read for a callable instance."""
        for base in type(f).__mro__:
            if not is_closed(root_of(base)):
                for entry in vars(base).values():
                    if isinstance(entry, FunctionType):
                        yield from self.read_by(entry, captured=True)
        if _has_dict(f) and (wrapped := vars(f).get("__wrapped__")) is not None:
            yield from self.of(wrapped)

    def read_by(self, f: FunctionType, *, captured: bool) -> Iterator[Place]:
        """The places that a function reads."""
        if f in self.seen:
            return
        self.seen[f] = f
        self.trail.function(f)
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        if is_closed(root_of(f)):  # as a decorator of the standard library
            yield from self.held_by(cells)
            return
        yield Place(f.__name__, None, f.__globals__)
        if self.everything:
            yield Place(f"{f.__name__}.__code__", f.__code__, f.__globals__)
        names = names_read(f.__code__)
        if self.is_own(root_of(f)):
            self.codes.append(f.__code__)
            self.words |= names.attributes | names.modules
            self.words.update(name for name, _ in names.variables)
        if f.__name__ == "__call__" or not _is_special(f.__name__):  # not `__init__`
            self.written |= names.written
        for name, attribute in names.variables:
            owner: Any = cells.get(name)
            if owner is None:
                self.trail.entry(f.__globals__, name)
                self.trail.entry(vars(builtins), name)
            if owner is None and name in f.__globals__:
                owner, value = f.__globals__, f.__globals__[name]
            elif owner is not None:
                value = cell_value(owner)
            elif self.everything and is_added(name):
                owner, value = vars(builtins), vars(builtins)[name]
            else:
                continue
            found = self.follow(name, value, attribute, names.attributes, owner)
            direct = captured or name not in cells
            yield from (place for place in found if direct or place.value is not value)
        for name in names.modules:
            module = sys.modules.get(name)
            self.trail.entry(sys.modules, name)
            yield from self.follow(name, module, None, names.attributes, None)
        if captured:
            given = (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())
            for value in given:
                path = f"a default of {f.__name__}"
                yield from self.follow(path, value, None, names.attributes, f)

    def held_by(self, cells: dict[str, Any]) -> Iterator[Place]:
        """The places that a closure of a library holds, or leads to."""
        for name, cell in cells.items():
            value = cell_value(cell)
            if self.everything:
                yield from self.follow(name, value, None, frozenset(), cell)
            else:
                yield from self.called(name, value)

    def follow(
        self, path: str, x: Any, attribute: Any, names: Any, owner: Any
    ) -> Iterator[Place]:
        """The places that code with these names reads of a value, or its attribute."""
        x = x.fun if isinstance(x, Primitive) else x
        self.trail.value(x)
        self.has_class_methods |= isinstance(x, classmethod)
        x = x.__func__ if isinstance(x, UNWRAPPED) else x
        wanted = names if attribute is None else {attribute}
        if _has_dict(x):
            yield from self.called(path, vars(x).get("__wrapped__"))
        if isinstance(x, type):
            self.reach(x)
            self.named_classes.add(id(x))
        leads = isinstance(x, FunctionType | type | ModuleType)
        if self.everything and (leads or type(x) in INERT):
            yield Place(path, type(None) if x is None else x, owner)
        if isinstance(x, FunctionType):
            yield from self.read_by(x, captured=True)
            for name in wanted & vars(x).keys():
                yield from self.follow(f"{path}.{name}", vars(x)[name], None, names, x)
        elif isinstance(x, type | ModuleType):
            yield from self.named(path, x, wanted, names)
            if isinstance(x, type) and type(x) is not type:
                yield from self.named(path, type(x), wanted, names)
        elif type(x) not in INERT:
            yield from self.of_instance(path, x, attribute, names, owner)

    def of_instance(
        self, path: str, x: Any, attribute: Any, names: Any, owner: Any
    ) -> Iterator[Place]:
        if root_of(type(x)) in COMPILERS:  # `follow` has found what it wraps
            yield Place(path, x, owner)
            return
        self.reach(type(x))
        if _has_dict(x) and self.is_own(root_of(type(x))):
            self.instances[id(x)] = path, x
        own = getattr(x, "__dict__", None)
        if isinstance(own, dict) and attribute in own:
            path = f"{path}.{attribute}"
            yield from self.follow(path, own[attribute], None, names, x)
            return
        if isinstance(x, ContextVar):
            yield Place(f"{path}.get()", x.get(None), x)
        elif isinstance(x, ref):
            yield Place(f"{path}()", x(), x)
        elif isinstance(x, property):
            yield from self.follow(path, x.fget, None, names, owner)
        elif isinstance(x, partial | MethodType):
            f = x.func if isinstance(x, partial) else x.__func__
            yield from self.follow(path, f, None, names, owner)
            if self.everything and id(x) not in self.inside:
                self.inside[id(x)] = x
                yield from self.of(x)
        yield Place(path, x, owner)
        yield from self.called(path, x)
        if self.everything and id(x) not in self.inside:
            self.inside[id(x)] = x
            yield from self.held_inside(path, x, names)
        wanted = names if attribute is None else {attribute}
        yield from self.named(path, type(x), wanted, names)

    def held_inside(self, path: str, x: Any, names: Any) -> Iterator[Place]:
        """The places that functions read which code reaches through an instance."""
        if root_of(type(x)) in OURS:
            for f in functions_in(x):
                yield from self.of(f)
        elif type(x) in CONTAINERS:
            entries = x if isinstance(x, list | tuple) else x.values()
            for entry in islice(entries, MOST):
                if _has_dict(entry) or isinstance(entry, type):
                    yield from self.follow(path, entry, None, names, x)
        elif _has_dict(x) and is_closed(root_of(type(x))):  # as `np.vectorize`
            for entry in vars(x).values():
                yield from self.called(path, entry)
        if _has_dict(x):
            for name in names & vars(x).keys():
                yield from self.follow(f"{path}.{name}", vars(x)[name], None, names, x)

    def called(self, path: str, x: Any) -> Iterator[Place]:
        """Values read by functions that code gets from a wrapper, a list or a dict."""
        if isinstance(x, FunctionType | Primitive):
            yield from self.follow(path, x, None, frozenset(), None)
        elif type(x) in CONTAINERS and id(x) not in self.seen:
            self.seen[id(x)] = x
            for entry in x if isinstance(x, list | tuple) else x.values():
                yield from self.called(path, entry)

    def named(self, path: str, owner: Any, wanted: Any, names: Any) -> Iterator[Place]:
        """Those among the named entries of a class or module."""
        module = owner.__module__ if isinstance(owner, type) else owner.__name__
        if is_closed(str(module).partition(".")[0]):
            return
        for base in owner.__mro__ if isinstance(owner, type) else (owner,):
            yield Place(path, None, base)
            if self._is_closed(base):
                continue
            for name in wanted:
                self.trail.entry(vars(base), name)
            special = {*_special_methods(base)} if isinstance(base, type) else set()
            if isinstance(owner, type) and not self.may_make(owner):
                special -= MAKING
            for name in (wanted & vars(base).keys()) | special:
                key = (id(base), name)
                if key not in self.seen:
                    entry = self.seen[key] = vars(base)[name]
                    yield from self.follow(f"{path}.{name}", entry, None, names, base)


def _name(f: Any) -> str:
    f = f.func if isinstance(f, partial) else f
    return getattr(f, "__name__", None) or type(f).__name__


def _special_methods(cls: type) -> Iterator[str]:
    """Names of what Python calls by itself; others are caches, as `__slotnames__`."""
    for name, entry in vars(cls).items():
        is_slot = type(entry) is GetSetDescriptorType  # `__dict__`, `__weakref__`
        if _is_special(name) and hasattr(type(entry), "__get__") and not is_slot:
            yield name


def _is_special(name: str) -> bool:
    """Whether Python calls a method of this name by itself."""
    return name.startswith("__") and name.endswith("__")


def is_added(name: str) -> bool:
    """Whether a builtin of this name was put there by a program."""
    if name in STANDARD or name not in vars(builtins):
        return False
    value = vars(builtins)[name]
    is_own = isinstance(value, type) and root_of(value) == "builtins"
    return not is_own and not isinstance(value, BuiltinFunctionType)


def _has_dict(x: Any) -> bool:
    return isinstance(getattr(x, "__dict__", None), dict)
