"""Values that a function's code reads besides its arguments, with their names.

Globals, cells, defaults, attributes of classes, modules and instances, of the function
itself and of those that it names. What the function itself captures is left out: that
is an argument of its rules.
"""

import dis
import re
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from functools import partial
from types import CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, NamedTuple
from weakref import ref

from rules_core import Primitive

from .lifted_code import ByIdentity
from .methods import class_attribute
from .names import codes
from .opaque import OWN, is_opaque_module, root_of
from .outside_reads import cell_value
from .values import INERT

__all__ = ["Place", "is_closed", "names_read", "places_read", "rebinds"]

CONTAINERS = (list, tuple, dict, MappingProxyType)
UNWRAPPED = (staticmethod, classmethod)


class Place(NamedTuple):
    """A value that code reads.

    Attributes:
        path: The expression that reads it.
        value: What stands there; None for an owner of which nothing is read yet.
        owner: What it is an entry of: a namespace, a class, a module, an instance.
    """

    path: str
    value: Any
    owner: Any


class Names(NamedTuple):
    """The names that code reads.

    Attributes:
        variables: Globals and captured variables, each with the attribute read of it.
        attributes: All attributes, names imported from modules, and words in texts.
        modules: The modules that it imports itself.
        rebound: Whether it assigns globals or captured variables.
    """

    variables: frozenset[tuple[str, str | None]]
    attributes: frozenset[str]
    modules: frozenset[str]
    rebound: bool


def names_read(code: CodeType) -> Names:
    """The names that code and the functions inside it read."""
    found: Names | None = NAMES.get(code)
    if found is None:
        found = parsed(code)
        NAMES.put(code, found)
    return found


NAMES = ByIdentity()


def parsed(code: CodeType) -> Names:
    variables, attributes, modules = set(), set(), set()
    rebound = False
    for inner in codes(code):
        steps = list(dis.get_instructions(inner))
        for step, after in zip(steps, [*steps[1:], steps[-1]], strict=True):
            name = step.opname
            if name in READS:
                attribute = after.argval if after.opname in ATTRIBUTES else None
                variables.add((step.argval, attribute))
            elif name in ATTRIBUTES or name == "IMPORT_FROM":
                attributes.add(step.argval)
            elif name == "IMPORT_NAME":
                modules.add(step.argval)
            elif name == "STORE_GLOBAL":
                rebound = True
            elif name == "STORE_DEREF":
                rebound |= step.argval in code.co_freevars
        texts = (c for c in inner.co_consts if isinstance(c, str))
        attributes.update(name for text in texts for name in WORDS.findall(text))
    if any(name in COMPUTING for name, _ in variables):
        variables |= {(name, None) for name in attributes}
    read = frozenset(variables), frozenset(attributes), frozenset(modules)
    return Names(*read, rebound)


READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"})
WORDS = re.compile(r"[^\W\d]\w*")
# With these code reads globals by names that it computes, from texts in it.
COMPUTING = frozenset({"globals", "eval", "exec", "sys", "importlib", "__import__"})
ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})


def rebinds(f: FunctionType) -> bool:
    """Whether a function assigns globals or variables that it captures."""
    return names_read(f.__code__).rebound


def places_read(f: Any) -> Iterator[Place]:
    """The places that a function, or a class when it makes an instance, reads."""
    seen: dict[Any, Any] = {}
    if isinstance(f, type):
        yield from follow(f.__name__, f, None, frozenset(), None, seen)
    elif isinstance(f, FunctionType):
        yield from read_by(f, seen, captured=False)
    else:
        call = class_attribute(type(f), "__call__")
        if isinstance(call, FunctionType):
            yield from read_by(call, seen, captured=True)


def read_by(
    f: FunctionType, seen: dict[Any, Any], *, captured: bool
) -> Iterator[Place]:
    if f in seen:
        return
    seen[f] = f
    if is_closed(root_of(f)):  # as a decorator of the standard library
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            yield from called(name, cell_value(cell), seen)
        return
    yield Place(f.__name__, None, f.__globals__)
    names = names_read(f.__code__)
    cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    for name, attribute in names.variables:
        owner: Any = cells.get(name)
        if owner is None and name in f.__globals__:
            owner, value = f.__globals__, f.__globals__[name]
        elif owner is not None:
            value = cell_value(owner)
        else:
            continue
        found = follow(name, value, attribute, names.attributes, owner, seen)
        direct = captured or name not in cells
        yield from (place for place in found if direct or place.value is not value)
    for name in names.modules:
        module = sys.modules.get(name)
        yield from follow(name, module, None, names.attributes, None, seen)
    if captured:
        given = (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())
        for value in given:
            path = f"a default of {f.__name__}"
            yield from follow(path, value, None, names.attributes, f, seen)


def follow(
    path: str, x: Any, attribute: Any, names: Any, owner: Any, seen: dict[Any, Any]
) -> Iterator[Place]:
    """The places that code with these names reads of a value, or of its attribute."""
    x = x.fun if isinstance(x, Primitive) else x
    x = x.__func__ if isinstance(x, UNWRAPPED) else x
    wanted = names if attribute is None else {attribute}
    yield from called(path, vars(x).get("__wrapped__"), seen) if has_dict(x) else ()
    if isinstance(x, FunctionType):
        yield from read_by(x, seen, captured=True)
        for name in wanted & vars(x).keys():
            yield from follow(f"{path}.{name}", vars(x)[name], None, names, x, seen)
    elif isinstance(x, type | ModuleType):
        yield from named(path, x, wanted, names, seen)
        if isinstance(x, type) and type(x) is not type:
            yield from named(path, type(x), wanted, names, seen)
    elif type(x) not in INERT:
        yield from of_instance(path, x, attribute, names, owner, seen)


def of_instance(
    path: str, x: Any, attribute: Any, names: Any, owner: Any, seen: dict[Any, Any]
) -> Iterator[Place]:
    own = getattr(x, "__dict__", None)
    if isinstance(own, dict) and attribute in own:
        path = f"{path}.{attribute}"
        yield from follow(path, own[attribute], None, names, x, seen)
        return
    if isinstance(x, ContextVar):
        yield Place(f"{path}.get()", x.get(None), x)
    elif isinstance(x, ref):
        yield Place(f"{path}()", x(), x)
    elif isinstance(x, property):
        yield from follow(path, x.fget, None, names, owner, seen)
    elif isinstance(x, partial | MethodType):
        f = x.func if isinstance(x, partial) else x.__func__
        yield from follow(path, f, None, names, owner, seen)
    yield Place(path, x, owner)
    yield from called(path, x, seen)
    wanted = names if attribute is None else {attribute}
    yield from named(path, type(x), wanted, names, seen)


def called(path: str, x: Any, seen: dict[Any, Any]) -> Iterator[Place]:
    """Values read by functions that code gets from a wrapper, a list or a dict."""
    if isinstance(x, FunctionType | Primitive):
        yield from follow(path, x, None, frozenset(), None, seen)
    elif type(x) in CONTAINERS and id(x) not in seen:
        seen[id(x)] = x
        for entry in x if isinstance(x, list | tuple) else x.values():
            yield from called(path, entry, seen)


def named(
    path: str, owner: Any, wanted: Any, names: Any, seen: dict[Any, Any]
) -> Iterator[Place]:
    """Those among the named entries of a class or module."""
    module = owner.__module__ if isinstance(owner, type) else owner.__name__
    if is_closed(str(module).partition(".")[0]):
        return
    for base in owner.__mro__ if isinstance(owner, type) else (owner,):
        yield Place(path, None, base)
        special = filter(is_special, vars(base)) if isinstance(base, type) else ()
        for name in {*(wanted & vars(base).keys()), *special}:
            key = (id(base), name)
            if key not in seen and not is_closed(root_of(base)):
                entry = seen[key] = vars(base)[name]
                yield from follow(f"{path}.{name}", entry, None, names, base, seen)


def is_special(name: str) -> bool:
    """Whether Python calls a method of this name by itself."""
    return name.startswith("__") and name.endswith("__")


def has_dict(x: Any) -> bool:
    return isinstance(getattr(x, "__dict__", None), dict)


def is_closed(root: str) -> bool:
    """Whether code of a package reads no values of a program."""
    return root in OWN or root == "builtins" or is_opaque_module(root)
