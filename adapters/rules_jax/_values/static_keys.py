"""Keys of static values: what a trace that is kept has been made for.

Python finds 1, 1.0 and True equal, and 0.0 and -0.0, and so does the `==` that it makes
for tuples, data classes and the structures of pytrees. A rule tells them apart.
"""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from jax import tree_util

_EXACT = frozenset({int, bool, str, bytes, type(None), type})


class ById:
    """An unhashable value as a key: equal to itself only."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ById) and self.value is other.value


def static_key(value: Any) -> Any:
    """Hashable stand-in, equal for values that a rule cannot tell apart.

    A class that writes its own `==` decides for its instances; what is compared by its
    parts (tuples, frozen sets, data classes, classes of attrs) is told apart by them.
    """
    if type(value) in _EXACT:
        return type(value), value
    try:
        hash(value)
    except TypeError:
        return type(value), ById(value)
    return _key(value)


def structure_key(treedef: Any) -> Any:
    """A key of a structure with its keys and static fields, which `==` overlooks."""
    data = treedef.node_data()
    if data is None:
        return None
    return _part(data[1]), tuple(map(structure_key, treedef.children()))


def _key(value: Any) -> Any:
    kind = type(value)
    if isinstance(value, (float, complex, np.inexact, Decimal)):
        return kind, _spelt(value)
    if isinstance(value, tree_util.PyTreeDef):
        return kind, value, structure_key(value)
    parts = _parts(value)
    if kind in (tuple, frozenset):
        return kind, parts
    return (kind, value) if parts is None else (kind, value, parts)


def _spelt(value: Any) -> Any:
    """A number's digits and signs; a class derived from numbers may hold more."""
    if isinstance(value, Decimal):
        return value.as_tuple(), value.is_nan() or value
    if isinstance(value, np.inexact) or type(value) in (float, complex):
        return repr(value)
    base = float if isinstance(value, float) else complex
    return base.__repr__(value), value


def _part(value: Any) -> Any:
    """The key of a part; of an unhashable one by its parts, or left to its own `==`."""
    try:
        hash(value)
    except TypeError:
        return type(value), _parts(value)
    return _key(value)


def _parts(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(map(_part, value))
    if isinstance(value, (set, frozenset)):
        return frozenset(map(_part, value))
    if isinstance(value, dict):
        return tuple((_part(key), _part(x)) for key, x in value.items())
    if isinstance(value, slice):
        return _part(value.start), _part(value.stop), _part(value.step)
    if isinstance(value, type):
        return None
    names = tuple(_compared(value))
    return tuple(_part(getattr(value, name)) for name in names) if names else None


def _compared(value: Any) -> Iterable[str]:
    """Names of the fields by which a class without a `==` of its own compares."""
    if is_dataclass(value):
        return (field.name for field in fields(value) if field.compare)
    attributes = getattr(type(value), "__attrs_attrs__", ())
    return (attribute.name for attribute in attributes if attribute.eq)
