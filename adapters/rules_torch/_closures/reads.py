"""Names that code reads besides its arguments, also in the functions that it calls.

Found once for each function, and read anew at every call: a global that is a helper, a
class or a module is searched in turn, everything else is a value to look into. (The
guards of compiled code, in `outside_reads`, need paths to constants instead.)
"""

from __future__ import annotations

import builtins
import dis
import sys
from collections.abc import Callable, Iterator
from functools import cache, cached_property, lru_cache
from itertools import chain
from pathlib import Path
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import torch

import rules_core as rc

from .outside_reads import is_library
from .parts import attributes_of

__all__ = [
    "INERT",
    "Reads",
    "functions_in",
    "is_foreign",
    "package_of",
    "reads_of",
]

# So many functions, classes and modules are searched from one.
_MOST = 512
# So many codes are remembered.
_REMEMBERED = 512
# Where code asks for names that it computes, of a module and of its own globals.
_COMPUTING = frozenset(("__dict__", "attrgetter", "getattr", "vars"))
_EVALUATING = frozenset(("eval", "exec", "globals"))

# Classes whose values hold no tensor.
INERT = frozenset(
    (
        bool, bytes, complex, float, int, range, str, type(None), type(Ellipsis),
        type(NotImplemented), torch.device, torch.dtype, torch.layout, torch.Size,
        torch.SymBool, torch.SymFloat, torch.SymInt, rc.NoTangent, rc.ZeroTangent,
        CodeType,
        *((sys.modules["numpy"].ufunc,) if "numpy" in sys.modules else ()),
    )
)  # fmt: skip

Getter = Callable[[Any], Any]


class Read(NamedTuple):
    """A place that is read.

    Attributes:
        get: What gives its value.
        key: What `get` is given.
        name: The name under which code knows it.
    """

    get: Getter
    key: Any
    name: str


class Reads:
    """Names that a function, its code alone, or the methods of a class read."""

    def __init__(self, start: FunctionType | Code | type) -> None:
        self._start: Any = _Own(start) if isinstance(start, FunctionType) else start
        self._found = _search(self._start)

    @property
    def is_empty(self) -> bool:
        """Whether nothing but libraries is read."""
        return not any(self._found)

    def values(self) -> list[tuple[Any, str]]:
        """Present values that may hold tensors, each with its name."""
        fixed, places = self._found
        for get, key, value in fixed:
            if get(key) is not value:
                self._found = _, places = _search(self._start)
                break
        found = [(get(key), name) for get, key, name in places]
        return [pair for pair in found if type(pair[0]) not in INERT]


# Places of helpers, classes and modules, and what was found there; and other places.
Searched = tuple[list[tuple[Getter, Any, Any]], list[Read]]


def _search(start: Any) -> Searched:
    """Everything that is read, from a function on."""
    fixed: list[tuple[Getter, Any, Any]] = []
    values: list[Read] = []
    seen: dict[Any, Any] = {}
    todo = [start]
    package = _package(start)
    while todo and len(seen) < _MOST:
        item = todo.pop()
        for read in _read_by(item, package):
            if read.get is _defaults and item is start:
                continue  # arguments of every call
            value = read.get(read.key)
            inner = _opened(value, item, package)
            if inner is None:
                values.append(read)
                continue
            if inner:
                fixed.append((read.get, read.key, value))
            todo.extend(new for new in inner if _identity(new) not in seen)
            seen.update((_identity(new), new) for new in inner)
    return fixed, values


def _opened(value: Any, item: Any, package: str) -> list[Any] | None:
    """Functions and classes to search in place of a value; None for a plain value."""
    inner = functions_in(value)
    if inner is not None:
        return [_Own(function) for function in inner if not _is_bare(function)]
    if isinstance(value, type):
        return [] if is_foreign(value.__module__, package) else [value]
    if isinstance(value, ModuleType):
        if is_foreign(value.__name__, package):
            return []
        names = _names_in(item)
        whole = not _COMPUTING.isdisjoint(names)
        return [_Module(value, tuple(vars(value)) if whole else names)]
    return [] if _is_closed(value) else None


class _Own(NamedTuple):
    """A function, with its closure and defaults."""

    function: Any


class Code(NamedTuple):
    """The code of a function, with its globals."""

    code: CodeType
    scope: dict[str, Any]


class _Module(NamedTuple):
    """A module, of which code asks some names."""

    module: ModuleType
    names: tuple[str, ...]


def _identity(item: Any) -> Any:
    if isinstance(item, _Own):
        return id(item.function)
    return (id(item.module), item.names) if isinstance(item, _Module) else id(item)


def _package(start: Any) -> str:
    if isinstance(start, Code):
        return str(start.scope.get("__name__")).partition(".")[0]
    return package_of(start.function if isinstance(start, _Own) else start)


def package_of(value: Any) -> str:
    """The package of a function, a class, or the class of an instance."""
    if isinstance(value, FunctionType):
        return _package(Code(value.__code__, value.__globals__))
    cls = value if isinstance(value, type) else type(value)
    return cls.__module__.partition(".")[0]


def is_foreign(module: str | None, package: str) -> bool:
    """Whether the code of a module is not searched: that of other packages."""
    top = (module or "").partition(".")[0]
    return is_library(top) or (top != package and _is_installed(top))


@cache
def _is_installed(top: str) -> bool:
    place = getattr(sys.modules.get(top), "__file__", None) or ""
    return not {"site-packages", "dist-packages"}.isdisjoint(Path(place).parts)


def _read_by(item: Any, package: str) -> Iterator[Read]:
    if isinstance(item, _Own):
        yield from _own(item.function)
        item = Code(item.function.__code__, item.function.__globals__)
    if isinstance(item, Code):
        if not is_foreign(item.scope.get("__name__"), package):
            yield from _of_code(item)
    elif isinstance(item, _Module):
        scope = vars(item.module)
        yield from (Read(scope.get, n, n) for n in item.names if n in scope)
    else:
        yield from _of_class(item)


def _own(function: FunctionType) -> Iterator[Read]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        yield Read(_content, cell, name)
    if function.__defaults__:
        yield Read(_defaults, function, function.__name__)
    keywords: dict[str, Any] = function.__kwdefaults__ or {}
    for name in keywords:
        yield Read(keywords.get, name, name)
    for name in attributes_of(function):
        yield Read(function.__dict__.get, name, name)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _defaults(function: FunctionType) -> Any:
    return function.__defaults__


def _of_code(item: Code) -> Iterator[Read]:
    names = names_of(item.code)
    if not _EVALUATING.isdisjoint(names):
        names = (*item.scope, *names)
    for name in names:
        if name in item.scope:
            yield Read(item.scope.get, name, name)
        elif name in sys.modules:  # imported inside the function
            yield Read(sys.modules.get, name, name)
    for name in _loaded(item.code):  # what is not there yet may come
        if name not in item.scope and name not in vars(builtins):
            yield Read(item.scope.get, name, name)
    for name in _loaded(item.code, "IMPORT_NAME"):
        if name not in sys.modules:
            yield Read(sys.modules.get, name, name)


def _of_class(cls: type) -> Iterator[Read]:
    meta: type = type(cls)
    for base in cls.__mro__ + meta.__mro__:
        if not is_library(base.__module__):
            for name, value in tuple(vars(base).items()):
                if not _is_about_the_class(name, value):
                    yield Read(vars(base).get, name, name)


def _is_about_the_class(name: str, value: Any) -> bool:
    """Whether an attribute is one that Python, or a decorator, gives a class."""
    own = name.startswith("__") and name.endswith("__")
    return own and functions_in(value) is None


def _names_in(item: Any) -> tuple[str, ...]:
    if isinstance(item, _Own):
        return names_of(item.function.__code__)
    if isinstance(item, Code):
        return names_of(item.code)
    return item.names if isinstance(item, _Module) else ()


@lru_cache(maxsize=_REMEMBERED)
def names_of(code: CodeType) -> tuple[str, ...]:
    """Every name that code may ask for, `getattr` and items by a text included."""
    names = dict.fromkeys(code.co_names)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            names.update(dict.fromkeys(names_of(const)))
        elif isinstance(const, str) and const.replace(".", "_").isidentifier():
            names[const] = None
    return tuple(names)


@lru_cache(maxsize=_REMEMBERED)
def _loaded(code: CodeType, how: str = "LOAD_GLOBAL") -> tuple[str, ...]:
    """The names that code loads as globals, or imports."""
    found = [step.argval for step in dis.get_instructions(code) if step.opname == how]
    inner = [_loaded(c, how) for c in code.co_consts if isinstance(c, CodeType)]
    return tuple(dict.fromkeys([*found, *chain(*inner)]))


def functions_in(value: Any) -> list[FunctionType] | None:
    """The functions that stand behind a name; None for any other value."""
    if isinstance(value, FunctionType):
        return [value]
    if isinstance(value, rc.Primitive):
        return _plain(None if value.host else value.fun)
    if isinstance(value, (staticmethod, classmethod)):
        return _plain(value.__func__)
    if isinstance(value, property):
        return _plain(value.fget)
    return _plain(value.func) if isinstance(value, cached_property) else None


def _plain(function: Any) -> list[FunctionType]:
    return [function] if isinstance(function, FunctionType) else []


_DESCRIPTORS = frozenset(
    (type(FunctionType.__code__), type(type.__dict__["__module__"]), type(type.mro))
)


def _is_bare(function: FunctionType) -> bool:
    """Whether a function is of a library, and captures nothing from elsewhere."""
    own = (function.__closure__, function.__kwdefaults__, function.__dict__)
    return is_library(function.__globals__.get("__name__")) and not any(own)


def _is_closed(value: Any) -> bool:
    """Whether no tensor can ever be in a value: functions of libraries."""
    if isinstance(value, BuiltinFunctionType):
        owner = value.__self__
        return owner is None or isinstance(owner, (ModuleType, type))
    return type(value) in _DESCRIPTORS or type(value).__name__ == "ufunc"


_KNOWN: dict[Any, tuple[Any, Reads]] = {}


def reads_of(value: FunctionType | type) -> Reads:
    """Names read by a class, or by a function without its own closure and defaults."""
    if isinstance(value, type):
        if "<locals>" in value.__qualname__:  # may capture tensors, and is not kept
            return Reads(value)
        return _known(id(value), value)
    code, scope = value.__code__, value.__globals__
    return _known((id(code), id(scope)), Code(code, scope))


def _known(key: Any, start: Code | type) -> Reads:
    """Remembers the start as well, which keeps its ids valid."""
    known = _KNOWN.get(key)
    if known is None:
        if len(_KNOWN) >= _REMEMBERED:
            _KNOWN.clear()
        known = _KNOWN[key] = (start, Reads(start))
    return known[1]
