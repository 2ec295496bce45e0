"""Calls of functions that are not written out: each is run by a tape of its own.

What the function returns was seen when the tape ran the program. A loop would make a
tape at each turn, which costs more than one tape of the whole.
"""

from dataclasses import replace
from typing import Any

from rules_autodiff.straight._guard.captures import Place
from rules_autodiff.straight._program.kinds import Kind
from rules_autodiff.straight._program.refused import Refused, Unlearned
from rules_autodiff.straight._program.values import (
    UNKNOWN,
    Known,
    Value,
    flat,
    rebuilt,
)
from rules_autodiff.straight._runtime.learned import LEARNED, AnyOf
from rules_autodiff.straight._runtime.taped_calls import by_tape

__all__ = ["call_by_tape"]

CONSTANT = {"int": int, "bool": bool, "text": str, "none": type(None)}
LEAVES = frozenset({"real", "array", *CONSTANT})


def call_by_tape(
    reader: Any,
    f: Known,
    values: list[Value],
    named: dict[str, Value],
    refused: Refused,
) -> Value:
    """The value of a call of a program.

    Raises:
        Refused: It cannot be called so, for the reason why it is not written out.
        Unlearned: The kind of its result is unknown.
    """
    if reader.depth or reader.unit.looping or not reader.unit.taping:
        raise refused
    given = [of_call(reader, x, refused) for x in (*values, *named.values())]
    active = tuple([i for i, x in enumerate(given) if x.active and reader.tracing])
    result = result_of(f, values, named, refused)
    text, back = texts(reader, f, given, named, result, active)
    if not reader.tracing:
        if result.has_parts:
            raise refused
        return Value(f"{text}[0]", result)
    leaves = [leaf for i in active for leaf in flat(given[i]) if leaf.active]
    found: Value = reader.own_calls.results(result, text, back, leaves)
    before = [leaf for x in (*values, *named.values()) for leaf in flat(x)]
    after = [leaf for x in given for leaf in flat(x)]
    copies = [
        y for x, y in zip(before, after, strict=False)
        if y.kind.name == "array" and x is not y
    ]  # fmt: skip
    reader.own_calls.part_from(found, copies)
    return found


def texts(
    reader: Any, f: Known, given: list[Value], named: Any, result: Kind, active: Any
) -> tuple[str, str]:
    """The text of the call, and the name of its way back."""
    unit = reader.unit
    unit.tapes += 1
    wanted = [tuple([leaf.active for leaf in flat(given[i])]) for i in active]
    names = tuple(named)
    forward, back = by_tape(result, names, active, wanted)
    own = unit.fresh_constant("taped", forward)
    args = ", ".join([handed(reader, f.place), *[x.text for x in given]])
    return f"{own}({args})", unit.fresh_constant("taped_back", back)


def handed(reader: Any, place: Place) -> str:
    """The text of a function or object that the guard finds."""
    number, kind = reader.captures.hand_over(place)
    text: str = reader.captured_value("given", number, kind).text
    return text


def of_call(reader: Any, x: Value, refused: Refused) -> Value:
    """An argument as the call gets it: in memory that the program does not write to."""
    tag = x.kind.tag
    if x.kind.name == "function" and isinstance(tag, Known):
        return replace(x, text=handed(reader, tag.place))
    if x.kind.has_parts and x.entries is None and x.kind.dtype != "entries":
        return x  # what the program reads from outside, as it is
    whole = reader.variables.entered(x)
    leaves = flat(whole)
    if is_made_here(whole.kind):
        raise refused
    if not all(leaf.kind.name in LEAVES for leaf in leaves):
        raise refused
    steady = reader.operations.steady if reader.tracing else lambda leaf: leaf
    return rebuilt(whole.kind, iter([*map(steady, leaves)]))


def is_made_here(kind: Kind) -> bool:
    """Whether a value is or holds an instance that exists as its attributes alone."""
    return kind.name == "object" or any(map(is_made_here, kind.parts))


def result_of(
    f: Known, values: list[Value], named: dict[str, Value], refused: Refused
) -> Kind:
    """The kind of the value, as the tape saw it."""
    names = tuple(sorted(named))
    sorts = *map(sort_of, values), names, *[sort_of(named[n]) for n in names]
    found = LEARNED.kind_of_program(f.value, sorts)
    if found is None:
        reason = f"{refused.reason}, and what its function returns is not known yet"
        raise Unlearned(reason)
    if found.name in ("mixed", "many"):
        raise refused
    return found


def sort_of(x: Value) -> Any:
    """The part of an argument that decides on the kind of a result."""
    if x.kind.name == "function":
        return type(x.kind.tag.value) if isinstance(x.kind.tag, Known) else None
    if x.kind.name in CONSTANT:
        cls = CONSTANT[x.kind.name]
        return AnyOf(cls) if x.constant is UNKNOWN else (type(x.constant), x.constant)
    return spelled(x.kind)


def spelled(kind: Kind) -> Kind:
    """The kind without the marks of the reader."""
    if not kind.has_parts:
        return kind
    return replace(kind, dtype="", parts=tuple(map(spelled, kind.parts)))
