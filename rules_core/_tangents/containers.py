"""Tangents of containers: one tangent per entry.

`Tangent` is the tangent of immutable containers and of containers that count as values
(tuples, lists, dicts, named tuples, frozen dataclasses, registered pytrees, functions);
`MutableTangent` that of instances with assignable fields. Both have equal field access.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Self, final

from .base import AbstractTangent
from .container_entries import (
    Entries,
    assign,
    backing,
    blank,
    keyed,
    like,
    primal_type,
    titled,
)
from .container_sums import is_scalar, move, scaled, total
from .structure import Structure, field_names
from .thunks import conjugate, unthunk
from .zeros import ZeroTangent

__all__ = [
    "MutableTangent",
    "StructuralTangent",
    "Tangent",
    "backing",
    "canonicalize",
    "is_mutable",
    "keyed",
    "like",
    "make_tangent",
    "primal_type",
]

_CONJUGATE = frozenset({"conj", "conjugate"})
_DICT_METHODS = frozenset({"get", "items", "keys", "values"})


class StructuralTangent(Entries, AbstractTangent):
    """Base class of the tangents of containers, `Tangent` and `MutableTangent`.

    Reading an entry computes its thunk; a missing field is `ZeroTangent()`, and the
    name of a property or method of the class raises `AttributeError`. The tangent
    of a tuple, list or named tuple has a length, iterates, indexes and unpacks like it;
    that of a dict is read by key, and `in`, `keys`, `values`, `items` and `get` work.

    Structural tangents of one primal class can be added and subtracted, negated and
    scaled by a number, and added to the primal, which gives a new primal. They are
    equal if their entries are, a missing field being a `ZeroTangent()`.

    >>> from rules_core import StructuralTangent, Tangent, thunk
    >>> dx = Tangent(list, 1.0, thunk(lambda: 2.0))
    >>> isinstance(dx, StructuralTangent), dx[1], dx - 0.5 * dx
    (True, 2.0, Tangent(list, 0.5, 1.0))
    """

    __slots__ = ()

    __tangent_rank__ = 1

    def __init__(self, primal: Any, /, *items: Any, **fields: Any) -> None:
        message = (
            f"{type(self).__name__} is a base class: write Tangent(…), or "
            "MutableTangent(…) for an instance of a mutable class"
        )
        raise TypeError(message)

    def __tangent_plus__(self, a: Any, b: Any) -> Any:
        other = b if a is self else a
        if isinstance(other, StructuralTangent):
            return total(a, b, {})
        if isinstance(other, primal_type(self)):
            return move(other, self, {})
        return NotImplemented

    def __tangent_minus__(self, a: Any, b: Any) -> Any:
        if isinstance(a, StructuralTangent) and isinstance(b, StructuralTangent):
            return total(a, -b, {})
        return NotImplemented

    def __tangent_times__(self, a: Any, b: Any) -> Any:
        if b is self and is_scalar(a):
            return scaled(self, lambda value: a * value, {})
        if a is self and is_scalar(b):
            return scaled(self, lambda value: value * b, {})
        return NotImplemented

    def __tangent_divide__(self, a: Any, b: Any) -> Any:
        if a is self and is_scalar(b):
            return scaled(self, lambda value: value / b, {})
        return NotImplemented

    def __tangent_matmul__(self, a: Any, b: Any) -> Any:
        return NotImplemented

    def __neg__(self) -> Self:
        return scaled(self, lambda value: -value, {})

    def __getattr__(self, name: str) -> Any:
        items, kind = backing(self), keyed(self)
        if name in items:
            return unthunk(items[name])
        if kind == "field" and not _is_dunder(name):
            return _absent(self, name)
        if name in _CONJUGATE:
            return lambda: scaled(self, conjugate, {})
        if kind == "key" and name in _DICT_METHODS:
            read = {key: unthunk(value) for key, value in items.items()}
            return getattr(read, name)
        message = f"{titled(self)} has no attribute {name!r}"
        raise AttributeError(message)

    def __getitem__(self, key: Any) -> Any:
        if keyed(self) == "key":
            return unthunk(backing(self)[key])
        if isinstance(key, str):
            return getattr(self, key)
        entries = _ordered(self)[key]
        return Tangent(tuple, *entries) if isinstance(key, slice) else unthunk(entries)

    def __iter__(self) -> Iterator[Any]:
        if keyed(self) == "key":
            return iter(backing(self))
        return map(unthunk, _ordered(self))

    def __len__(self) -> int:
        return len(_ordered(self))

    def __bool__(self) -> bool:
        return True

    def __contains__(self, key: object) -> bool:
        if keyed(self) == "position":
            return any(value is key or value == key for value in self)
        return key in backing(self)

    def __tangent_structure__(self) -> Structure:
        names, cls = tuple(backing(self)), type(self)

        def build(values: Any) -> Any:
            return like(self, dict(zip(names, values, strict=True)))

        def fill(result: Any, values: Any) -> None:
            backing(result).update(zip(names, values, strict=True))

        parts = primal_type(self), keyed(self), names, backing(self).values()
        if cls is MutableTangent:
            return Structure(*parts, fill, lambda: like(self, {}))
        return Structure(*parts, build)


@final
class Tangent(StructuralTangent):
    """The tangent of a container: `Tangent(P, *entries)` or `Tangent(P, **fields)`.

    Args:
        primal: The class of the container.
        *items: The tangents of the entries of a tuple or list; for a dict a mapping of
            its keys to tangents.
        **fields: Tangents of the fields of a class or named tuple; missing ones are
            zero.

    >>> from rules_core import Tangent
    >>> dp = Tangent(tuple, 1.0, 2.0)
    >>> dx, dy = dp
    >>> dy, 3.0 * dp, (10.0, 20.0) + dp
    (2.0, Tangent(tuple, 3.0, 6.0), (11.0, 22.0))
    >>> Tangent(dict, {"w": 1.0})["w"]
    1.0
    >>> from typing import NamedTuple
    >>> class Line(NamedTuple):
    ...     slope: float
    ...     offset: float
    >>> Tangent(Line, slope=1.0).offset
    ZeroTangent()
    """

    __slots__ = ()

    __init__ = Entries.__init__

    def __setattr__(self, name: str, value: object) -> None:
        message = f"{titled(self)} cannot be changed: make a new Tangent"
        raise AttributeError(message)


@final
class MutableTangent(StructuralTangent):
    """The tangent of an instance of a mutable class; its fields may be assigned.

    A shared instance has one `MutableTangent`, shared too.

    Args:
        primal: The class of the instance.
        **fields: Tangents of the fields; missing ones are zero.

    >>> from rules_core import MutableTangent
    >>> class Layer:
    ...     def __init__(self, scale):
    ...         self.scale = scale
    >>> dl = MutableTangent(Layer, scale=1.0)
    >>> dl.scale = 2.0
    >>> dl
    MutableTangent(Layer, scale=2.0)
    """

    __slots__ = ()

    __init__ = Entries.__init__

    def __setattr__(self, name: str, value: object) -> None:
        backing(self)[name] = value


def is_mutable(tangent: object) -> bool:
    """Whether a value is a `MutableTangent`."""
    return isinstance(tangent, MutableTangent)


def canonicalize(tangent: StructuralTangent) -> StructuralTangent:
    """The tangent with every field of the primal's class, in its order.

    Missing fields become `ZeroTangent()`. Tangents of tuples, lists, dicts and of
    classes with unknown fields are canonical already.

    Raises:
        TypeError: An entry of the tangent is not a field of the class.

    >>> from typing import NamedTuple
    >>> from rules_core import Tangent, canonicalize
    >>> class Point(NamedTuple):
    ...     x: float
    ...     y: float
    >>> canonicalize(Tangent(Point, y=1.0))
    Tangent(Point, x=ZeroTangent(), y=1.0)
    """
    names = field_names(primal_type(tangent))
    items = backing(tangent)
    if names is None or keyed(tangent) != "field":
        return tangent
    if unknown := [name for name in items if name not in names]:
        message = (
            f"the fields of {titled(tangent)} must be among {', '.join(names)}, but "
            f"got {', '.join(map(str, unknown))}"
        )
        raise TypeError(message)
    return like(tangent, {name: items.get(name, ZeroTangent()) for name in names})


def make_tangent(level: Structure, values: Any) -> StructuralTangent:
    """The structural tangent for one container of a primal."""
    cls: type[StructuralTangent] = MutableTangent if level.mutable else Tangent
    result = blank(cls)
    items = dict(zip(level.names, values, strict=True))
    assign(result, level.primal, level.keyed, items)
    return result


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _absent(tangent: StructuralTangent, name: str) -> Any:
    fields = field_names(primal_type(tangent))
    if fields is not None and name in fields:
        return ZeroTangent()
    if name in _CONJUGATE:
        return lambda: scaled(tangent, conjugate, {})
    if fields is None:
        _check_computed(tangent, name)
        return ZeroTangent()
    message = f"{titled(tangent)} has no field {name!r}: it has {', '.join(fields)}"
    raise AttributeError(message)


def _check_computed(tangent: StructuralTangent, name: str) -> None:
    """Raise an error for a name that the primal's class computes: it is no field."""
    primal = primal_type(tangent)
    found = inspect.getattr_static(primal, name, None)
    if hasattr(type(found), "__get__") and not isinstance(found, _STORING):
        kind = "property" if isinstance(found, property) else type(found).__name__
        fields = ", ".join(map(str, backing(tangent))) or "none"
        why = f"it is a {kind} of {primal.__qualname__}. The tangent has {fields}"
    elif holder := _holder(tangent, name):
        why = f"{primal.__qualname__} keeps it in a dict. Read {holder}[{name!r}]"
    else:
        return
    message = f"{titled(tangent)} has no field {name!r}: {why}"
    raise AttributeError(message)


def _holder(tangent: StructuralTangent, name: str) -> str | None:
    """The dict among the fields where a class with `__getattr__` may read a name."""
    if not hasattr(primal_type(tangent), "__getattr__"):
        return None
    return next(
        (
            field
            for field, value in backing(tangent).items()
            if isinstance(value, StructuralTangent)
            and keyed(value) == "key"
            and name in backing(value)
        ),
        None,
    )


# Descriptors that store a value in the instance, as of `__slots__`.
_STORING = (MemberDescriptorType, GetSetDescriptorType)


def _ordered(tangent: StructuralTangent) -> tuple[Any, ...]:
    """The entries in the order of the primal's fields, missing ones as zeros."""
    names = field_names(primal_type(tangent))
    items = backing(tangent)
    if names is None or keyed(tangent) != "field":
        return tuple(items.values())
    return tuple(items.get(name, ZeroTangent()) for name in names)
