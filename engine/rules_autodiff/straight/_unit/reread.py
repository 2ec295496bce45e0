"""Generated code in forward mode as a program, which is differentiated in its turn."""

import re
from collections.abc import Iterator
from itertools import count
from types import FunctionType
from weakref import finalize

from rules_autodiff._python.generated_source import forget_source, keep_source
from rules_autodiff.straight._program.kinds import TANGENT
from rules_autodiff.straight._program.refused import REREAD

from .unit import Unit, execute

__all__ = ["program_of"]

NUMBERS = count(1)
PART = re.compile(r" *(__\d+)(_dots)? = \w+\[.*\]")
CHECKS = ("floating(", "of_length(", "apart(")  # which hold at each call of the code


def program_of(unit: Unit, arguments: int, dots: int) -> FunctionType:
    """The tangent of a value as a function of arguments, captured values and tangents.

    Args:
        unit: Code in forward mode, with one result.
        arguments: How many arguments the program has.
        dots: How many of them have tangents.
    """
    names = [f"x{i}" for i in range(arguments)]
    given = ", ".join([*names, "caps", *[f"dx{i}" for i in range(dots)]])
    top = [
        f"def tangent({given}):",
        f"    value, tangents = {plain(unit.name)}({given})",
        "    return tangents[0]",
    ]
    lines = [*readable_lines(unit)]
    text = "\n".join([*[line for line, _ in lines], *top])
    namespace = {plain(name): value for name, value in unit.namespace.items()}
    namespace["__name__"] = unit.namespace["__name__"]
    filename = f"{TANGENT}{next(NUMBERS)}>"
    keep_source(filename, text)
    REREAD[filename] = [place for _, place in lines]
    execute(text, filename, namespace)
    made: FunctionType = namespace["tangent"]
    finalize(made, forget_source, filename)
    finalize(made, REREAD.pop, filename, None)
    return made


def readable_lines(unit: Unit) -> Iterator[tuple[str, tuple[str, str, int]]]:
    """Lines without the checks, and without names that programs do not have.

    Each comes with its place in the program.
    """
    for text in unit.sources:
        first = unit.text[: unit.text.index(text)].count("\n")
        for i, line in enumerate(text.splitlines(), first):
            if not line.lstrip().startswith(CHECKS):
                yield plain(apart(line, text)), unit.places[i]


def apart(line: str, text: str) -> str:
    """A line that names a part of an array: of a copy, which may be written to."""
    match = PART.fullmatch(line)
    is_array = match and (match[2] or f"{match[1]}_dots" in text)
    return f"{line}.copy()" if is_array else line


def plain(name: str) -> str:
    return name.replace("__", "_0_")
