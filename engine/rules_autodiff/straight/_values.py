"""What the reader knows of a value: the text that computes it, and its kind."""

from dataclasses import dataclass, replace
from typing import Any

from rules_autodiff.straight._kinds import Kind

__all__ = ["UNKNOWN", "Known", "Value", "bar_of"]

UNKNOWN: Any = ...  # the constant of a value that is no literal


@dataclass(frozen=True)
class Value:
    """A value of the program, as it is read.

    Attributes:
        text: Its text in the forward code: a name, a literal, or an expression that
            has no effects.
        kind: Its kind.
        active: Whether a derivative passes through it; then its text is a name.
        constant: The literal that it is, or `UNKNOWN`.
        atom: Whether its text is a name or a literal.
        entries: The entries of a row that are known one by one.
        fresh: Whether no name of the program leads to its memory.
        unstable: Whether the program may still write into its memory.
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


def bar_of(name: str, kind: Kind) -> str:
    """The name of the cotangent of a variable while it holds a value of a kind."""
    stem = name if name.startswith("__") else f"{name}_"
    return f"{stem}_bar" if kind.name == "real" else f"{stem}_bars"


@dataclass(frozen=True)
class Known:
    """A function, module or class that is the same at every call: guards see to it.

    Attributes:
        value: The object.
        place: Where the guard finds it.
    """

    value: Any
    place: Any
