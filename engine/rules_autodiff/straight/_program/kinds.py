"""The kind of a value: the straight-line tier's static type.

A kind determines the operations on a value and the form of its cotangent. Values of
other kinds use the tape.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = [
    "BOOL", "DEEP", "INT", "MANY", "MIXED", "NONE", "REAL", "TANGENT", "TEXT",
    "VALUE", "WITH_AUX", "Kind", "array", "has_functions", "holds_objects", "is_array",
    "is_index", "join", "kind_of", "leaf_kinds", "rebuilt", "row", "spread",
]  # fmt: skip

DOUBLE = np.dtype(float)
STRUCTURES = frozenset({"row", "list", "dict", "function", "object"})
WITH_AUX = "aux"  # the mode of programs whose value is a pair
TANGENT = "<tangent "  # of names of files: generated code that is read again
VALUE = "value"  # the mode of programs whose values may be of any kind
MANY = 64  # entries of a container with a kind for each
DEEP = 8  # nesting of containers; one may contain itself


@dataclass(frozen=True)
class Kind:
    """The kind of a value.

    Attributes:
        name: `"real"`, `"int"`, `"bool"`, `"none"`, `"text"`, `"array"`,
            `"row"` (a tuple), `"list"`, `"dict"`, `"function"`, `"object"` (an
            instance), or `"many"` (a list of unknown length).
        ndim: The number of axes of an array; at least one.
        dtype: `"d"` (float64), `"?"` (bool) or `"l"` (int64), of an array; `"entries"`
            for containers with one variable per entry.
        parts: The kinds of the entries of a row, list or dict of fixed length, or of a
            function's captured values.
        tag: Further data of a kind: the keys of a dict, the function.
    """

    name: str
    ndim: int = 0
    dtype: str = ""
    parts: "tuple[Kind, ...]" = ()
    tag: Any = None

    @property
    def has_parts(self) -> bool:
        """Whether it is composed of other kinds."""
        return self.name in STRUCTURES

    @property
    def is_real(self) -> bool:
        """Whether it can be active: a number, or an array of float64."""
        return self.name == "real" or self.dtype == "d"


# A float, a NumPy float64, or an integer where another branch has a float.
REAL = Kind("real")
INT, BOOL, NONE, TEXT = Kind("int"), Kind("bool"), Kind("none"), Kind("text")
MIXED = Kind("mixed")  # of a variable with different kinds in different branches


def array(ndim: int, dtype: str = "d") -> Kind:
    """The kind of arrays with this number of axes; of a number for none."""
    if ndim == 0:
        return {"d": REAL, "?": BOOL, "l": INT}[dtype]
    return Kind("array", ndim, dtype)


def row(*parts: Kind) -> Kind:
    """The kind of tuples with entries of these kinds."""
    return Kind("row", parts=parts)


def is_array(kind: Kind, dtype: str = "d") -> bool:
    return kind.name == "array" and kind.dtype == dtype


def is_index(kind: Kind) -> bool:
    return kind is INT


CLASSES = {
    float: REAL, np.float64: REAL, int: INT, np.int64: INT, bool: BOOL,
    np.bool_: BOOL, type(None): NONE, str: TEXT,
}  # fmt: skip


def kind_of(x: Any, depth: int = DEEP) -> Kind | None:
    """The kind of a value, None if it has none."""
    cls = type(x)
    if cls is np.ndarray:
        supported = x.dtype.isnative and x.dtype.char in "d?l" and x.ndim
        return array(x.ndim, x.dtype.char) if supported else None
    if cls is tuple or cls is list:
        return kind_of_entries("row" if cls is tuple else "list", x, depth)
    if cls is dict:
        keys = tuple(x)
        plain = all(type(key) is str or type(key) is int for key in keys)
        return kind_of_entries("dict", [*x.values()], depth, keys) if plain else None
    return CLASSES.get(cls)


def kind_of_entries(
    name: str, entries: Any, depth: int, tag: Any = None
) -> Kind | None:
    """The kind of a container, None if one of its entries has none."""
    if len(entries) > MANY and name == "list":
        for kind in (REAL, INT):
            if all(kind_of(part, 0) is kind for part in entries):
                return Kind("many", parts=(kind,))
        return None
    if (len(entries) > MANY and name != "row") or depth == 0:
        return None
    parts = [kind_of(part, depth - 1) for part in entries]
    kinds = tuple([p for p in parts if p])
    return Kind(name, parts=kinds, tag=tag) if len(kinds) == len(parts) else None


def join(one: Kind, other: Kind) -> Kind | None:
    """The kind of a value of either kind; None if there is none."""
    if one == other:
        return one
    if {one.name, other.name} == {"real", "int"}:
        return REAL
    if one.name == other.name == "many" and not (one.parts and other.parts):
        return one if one.parts else other
    same = (one.name, one.dtype, one.tag) == (other.name, other.dtype, other.tag)
    composite = one.has_parts or one.name == "many"
    if not (same and composite and len(one.parts) == len(other.parts)):
        return None
    parts = [join(x, y) for x, y in zip(one.parts, other.parts, strict=True)]
    kinds = [p for p in parts if p]
    return replace(one, parts=tuple(kinds)) if len(kinds) == len(parts) else None


def has_functions(kind: Kind) -> bool:
    """Whether a value is or holds a function."""
    return kind.name == "function" or any(map(has_functions, kind.parts))


def holds_objects(kind: Kind) -> bool:
    """Whether a value is or holds an instance, or what may hold one."""
    if kind.name in ("object", "function"):
        return True
    return any(map(holds_objects, kind.parts))


def spread(kind: Kind) -> Kind:
    """The kind of a container with a variable for each entry, nested ones too."""
    if not kind.has_parts:
        return kind
    return replace(kind, dtype="entries", parts=tuple(map(spread, kind.parts)))


def rebuilt(kind: Kind, leaves: Any) -> Any:
    """A value of a kind from an iterator over its leaves."""
    if not kind.has_parts:
        return next(leaves)
    parts = [rebuilt(part, leaves) for part in kind.parts]
    if kind.name == "dict":
        return dict(zip(kind.tag, parts, strict=True))
    return tuple(parts) if kind.name == "row" else parts


def leaf_kinds(kind: Kind) -> list[Kind]:
    """The kinds of all leaves of a value."""
    if not kind.has_parts:
        return [kind]
    return [leaf for part in kind.parts for leaf in leaf_kinds(part)]
