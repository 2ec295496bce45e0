"""Names that a function's code reads, and what its cells hold."""

from __future__ import annotations

import dis
import re
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from rules_core._base.by_identity import ByIdentity

from .code_writes import names_written

__all__ = ["Names", "cell_value", "codes", "names_read", "rebinds", "stored_cells"]


class Names(NamedTuple):
    """The names that code reads.

    Attributes:
        variables: Globals and captured variables, each with the attribute read of it.
        attributes: All attributes, names imported from modules, and words in texts.
        modules: The modules that it imports itself.
        rebound: Whether it assigns globals or captured variables.
        stored: The captured variables that it assigns.
        written: Variables and attributes in which it writes.
    """

    variables: frozenset[tuple[str, str | None]]
    attributes: frozenset[str]
    modules: frozenset[str]
    rebound: bool
    stored: frozenset[str]
    written: frozenset[str]


def codes(code: CodeType) -> list[CodeType]:
    """A code object and its nested code objects."""
    nested = [c for c in code.co_consts if isinstance(c, CodeType)]
    return [code, *(inner for c in nested for inner in codes(c))]


def names_read(code: CodeType) -> Names:
    """The names that code and the functions inside it read."""
    found: Names | None = _NAMES.get(code)
    if found is None:
        found = _parsed(code)
        _NAMES.put(code, found)
    return found


def rebinds(f: FunctionType) -> bool:
    """Whether a function assigns globals or variables that it captures."""
    return names_read(f.__code__).rebound


def stored_cells(f: FunctionType) -> frozenset[str]:
    """The captured variables that a function assigns."""
    return names_read(f.__code__).stored


def cell_value(cell: Any) -> Any:
    """What a cell holds; None where it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


_NAMES = ByIdentity()
_READS = frozenset({
    "LOAD_CLASSDEREF", "LOAD_DEREF", "LOAD_FROM_DICT_OR_DEREF",
    "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_GLOBAL", "LOAD_NAME",
})  # fmt: skip
_WORDS = re.compile(r"[^\W\d]\w*")
# With these code reads globals by names that it computes, from texts in it.
_COMPUTING = frozenset({"globals", "eval", "exec", "sys", "importlib", "__import__"})
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"})
_STORES = frozenset({"STORE_DEREF", "DELETE_DEREF"})


def _parsed(code: CodeType) -> Names:
    variables, attributes, modules = set(), set(), set()
    rebound, stored, written = False, set(), frozenset[str]()
    for inner in codes(code):
        written |= names_written(inner)
        steps = list(dis.get_instructions(inner))
        for step, after in zip(steps, [*steps[1:], steps[-1]], strict=True):
            name = step.opname
            if name in _READS:
                attribute = after.argval if after.opname in _ATTRIBUTES else None
                variables.add((step.argval, attribute))
            elif name in _ATTRIBUTES or name == "IMPORT_FROM":
                attributes.add(step.argval)
            elif name == "IMPORT_NAME":
                modules.add(step.argval)
            elif name == "STORE_GLOBAL":
                rebound = True
            elif name in _STORES and step.argval in inner.co_freevars:
                rebound |= name == "STORE_DEREF"
                stored.add(step.argval)
        texts = (c for c in inner.co_consts if isinstance(c, str))
        attributes.update(name for text in texts for name in _WORDS.findall(text))
    if any(name in _COMPUTING for name, _ in variables):
        variables |= {(name, None) for name in attributes}
    read = frozenset(variables), frozenset(attributes), frozenset(modules)
    return Names(*read, rebound, frozenset(stored), written)
