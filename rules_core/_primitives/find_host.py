"""The framework of a call, by the types of its arguments."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FunctionType, MethodType
from typing import Any, Protocol

from rules_core._base.compiler_hooks import COMPILER, opaque, traced_as
from rules_core._base.errors import MixedHostsError
from rules_core._base.frameworks import entry_points_of_adapters, load_adapter
from rules_core._tangents.structure import slots_of, structure

__all__ = ["Adapter", "adapter_of", "adapters", "check_captured", "find_adapter"]


class Adapter(Protocol):
    """Interface of a framework's package through which primitives run there.

    It may have an attribute `config`, the configuration of its AD system, for `vjp` and
    `jvp`, and a method `numpy_function(f, *examples)`, which takes functions apart for
    solvers, as `rules_core.extend.numpy_function` describes.
    """

    name: str

    def owns(self, cls: type, /) -> bool:
        """Whether instances of `cls` are arrays of this framework."""

    def call(
        self, primitive: Any, args: tuple[Any, ...], kwargs: dict[str, Any], /
    ) -> Any:
        """Call a primitive on this framework's arrays, with its rules attached."""

    def stop_gradient(self, x: Any, /) -> Any:
        """An array of this framework without its derivative, in every mode."""

    def cells(self, level: str, /) -> Iterable[Any]:
        """The cells that `rules_core.testing.check_rule` runs."""


def adapters() -> dict[str, str]:
    """Installed adapters: root module of the types → entry point of the adapter."""
    return {name: point.value for name, point in entry_points_of_adapters().items()}


_UNOWNED = {"builtins", "numpy", "collections", "functools", "types"}


# Adapters of types without an installed package: the tester's own arrays.
LOCAL: dict[type, Any] = {}


_SERVING: list[Any] = []


@contextmanager
def serving(adapter: Any) -> Iterator[None]:
    """Ask an adapter first, installed or not: for its test."""
    _SERVING.insert(0, adapter)
    _hosts.clear()
    try:
        yield
    finally:
        _SERVING.remove(adapter)
        _hosts.clear()


def adapter_of(cls: type) -> Any:
    """The adapter that owns arrays of a type, or None.

    Walks the MRO, so user subclasses belong to the framework of their base class.
    """
    if cls in LOCAL:
        return LOCAL[cls]
    for adapter in _SERVING:
        if adapter.owns(cls):
            return adapter
    roots = dict.fromkeys(base.__module__.partition(".")[0] for base in cls.__mro__)
    for root in roots:
        if root not in _UNOWNED and root in entry_points_of_adapters():
            adapter = load_adapter(root)
            if adapter.owns(cls):
                return adapter
    return None


_LOOK_INSIDE = object()
_ATOMS = (int, float, complex, str, bytes, bool, type(None), type, range, slice)


class _Hosts(dict[type, Any]):
    """Type → adapter, None for a plain leaf, or `_LOOK_INSIDE`."""

    def __missing__(self, cls: type) -> Any:
        from rules_core._base.arrays import is_array_type

        answer = None if issubclass(cls, _ATOMS) else adapter_of(cls)
        if answer is None and not issubclass(cls, _ATOMS) and not is_array_type(cls):
            answer = _LOOK_INSIDE
        self[cls] = answer
        return answer


_hosts = _Hosts()


def check_captured(
    primitive: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Let adapters reject captured arrays of a primitive.

    No argument is an array of a framework, so no adapter runs the call; but a framework
    may be differentiating a captured array, without the rules.
    """
    for cell in primitive.cells:
        try:
            value = cell.cell_contents
        except ValueError:  # not yet set
            continue
        adapter = _hosts[type(value)]
        if adapter is _LOOK_INSIDE:
            adapter = _inside(value, set())
        check = getattr(adapter, "check_captured", None)
        if check is not None:
            check(primitive, args, kwargs)
    if primitive.helpers:  # they may read globals, which are no cells
        for root in entry_points_of_adapters():
            if root in sys.modules:
                check = getattr(load_adapter(root), "check_captured", None)
                if check is not None:
                    check(primitive, args, kwargs)


def find_adapter(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The adapter of the framework whose arrays are among the arguments, or None.

    Raises:
        MixedHostsError: The arguments contain arrays of two frameworks.
    """
    adapter = None
    for x in (*args, *kwargs.values()) if kwargs else args:
        host = _hosts[x.__class__]
        if host is _LOOK_INSIDE:
            host = _inside(x, set())
        if host is not None and host is not adapter:
            if adapter is not None:
                raise _mixed(adapter, host)
            adapter = host
    return adapter


def _inside(x: Any, seen: set[int]) -> Any:
    """The framework of the arrays inside a container or a closure."""
    if id(x) in seen:
        return None
    seen.add(id(x))
    adapter = None
    for child in _values(x):
        host = _hosts[child.__class__]
        if host is _LOOK_INSIDE:
            host = _inside(child, seen)
        if host is not None and host is not adapter:
            if adapter is not None:
                raise _mixed(adapter, host)
            adapter = host
    return adapter


def _values(x: Any) -> Iterable[Any]:
    level = structure(x)
    entries = () if level is None else level.values
    if isinstance(x, FunctionType):
        return (*entries, *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values())
    return entries


# A compiler traces the code that a compiled function calls, and guards every table
# that it reads. So it is given another way to this result, which tests types by
# functions that it runs without tracing.
_NAMED: dict[str, Any] = {}


def _name_of_host(cls: type) -> str:
    host = _hosts[cls]
    name = getattr(host, "name", "inside" if host is _LOOK_INSIDE else "")
    _NAMED[name] = None if name == "inside" else host
    return name


def _name_inside(x: Any) -> str:
    host = _inside(x, set())
    name = getattr(host, "name", "")
    _NAMED[name] = host
    return name


# Objects that lead to each other are met by every path, so their number is limited.
_MOST, _DEEPEST = 100, 20
# Classes whose instances hold no array of a call, whatever their attributes lead to.
ARRAYLESS: set[type] = set()


def _is_open(cls: type) -> bool:
    """Whether the attributes of instances are their only contents."""
    if cls in ARRAYLESS:
        return False
    roots = {base.__module__.partition(".")[0] for base in cls.__mro__[:-1]}
    return not roots & {*sys.stdlib_module_names, *entry_points_of_adapters(), "numpy"}


def _has_dict(cls: type) -> bool:
    return bool(cls.__dictoffset__)


def _slots(cls: type) -> tuple[str, ...]:
    return tuple(name for base in cls.__mro__ for name in slots_of(base))


def _compiling() -> str:
    """The framework whose compiler traces this code."""
    host = load_adapter(COMPILER)
    _NAMED[host.name] = host
    name: str = host.name
    return name


def _name_of_function(f: FunctionType) -> str:
    """The framework that compiles, if a function captures something.

    Asked last: a compiler cannot read the defaults of a function that is made in its
    graph.
    """
    return _compiling() if f.__code__.co_freevars or f.__defaults__ else ""


def _names_of_hosts(
    values: Iterable[Any], closed: list[Any], opened: list[Any], deep: int = 0
) -> list[str]:
    names: list[str] = []
    for x in values:
        name = _name_of_host(type(x))
        if name != "inside":
            names.append(name)
        elif isinstance(x, dict):
            names.extend(_names_of_hosts(x.values(), closed, opened, deep + 1))
        elif isinstance(x, (tuple, list)):
            names.extend(_names_of_hosts(x, closed, opened, deep + 1))
        elif isinstance(x, MethodType):
            names.extend(_names_of_hosts((x.__self__,), closed, opened, deep + 1))
        elif isinstance(x, partial):
            parts = (*x.args, *x.keywords.values())
            names.extend(_names_of_hosts(parts, closed, opened, deep + 1))
        elif hasattr(type(x), "__dataclass_fields__"):
            fields = [getattr(x, key) for key in tuple(type(x).__dataclass_fields__)]
            names.extend(_names_of_hosts(fields, closed, opened, deep + 1))
        elif isinstance(x, FunctionType):
            closed.append(x)
        elif len(opened) < _MOST and deep < _DEEPEST and _is_open(type(x)):
            opened.append(x)
            fields = [getattr(x, key) for key in _slots(type(x)) if hasattr(x, key)]
            if _has_dict(type(x)):
                fields += [getattr(x, key) for key in tuple(vars(x))]
            names.extend(_names_of_hosts(fields, closed, opened, deep + 1))
        else:
            closed.append(x)
    return names


def _find_adapter_traced(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    adapter, closed = None, []  # type: Any, list[Any]
    names = _names_of_hosts((*args, *kwargs.values()), closed, [])
    if not any(names):  # a compiler can pass only some objects
        names = [
            # It cannot convert a closure: its own framework does, outside the graph.
            _name_of_function(x) if isinstance(x, FunctionType) else _name_inside(x)
            for x in closed
        ]
    for name in names:
        if name and adapter is not None and _NAMED[name] is not adapter:
            raise _mixed(adapter, _NAMED[name])
        if name:
            adapter = _NAMED[name]
    return adapter


def _adapter_of_traced(cls: type) -> Any:
    name = _name_of_host(cls)  # first: a compiler reads a table once
    return _NAMED[name] if name and name != "inside" else None


for _function in (_name_of_host, _name_inside, _is_open, _has_dict, _slots, _compiling):
    opaque(_function)
traced_as(find_adapter, _find_adapter_traced)
traced_as(adapter_of, _adapter_of_traced)


def _mixed(first: Any, second: Any) -> MixedHostsError:
    names = " and ".join(sorted((first.name, second.name)))
    return MixedHostsError(
        f"arrays of two frameworks, {names}, are arguments of one primitive. "
        "Convert one of them before the call."
    )
