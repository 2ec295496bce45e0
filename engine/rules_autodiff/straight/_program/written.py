"""A call, and its generated form: its text and its cotangents."""

from dataclasses import dataclass, field
from typing import Any

from .kinds import Kind

__all__ = ["Call", "Scatter", "Written"]


@dataclass(frozen=True)
class Call:
    """A call, as operations receive it.

    Attributes:
        kinds: The kinds of its operands, which are its positional arguments.
        constants: For each operand its literal value, or `...`.
        options: The keywords, which are literals (numbers, strings, None, tuples).
    """

    kinds: tuple[Kind, ...]
    constants: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scatter:
    """The cotangent of an indexed operand: added at `key` to zeros.

    Attributes:
        key: The text of the key, with fields.
        repeated: Whether the key may contain an entry twice, so that it needs
            `numpy.add.at`.
        value: The text of the addend.
    """

    key: str
    repeated: bool = False
    value: str = "{dz}"


@dataclass(frozen=True)
class Written:
    """The generated form of a call.

    Texts have fields: `{0}`, `{1}`, … for operands; in cotangents also `{z}` for the
    result, `{dz}` for its cotangent and `{s0}`, `{s1}`, `{sz}` for the shapes of
    operands and result. Exactly the fields in a cotangent are saved as residuals; so
    prefer `{s0}` to `{0}` if the shape is enough.

    Attributes:
        kind: The kind of the result.
        text: The text of the call; None leaves the program's text.
        pulls: The cotangent of each operand: a text, a `Scatter`, or None. It must have
            the operand's shape, and must not hide 0 · ∞: NaN must stay NaN.
        fresh: Whether the result is in its own memory, never a view.
    """

    kind: Kind
    text: str | None = None
    pulls: tuple[str | Scatter | None, ...] = ()
    fresh: bool = True
