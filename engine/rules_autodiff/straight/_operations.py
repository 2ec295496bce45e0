"""The table of operations: what the straight-line tier knows how to write out.

An operation is known by the function that a program calls (`numpy.tanh`), by an
operator's name (`"mul"`), or by the name of a method of arrays. For the kinds of a
call's operands it gives a `Written`: the kind of the result, the text of the call and,
for each operand, the text of its cotangent.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rules_autodiff.straight._kinds import Kind

__all__ = [
    "FUNCTIONS", "METHODS", "OPERATORS", "SPREADING", "Call", "Operation", "Scatter",
    "Written", "function", "method", "operator",
]  # fmt: skip


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


Operation = Callable[[Call], Written | None]

# Functions whose one argument is a row or list of values, which are their operands.
SPREADING: set[Any] = set()
FUNCTIONS: dict[Any, Operation] = {}
METHODS: dict[str, Operation] = {}
OPERATORS: dict[str, Operation] = {}


def registered(
    table: dict[Any, Operation], keys: Any
) -> Callable[[Operation], Operation]:
    def register(operation: Operation) -> Operation:
        for key in keys:
            table[key] = operation
        return operation

    return register


def function(*functions: Any) -> Callable[[Operation], Operation]:
    """Register the operation of functions; None from it leaves the call to the tape."""
    return registered(FUNCTIONS, functions)


def method(*names: str) -> Callable[[Operation], Operation]:
    """Register the operation of methods of arrays, which are their first operand."""
    return registered(METHODS, names)


def operator(*names: str) -> Callable[[Operation], Operation]:
    """Register the operation of an operator: `add`, `mul`, `neg`, `lt`, …."""
    return registered(OPERATORS, names)
