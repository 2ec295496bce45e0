"""A call as it is read, and as it is written out: its text and its cotangents."""

from dataclasses import dataclass, field
from typing import Any

from .kinds import Kind

__all__ = ["Call", "Scatter", "Written"]


@dataclass(frozen=True)
class Call:
    """A call as its operation sees it.

    Attributes:
        kinds: The kinds of its operands, which are its positional arguments.
        constants: For each operand the literal that it is, or `...`.
        options: The keywords, which are literals (numbers, texts, None, tuples).
    """

    kinds: tuple[Kind, ...]
    constants: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scatter:
    """The cotangent of an operand that was indexed: added at `key` into zeros.

    Attributes:
        key: The text of the key, with fields.
        repeated: Whether the key may name an entry twice, so that `numpy.add.at` adds.
        value: The text of what is added.
    """

    key: str
    repeated: bool = False
    value: str = "{dz}"


@dataclass(frozen=True)
class Written:
    """A call, written out.

    Texts have fields: `{0}`, `{1}`, … for operands; in cotangents also `{z}` for the
    result, `{dz}` for its cotangent and `{s0}`, `{s1}`, `{sz}` for the shapes of
    operands and result. What a cotangent names is kept for the way back, and nothing
    else; so `{s0}` is better than `{0}` where the shape alone matters.

    Attributes:
        kind: The kind of the result.
        text: The text of the call; None writes it as it stands in the program.
        pulls: The cotangent of each operand: a text, a `Scatter`, or None where it has
            none. It must have the operand's shape, and must hold on to no 0 · ∞: what
            is not a number stays so.
        fresh: Whether the result is in memory of its own, never a view.
    """

    kind: Kind
    text: str | None = None
    pulls: tuple[str | Scatter | None, ...] = ()
    fresh: bool = True
