"""A call, and its generated form: its text and its cotangents."""

from dataclasses import dataclass, field
from typing import Any

from .kinds import Kind

__all__ = ["JOINT", "OWN", "Call", "Scatter", "Taken", "Written"]

# Tangents of linear operations, by the text of the call: `OWN` is linear in each of the
# operands for itself, `JOINT` in all that have a derivative, beside zeros.
OWN, JOINT = "own", "joint"


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


class Taken(str):
    """The text of a cotangent that was taken from a rule of the pack."""

    __slots__ = ()


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
        pushes: The tangent of the result by that of each operand, which is `{dz}` here:
            a text, `OWN` or `JOINT`. None where operands and result are numbers: a
            cotangent's text serves. `()` if there is none.
        lanes: The same for several tangents, along one more axis at the end. None where
            the texts of `pushes` are right if arrays in them get such an axis, of
            length one.
    """

    kind: Kind
    text: str | None = None
    pulls: tuple[str | Scatter | None, ...] = ()
    fresh: bool = True
    pushes: "tuple[str | None, ...] | None" = None
    lanes: "tuple[str | None, ...] | None" = None
