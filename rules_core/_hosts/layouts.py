"""Values as flat lists of leaves, and back.

A layout is everything about a value but its leaves: nested tuples, so that it can be
kept, compared and handed through a compiler. There are

* `LEAF`: the next leaf;
* `("static", value)`: a value that holds no leaf, or, for a function that calls itself,
  its `Enclosing` place;
* `(kind, builder, names, children)`: a container. Of a `"sequence"`, a `"mapping"` and
  a `"named"` tuple the builder is the class, of a `"struct"` its `Structure`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from rules_core._base.errors import UnsupportedError
from rules_core._dispatch.configs import RuleConfig
from rules_core._primitives.primitive import Primitive
from rules_core._tangents.structure import Structure, entry_path, structure

__all__ = [
    "LEAF",
    "Opener",
    "count_leaves",
    "flatten",
    "form_of",
    "keyed_of",
    "leaf_paths",
    "statics",
    "unflatten",
]

LEAF = ("leaf",)

_STATIC = (
    bool, bytes, complex, float, int, str, type(None), type, slice, range,
    Primitive, RuleConfig,
)  # fmt: skip


_FLOATS = (float, complex)


class Opener:
    """The leaves of a host, and how it takes other values apart.

    Attributes:
        types: Instances of these classes are leaves as they are.
        static: Instances of these hold no leaf.

    Args:
        types: As above.
        convert: The leaf that stands for a value, None where none does: of NumPy's
            arrays an array of the host, say.
        numbers: Whether Python's floats and complex numbers are converted too.

    >>> from rules_core.extend import Opener, flatten, unflatten
    >>> leaves = []
    >>> layout = flatten({"w": 1.0, "n": (2, "a")}, leaves, Opener(float))
    >>> leaves, unflatten(layout, [3.0])
    ([1.0], {'w': 3.0, 'n': (2, 'a')})
    """

    static: tuple[type, ...] = _STATIC

    def __init__(
        self,
        types: Any = (),
        convert: Callable[[Any], Any] | None = None,
        *,
        numbers: bool = False,
    ) -> None:
        self.types, self._convert = types, convert
        if numbers:
            self.static = tuple([cls for cls in self.static if cls not in _FLOATS])

    def convert(self, value: Any) -> Any:
        """The leaf that stands for a value; None where none does."""
        return None if self._convert is None else self._convert(value)

    def level(self, value: Any) -> Structure | None:
        """One level of a container; None for what is none to this host."""
        return structure(value)

    def open(self, value: Any) -> Structure | None:
        """One level of a value in which there is a leaf; None for any other."""
        return self.level(value) if self._reaches(value, set()) else None

    def inside(self, value: Any) -> Opener:
        """The opener for the entries of a container that `open` has opened."""
        del value
        return self

    def _reaches(self, value: Any, seen: set[int]) -> bool:
        if id(value) in seen or isinstance(value, self.static):
            return False
        seen.add(id(value))
        level = self.level(value)
        return level is not None and any(
            isinstance(item, self.types)
            or self.convert(item) is not None
            or self._reaches(item, seen)
            for item in level.values
        )


@dataclass(frozen=True)
class Enclosing:
    """A function in which it stands itself: one that calls itself captures itself.

    Attributes:
        steps: How many functions outwards; 1 is the one that captures it.
    """

    steps: int


def flatten(value: Any, leaves: list[Any], opener: Opener) -> Any:
    """The layout of a value; its leaves are appended to `leaves`.

    Raises:
        UnsupportedError: An instance in which there is a leaf holds itself.
    """
    return _flatten(value, leaves, opener, ())


def _flatten(value: Any, leaves: list[Any], opener: Opener, around: Any) -> Any:
    """The layout of a value inside of functions."""
    if isinstance(value, opener.types):
        leaves.append(value)
        return LEAF
    if isinstance(value, opener.static):
        return ("static", value)
    cls: Any = type(value)
    if cls is tuple or cls is list:
        items = [_flatten(item, leaves, opener, around) for item in value]
        return ("sequence", cls, tuple(range(len(items))), tuple(items))
    if cls is dict:
        items = [_flatten(item, leaves, opener, around) for item in value.values()]
        return ("mapping", cls, tuple(value), tuple(items))
    leaf = opener.convert(value)
    if leaf is not None:
        leaves.append(leaf)
        return LEAF
    if hasattr(cls, "_fields") and isinstance(value, tuple):
        items = [_flatten(item, leaves, opener, around) for item in value]
        return ("named", cls, cls._fields, tuple(items))
    for steps, function in enumerate(reversed(around), 1):
        if function is value:
            return ("static", Enclosing(steps))
    level = opener.open(value)
    if level is None:
        return ("static", value)
    if cls is FunctionType:
        around = (*around, value)
    elif level.mutable:  # whose copy would be another instance
        around = ()
    try:
        inner = opener.inside(value)
        items = [_flatten(item, leaves, inner, around) for item in level.values]
    except RecursionError:
        raise UnsupportedError(_CYCLE.format(cls.__qualname__)) from None
    return ("struct", _hollow(level, items, opener), level.names, tuple(items))


_CYCLE = (
    "An argument of type {} must not hold itself where it holds arrays of a call of a "
    "primitive: pass the arrays themselves, or an object without the reference."
)


def _hollow(level: Structure, layouts: list[Any], opener: Opener) -> Structure:
    """The structure of a copy without leaves: a layout must not keep them alive."""
    if level.keyed == "position":
        return level
    pairs = zip(layouts, map(count_leaves, layouts), strict=True)
    copy = level.rebuild([unflatten(layout, [0.0] * n) for layout, n in pairs])
    return opener.level(copy) or level


def unflatten(layout: Any, leaves: Iterable[Any]) -> Any:
    """The value again, from its leaves."""
    return _restore(layout, iter(leaves), ())


def _restore(layout: Any, leaves: Iterator[Any], around: Any) -> Any:
    kind = layout[0]
    if kind == "leaf":
        return next(leaves)
    if kind == "static":
        value = layout[1]
        return _enclosing(value, around) if type(value) is Enclosing else value
    _, builder, names, children = layout
    if kind == "struct" and builder.primal is FunctionType:
        return _function(builder, names, children, leaves, around)
    items = [_restore(child, leaves, around) for child in children]
    if kind == "sequence":
        return builder(items)
    if kind == "mapping":
        return dict(zip(names, items, strict=True))
    return builder(*items) if kind == "named" else builder.rebuild(items)


def _enclosing(place: Enclosing, around: Any) -> Any:
    """The function itself; None in a part of it alone."""
    return around[-place.steps] if place.steps <= len(around) else None


def _function(level: Any, names: Any, children: Any, leaves: Any, around: Any) -> Any:
    """A function, made before what it captures, which may be itself."""
    made = level.rebuild([None] * len(names))
    cells = dict(zip(made.__code__.co_freevars, made.__closure__, strict=True))
    for name, child in zip(names, children, strict=True):
        cells[name].cell_contents = _restore(child, leaves, (*around, made))
    return made


def keyed_of(layout: Any) -> str:
    """Names of a container's entries: positions, keys or fields."""
    keyed: str = _KEYED.get(layout[0]) or layout[1].keyed
    return keyed


_KEYED = {"sequence": "position", "mapping": "key", "named": "field"}


def leaf_paths(layout: Any, path: str) -> Iterator[str]:
    """A name per leaf, for messages: `params.weight`, `xs[1]`."""
    kind = layout[0]
    if kind == "leaf":
        yield path
    elif kind != "static":
        keyed = keyed_of(layout)
        for name, child in zip(layout[2], layout[3], strict=True):
            yield from leaf_paths(child, entry_path(path, keyed, name))


def count_leaves(layout: Any) -> int:
    """The number of leaves."""
    kind = layout[0]
    if kind == "leaf":
        return 1
    return 0 if kind == "static" else sum(map(count_leaves, layout[3]))


def statics(layout: Any) -> Iterator[Any]:
    """The values in a layout that are no leaves."""
    kind = layout[0]
    if kind == "static":
        yield layout[1]
    elif kind != "leaf":
        for child in layout[3]:
            yield from statics(child)


def form_of(layout: Any) -> Any:
    """A layout that can be compared: classes in place of structures."""
    if layout is None or layout[0] in ("leaf", "static"):
        return layout
    kind, builder, names, children = layout
    made = builder.primal if kind == "struct" else builder
    return (kind, made, names, tuple(map(form_of, children)))
