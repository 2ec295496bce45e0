"""Values as the reader knows them: text and kind."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

from .kinds import Kind

__all__ = [
    "UNKNOWN", "Attributes", "Closure", "Known", "Local", "Partial", "Thing", "Value",
    "bar_of", "dot_of", "flat", "function_value", "rebuilt", "with_entries",
]  # fmt: skip

UNKNOWN: Any = ...  # the constant of a non-literal value


@dataclass(frozen=True)
class Value:
    """A value of the program, as read.

    Attributes:
        text: Its text in the forward code: a name, a literal, or an expression without
            side effects.
        kind: Its kind.
        active: Whether it is active; then its text is a name.
        constant: Its literal value, or `UNKNOWN`.
        atom: Whether its text is a name or a literal.
        entries: The individually known entries of a row, or a function's captured
            values.
        fresh: Whether no name of the program refers to its memory.
        unstable: Whether the program may still write to its memory.
    """

    text: str
    kind: Kind
    active: bool = False
    constant: Any = UNKNOWN
    atom: bool = False
    entries: "tuple[Value, ...] | None" = None
    fresh: bool = False
    unstable: bool = False

    @property
    def bar(self) -> str:
        """The name of its cotangent."""
        return bar_of(self.text, self.kind)

    def without_derivative(self) -> "Value":
        entries = self.entries and tuple([e.without_derivative() for e in self.entries])
        return replace(self, active=False, entries=entries)


def dot_of(bar: str) -> str:
    """The name of a tangent, by that of the cotangent."""
    stem, _, ending = bar.rpartition("_bar")
    return f"{stem}_dot{ending}"


def bar_of(name: str, kind: Kind) -> str:
    """The name of the cotangent of a variable with a value of this kind."""
    stem = name if name.startswith("__") else f"{name}_"
    return f"{stem}_bar" if kind.name == "real" else f"{stem}_bars"


@dataclass(frozen=True)
class Known:
    """A function, module or class that is identical at every call, as a guard checks.

    Attributes:
        value: The object.
        place: Its place for the guard.
    """

    value: Any
    place: Any


@dataclass(frozen=True, eq=False)
class Thing(Known):
    """An object of a user's class whose attributes are read.

    Each call may have another object of this class: the guard reads its attributes.
    """

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Thing):
            return False
        return self.value is other.value and bool(self.place == other.place)

    def __hash__(self) -> int:
        return hash((id(self.value), self.place))


@dataclass(frozen=True, eq=False)
class Local:
    """A local function of the program.

    Attributes:
        function: A function with its code and empty cells.
        defaults: Parameters with the variables that hold their default values.
    """

    function: FunctionType
    defaults: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Closure:
    """A local function with its captured values: the tag of its kind.

    Attributes:
        local: The function.
        place: The guard's place of the enclosing function, for its globals.
        names: The captured variables, whose kinds are the parts of its kind.
        known: Captured functions and modules.
        own: The names by which it refers to itself.
    """

    local: Local
    place: Any
    names: tuple[str, ...]
    known: tuple[tuple[str, Known], ...]
    own: tuple[str, ...]


@dataclass(frozen=True)
class Attributes:
    """The class of an instance, and its attributes in the order in which they came.

    Attributes:
        cls: The class, with its place for the guard.
        names: The attributes.
    """

    cls: Known
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Partial:
    """A partially applied function: the tag of its kind.

    Its parts are the function, arguments by position, and those by name.
    """

    names: tuple[str, ...]


def function_value(known: Known | Local) -> Value:
    """A function as a value, which generated code need not store."""
    return Value("None", Kind("function", tag=known), atom=True, entries=())


def flat(value: Value) -> list[Value]:
    """All leaves of a value."""
    if value.entries is None:
        return [value]
    return [leaf for entry in value.entries for leaf in flat(entry)]


def rebuilt(kind: Kind, leaves: Iterator[Value]) -> Value:
    """A value of a kind from all its leaves."""
    if not kind.has_parts:
        return next(leaves)
    return with_entries(kind, [rebuilt(part, leaves) for part in kind.parts])


def with_entries(kind: Kind, entries: list[Value]) -> Value:
    """A value of a kind from its entries."""
    parts = tuple(entry.kind for entry in entries)
    active = any(entry.active for entry in entries)
    return Value(
        text_of(kind, [entry.text for entry in entries]),
        replace(kind, parts=parts, dtype=""), active, entries=tuple(entries),
    )  # fmt: skip


def text_of(kind: Kind, texts: list[str]) -> str:
    """The text of what is put together."""
    if kind.name == "function":
        return "None"
    if kind.name == "dict":
        pairs = zip(kind.tag, texts, strict=True)
        return "{" + ", ".join(f"{key!r}: {text}" for key, text in pairs) + "}"
    if kind.name == "list":
        return f"[{', '.join(texts)}]"
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
