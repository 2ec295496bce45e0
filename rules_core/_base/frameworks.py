"""Facts about a framework's arrays that the core needs: adapters register them.

An adapter is an entry point of the group `rules_core.adapters`, named by the root
module of the framework's types. It is imported when an object of such a type is met, so
using PyTorch does not import JAX.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakSet

from .compiler_hooks import opaque
from .errors import RulesCoreError

__all__ = [
    "GROUP",
    "Framework",
    "entry_points_of_adapters",
    "framework_of",
    "load_adapter",
    "load_imported_adapters",
    "register_framework",
]

GROUP = "rules_core.adapters"


def _is_true(x: Any) -> bool:
    return True


def _is_false(*_: Any) -> bool:
    return False


def _no_strides(x: Any) -> None:
    return None


def _own_name(cls: type) -> str:
    return cls.__name__


class Framework:
    """A framework's arrays, beside what the array API says of them.

    Args:
        array: The class of arrays that users know.
        traced: Further classes of its arrays, which are instances of `array` without
            being subclasses: rules annotated with `array` fit them.
        type_name: The name of an array class in messages.
        is_concrete: Whether reading an array's value loses no derivative.
        writable_strides: The strides of an array into whose memory cotangents may be
            added, None for any other.
        adds_in_place: `(x, y)` of one class and dtype ↦ whether `x += y` is `x + y`.
        on_device: Whether an array of a Python number is made on the device of the
            others explicitly.
        state: What tells the present numbers of an array from those before a write to
            it; the object alone where arrays are not written to.

    >>> from rules_core.extend import Framework, register_framework
    >>> class Box:
    ...     pass
    >>> register_framework(Framework(Box))
    >>> from rules_core import is_array
    >>> is_array(Box())
    True
    """

    __slots__ = (
        "adds_in_place",
        "array",
        "is_concrete",
        "on_device",
        "state",
        "traced",
        "type_name",
        "writable_strides",
    )

    def __init__(
        self,
        array: type,
        *,
        traced: tuple[type, ...] = (),
        type_name: Callable[[type], str] = _own_name,
        is_concrete: Callable[[Any], bool] = _is_true,
        writable_strides: Callable[[Any], Any] = _no_strides,
        adds_in_place: Callable[[Any, Any], bool] = _is_false,
        on_device: bool = False,
        state: Callable[[Any], Any] = id,
    ) -> None:
        self.array, self.traced, self.type_name = array, traced, type_name
        self.is_concrete, self.writable_strides = is_concrete, writable_strides
        self.adds_in_place, self.on_device = adds_in_place, on_device
        self.state = state


_REGISTERED: list[Framework] = []
_OF: dict[type, Framework | None] = {}
_NONE: WeakSet[type] = WeakSet()  # types that no registered framework has
# Root modules of types that belong to no framework.
_COMMON = {"builtins", "numpy", "collections", "functools", "types", "rules_core"}


def register_framework(framework: Framework) -> None:
    """Tell the core of a framework's arrays, first of all in an adapter."""
    _REGISTERED.append(framework)
    _NONE.clear()
    for cls in (framework.array, *framework.traced):
        _OF[cls] = framework


def framework_of(cls: type) -> Framework | None:
    """The framework whose arrays are instances of `cls`; its adapter is imported."""
    return _OF[cls] if cls in _OF else _searched(cls)


@opaque
def _searched(cls: type) -> Framework | None:
    if cls in _NONE:
        return None
    # Classes in C may have a descriptor there.
    roots = {str(base.__module__).partition(".")[0] for base in cls.__mro__}
    roots -= _COMMON
    if not roots:
        _OF[cls] = None
        return None
    # An adapter that is being imported has registered already: it is not loaded again.
    framework = _registered_for(cls)
    if framework is None:
        for root in roots & entry_points_of_adapters().keys():
            load_adapter(root)
        framework = _registered_for(cls)
    if framework is None:
        _NONE.add(cls)
    else:
        _OF[cls] = framework
    return framework


def _registered_for(cls: type) -> Framework | None:
    for framework in _REGISTERED:
        if issubclass(cls, (framework.array, *framework.traced)):
            return framework
    return None


@cache
def entry_points_of_adapters() -> dict[str, Any]:
    """Root module of a framework's types → entry point of its adapter.

    Raises:
        RulesCoreError: Two adapters serve one root module.
    """
    from importlib.metadata import entry_points

    points: dict[str, Any] = {}
    for point in entry_points(group=GROUP):
        old = points.setdefault(point.name, point)
        if old.value != point.value:
            message = (
                f"two adapters serve the types of {point.name!r}: {old.value} and "
                f"{point.value}. Uninstall one of them."
            )
            raise RulesCoreError(message)
    return points


@cache
def _load(value: str) -> Any:
    points = entry_points_of_adapters().values()
    return next(p for p in points if p.value == value).load()


def load_adapter(root: str) -> Any:
    """The adapter for types of one root module, imported."""
    return _load(entry_points_of_adapters()[root].value)


def load_imported_adapters() -> None:
    """Import the adapters of the frameworks that the program has imported."""
    for root in entry_points_of_adapters():
        if root in sys.modules:
            load_adapter(root)
