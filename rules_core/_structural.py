"""Tangents of containers: one tangent per entry.

`Tangent` is the tangent of what cannot be changed, or is treated as a value (tuples,
lists, dicts, named tuples, frozen dataclasses, registered pytrees, functions);
`MutableTangent` that of instances whose fields may be set anew. Both read alike.

The classes have no public methods, so that every field name stays free for fields;
`backing` and `canonicalize` are functions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from reprlib import recursive_repr
from typing import Any, Self, TypeVar, final

from ._algebra import AbstractTangent
from ._arrays import array_namespace, is_array
from ._entries import entries
from ._structure import Structure, field_names
from ._thunks import conjugate, unthunk
from ._zeros import ZeroTangent

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
    "titled",
]

_Items = dict[Hashable, Any]
_Memo = dict[Any, Any]
_T = TypeVar("_T", bound="StructuralTangent")


class StructuralTangent(AbstractTangent):
    """Base class of the tangents of containers, `Tangent` and `MutableTangent`.

    Reading an entry unthunks it; an absent field is `ZeroTangent()`. The tangent of a
    tuple, list or named tuple has a length, iterates, indexes and unpacks like it; that
    of a dict is read by key, and `in`, `keys`, `values`, `items` and `get` work.

    Structural tangents of one primal class can be added and subtracted, negated and
    scaled by a number, and added to the primal, which gives a new primal. They are
    equal where their entries are, an absent field being a `ZeroTangent()`.
    """

    __slots__ = ("__items", "__keyed", "__primal")

    __items: _Items
    __keyed: str
    __primal: Any

    __tangent_rank__ = 1

    def __init__(self, primal: Any, /, *items: Any, **fields: Any) -> None:
        if not isinstance(primal, type):
            message = (
                f"{type(self).__name__} must be given the class of the primal first, "
                f"but got {primal!r}"
            )
            raise TypeError(message)
        _set(self, primal, *entries(primal, items, fields))

    def __tangent_plus__(self, a: Any, b: Any) -> Any:
        other = b if a is self else a
        if isinstance(other, StructuralTangent):
            return _sum(a, b, {})
        if isinstance(other, self.__primal):
            from ._move import move

            return move(other, self, {})
        return NotImplemented

    def __tangent_minus__(self, a: Any, b: Any) -> Any:
        if isinstance(a, StructuralTangent) and isinstance(b, StructuralTangent):
            return _sum(a, -b, {})
        return NotImplemented

    def __tangent_times__(self, a: Any, b: Any) -> Any:
        if b is self and _is_scalar(a):
            return scaled(self, lambda value: a * value, {})
        if a is self and _is_scalar(b):
            return scaled(self, lambda value: value * b, {})
        return NotImplemented

    def __tangent_divide__(self, a: Any, b: Any) -> Any:
        if a is self and _is_scalar(b):
            return scaled(self, lambda value: value / b, {})
        return NotImplemented

    def __tangent_matmul__(self, a: Any, b: Any) -> Any:
        return NotImplemented

    def __neg__(self) -> Self:
        return scaled(self, lambda value: -value, {})

    def __getattr__(self, name: str) -> Any:
        items = self.__items
        if name in items:
            return unthunk(items[name])
        if not (name.startswith("__") and name.endswith("__")):
            if self.__keyed == "field":
                return _absent(self, name)
            if name in _CONJUGATE:
                return lambda: scaled(self, conjugate, {})
            if self.__keyed == "key" and name in _DICT_METHODS:
                return getattr(_read_all(self), name)
        message = f"{titled(self)} has no attribute {name!r}"
        raise AttributeError(message)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return Tangent(tuple, *list(self)[key])
        if self.__keyed == "field" and isinstance(key, int):
            return unthunk(_ordered(self)[key])
        if self.__keyed == "field":
            return unthunk(self.__items.get(key, ZeroTangent()))
        if self.__keyed == "position":
            return unthunk(tuple(self.__items.values())[key])
        return unthunk(self.__items[key])

    def __iter__(self) -> Iterator[Any]:
        if self.__keyed == "key":
            return iter(self.__items)
        return map(unthunk, _ordered(self))

    def __len__(self) -> int:
        return len(self.__items) if self.__keyed == "key" else len(_ordered(self))

    def __bool__(self) -> bool:
        return True

    def __contains__(self, key: object) -> bool:
        if self.__keyed == "position":
            return any(_equal(key, value) for value in self)
        return key in self.__items

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *map(str, self.__items)]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, StructuralTangent):
            return NotImplemented
        if self.__primal is not other.__primal:
            return False
        mine, theirs = self.__items, other.__items
        return all(
            _equal(mine.get(name, ZeroTangent()), theirs.get(name, ZeroTangent()))
            for name in mine | theirs
        )

    def __hash__(self) -> int:
        return hash((StructuralTangent, self.__primal))  # entries may be unhashable

    def __copy__(self) -> Self:
        return like(self, self.__items)

    def __reduce__(self) -> Any:
        return _blank, (type(self),), (self.__primal, self.__keyed, self.__items)

    def __setstate__(self, state: tuple[Any, str, _Items]) -> None:
        _set(self, *state)

    @recursive_repr("...")
    def __repr__(self) -> str:
        head = f"{type(self).__name__}({self.__primal.__qualname__}"
        return f"{head}{_shown(self.__keyed, self.__items)})"

    def __tangent_structure__(self) -> Structure:
        items, like = self.__items, type(self)

        def build(values: Any) -> Any:
            result = _blank(like)
            fill(result, values)
            return result

        def fill(result: Any, values: Any) -> None:
            entries = dict(zip(items, values, strict=True))
            _set(result, self.__primal, self.__keyed, entries)

        args = (self.__primal, self.__keyed, items, items.values())
        if like is MutableTangent:
            return Structure(*args, fill, lambda: _blank(like))
        return Structure(*args, build)


@final
class Tangent(StructuralTangent):
    """The tangent of a container: `Tangent(P, *entries)` or `Tangent(P, **fields)`.

    Args:
        primal: The class of the container.
        *items: The tangents of the entries of a tuple or list; for a dict a mapping of
            its keys to tangents.
        **fields: Tangents of the fields of a class or named tuple; absent ones are
            zero.

    >>> from rules_core import Tangent
    >>> dp = Tangent(tuple, 1.0, 2.0)
    >>> dx, dy = dp
    >>> dy, 3.0 * dp, (10.0, 20.0) + dp
    (2.0, Tangent(tuple, 3.0, 6.0), (11.0, 22.0))
    >>> Tangent(dict, {"w": 1.0})["w"]
    1.0
    >>> from fractions import Fraction
    >>> Tangent(Fraction, numerator=1.0).denominator
    ZeroTangent()
    """

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        message = f"{titled(self)} cannot be changed: make a new Tangent"
        raise AttributeError(message)


@final
class MutableTangent(StructuralTangent):
    """The tangent of an instance of a mutable class; its fields may be set.

    Instances that several places share have one `MutableTangent`, shared likewise.

    Args:
        primal: The class of the instance.
        **fields: Tangents of the fields; absent ones are zero.

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

    def __setattr__(self, name: str, value: object) -> None:
        backing(self)[name] = value


_CONJUGATE = frozenset({"conj", "conjugate"})
_DICT_METHODS = frozenset({"get", "items", "keys", "values"})
_GET_ITEMS = StructuralTangent.__dict__["_StructuralTangent__items"].__get__
_GET_KEYED = StructuralTangent.__dict__["_StructuralTangent__keyed"].__get__
_GET_PRIMAL = StructuralTangent.__dict__["_StructuralTangent__primal"].__get__


def backing(tangent: StructuralTangent) -> dict[Any, Any]:
    """The entries of a tangent as a dict, thunks as they are; not a copy.

    Keys are positions, the keys of a dict, or field names; absent fields are absent.

    >>> from rules_core import Tangent, backing
    >>> backing(Tangent(tuple, 1.0, 2.0))
    {0: 1.0, 1: 2.0}
    """
    return _GET_ITEMS(tangent)  # type: ignore[no-any-return]


def primal_type(tangent: StructuralTangent) -> type:
    """The class that a tangent was made for, the `P` of `Tangent(P, …)`."""
    return _GET_PRIMAL(tangent)  # type: ignore[no-any-return]


def is_mutable(tangent: object) -> bool:
    """Whether a value is a `MutableTangent`."""
    return isinstance(tangent, MutableTangent)


def canonicalize(tangent: StructuralTangent) -> StructuralTangent:
    """The tangent with every field of the primal's class, in its order.

    Absent fields become `ZeroTangent()`. Tangents of tuples, lists, dicts and of
    classes whose fields are not known beforehand are canonical as they are.

    Raises:
        TypeError: An entry of the tangent is no field of the class.

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


def make_tangent(like: Structure, values: Any) -> StructuralTangent:
    """The structural tangent for one level of a primal."""
    result = _blank(MutableTangent if like.mutable else Tangent)
    _set(result, like.primal, like.keyed, dict(zip(like.names, values, strict=True)))
    return result


def _set(tangent: Any, primal: Any, kind: str, items: _Items) -> None:
    set_slot = object.__setattr__
    set_slot(tangent, "_StructuralTangent__primal", primal)
    set_slot(tangent, "_StructuralTangent__keyed", kind)
    set_slot(tangent, "_StructuralTangent__items", items)


def _blank(cls: Any) -> Any:
    return object.__new__(cls)


def keyed(tangent: StructuralTangent) -> str:
    """How entries are named: `"position"`, `"key"` or `"field"`."""
    return _GET_KEYED(tangent)  # type: ignore[no-any-return]


def like(tangent: _T, items: _Items) -> _T:
    """A tangent of the same kind with other entries."""
    result: _T = _blank(type(tangent))
    _set(result, primal_type(tangent), keyed(tangent), dict(items))
    return result


def scaled(tangent: _T, fn: Callable[[Any], Any], memo: _Memo) -> _T:
    """The tangent with a linear function applied to every number in it."""
    if (known := memo.get(id(tangent))) is not None:
        return known  # type: ignore[no-any-return]
    result = memo[id(tangent)] = like(tangent, {})
    for name, value in backing(tangent).items():
        inner = isinstance(value, StructuralTangent)
        backing(result)[name] = scaled(value, fn, memo) if inner else fn(value)
    return result


def _sum(a: Any, b: Any, memo: _Memo) -> Any:
    if not (isinstance(a, StructuralTangent) and isinstance(b, StructuralTangent)):
        return a + b
    if (known := memo.get((id(a), id(b)))) is not None:
        return known
    _check_alike(a, b)
    result = memo[id(a), id(b)] = like(a, {})
    mine, theirs = backing(a), backing(b)
    for name in mine | theirs:
        both = name in mine and name in theirs
        one = mine if name in mine else theirs
        value = _sum(mine[name], theirs[name], memo) if both else one[name]
        backing(result)[name] = value
    return result


def _check_alike(a: StructuralTangent, b: StructuralTangent) -> None:
    same = primal_type(a) is primal_type(b) and type(a) is type(b)
    if not same:
        message = (
            f"only tangents of the same class can be added, but got {titled(a)} and "
            f"{titled(b)}"
        )
        raise TypeError(message)
    if keyed(a) == "position" and len(a) != len(b):
        message = (
            f"{titled(a)} must have as many entries as what is added to it, but got "
            f"{len(a)} and {len(b)}"
        )
        raise TypeError(message)


def _absent(tangent: StructuralTangent, name: str) -> Any:
    known = field_names(primal_type(tangent))
    if known is not None and name in known:
        return ZeroTangent()
    if name in _CONJUGATE:
        return lambda: scaled(tangent, conjugate, {})
    if known is None:
        return ZeroTangent()
    message = f"{titled(tangent)} has no field {name!r}: it has {', '.join(known)}"
    raise AttributeError(message)


def _ordered(tangent: StructuralTangent) -> tuple[Any, ...]:
    names = field_names(primal_type(tangent))
    items = backing(tangent)
    if names is None or keyed(tangent) != "field":
        return tuple(items.values())
    return tuple(items.get(name, ZeroTangent()) for name in names)


def _read_all(tangent: StructuralTangent) -> _Items:
    return {key: unthunk(value) for key, value in backing(tangent).items()}


def _is_scalar(x: Any) -> bool:
    if is_array(x):
        return tuple(x.shape) == ()
    return hasattr(x, "__complex__") or hasattr(x, "__float__")


def _equal(a: Any, b: Any) -> bool:
    a, b = unthunk(a), unthunk(b)
    if a is b:
        return True
    if is_array(a) and is_array(b):
        xp = array_namespace(a, b)
        return tuple(a.shape) == tuple(b.shape) and bool(xp.all(a == b))
    return bool(a == b)


def titled(tangent: StructuralTangent) -> str:
    """What errors call a tangent."""
    return f"{type(tangent).__name__}({primal_type(tangent).__qualname__}, …)"


def _shown(kind: str, items: _Items) -> str:
    if kind == "key":
        return f", {items!r}"
    if kind == "position":
        return "".join(f", {value!r}" for value in items.values())
    return "".join(f", {name}={value!r}" for name, value in items.items())
