"""Names under which code writes to what it did not make: counters, logs and caches.

No call of a function depends on them, so that they may change between two calls.
"""

from __future__ import annotations

import dis
from types import CodeType

__all__ = ["names_written"]

_CHANGING = frozenset({
    "add", "append", "appendleft", "clear", "discard", "extend", "insert",
    "move_to_end", "pop", "popitem", "popleft", "remove", "reverse", "setdefault",
    "sort", "update", "write",
})  # fmt: skip
_OUTSIDE = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"})
_FAST = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"})
# Two of them in one, as Python 3.13 and 3.14 write.
_TWO_FAST = frozenset({
    "LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
})  # fmt: skip
_NOTHING = frozenset({
    "CACHE", "COPY_FREE_VARS", "EXTENDED_ARG", "KW_NAMES", "MAKE_CELL", "NOP",
    "NOT_TAKEN", "RESUME",
})  # fmt: skip
_TAKING = ("PRECALL", "STORE_", "DELETE_", "POP_", "RETURN_", "RAISE_")


def names_written(code: CodeType) -> frozenset[str]:
    """Variables from outside, and attributes, in which this code alone writes.

    `n` for `n += 1` where that is global or captured, `seen` for `seen.append(x)` and
    `self.seen[0] = x`; nothing for items of local variables and arguments.
    """
    scan = _Scan(code)
    for step in dis.get_instructions(code):
        scan.step(step)
    return frozenset(scan.written)


# A value on Python's stack: the name by which it was reached, unless it is local.
Origin = str | None
_ARGUMENT = ""  # an argument, of which attributes may be written


class _Scan:
    """Python's stack along the code; values that branches leave there are unknown."""

    def __init__(self, code: CodeType) -> None:
        self.arguments = frozenset(code.co_varnames[: code.co_argcount])
        self.own = frozenset(code.co_cellvars)
        self.stack: list[Origin] = []
        self.written: set[str] = set()

    def pop(self, count: int = 1) -> list[Origin]:
        """The last values, the last one first."""
        return [self.stack.pop() if self.stack else None for _ in range(count)]

    def step(self, step: dis.Instruction) -> None:
        name, value = step.opname, step.argval
        effect = dis.stack_effect(step.opcode, step.arg, jump=False)
        if name in _OUTSIDE:
            origin = None if value in self.own else value
            self.stack += [origin] * effect
        elif name in _FAST:
            self.stack.append(self.local(value))
        elif name in _TWO_FAST:
            self.stack += map(self.local, value)
        elif name == "STORE_FAST_LOAD_FAST":
            self.pop()
            self.stack.append(self.local(value[1]))
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            self.attribute(value, effect)
        elif name == "COPY":
            self.stack.append(self.at(step.arg or 1))
        elif name == "SWAP":
            self.swap(step.arg or 1)
        elif name == "BINARY_SUBSCR":
            _, container = self.pop(2)
            self.stack.append(container)
        elif name in ("STORE_SUBSCR", "DELETE_SUBSCR"):
            self.note(self.at(2))
            self.pop(-effect)
        elif name == "STORE_ATTR":
            self.note(None if self.at(1) is None else value)
            self.pop(2)
        elif name in ("STORE_GLOBAL", "STORE_DEREF"):
            self.note(None if value in self.own else value)
            self.pop()
        elif name not in _NOTHING:
            self.other(name, effect)

    def local(self, name: str) -> Origin:
        return _ARGUMENT if name in self.arguments else None

    def attribute(self, name: str, effect: int) -> None:
        (owner,) = self.pop()
        if name in _CHANGING:
            self.note(owner)
        self.stack += [None if owner is None else name] * (effect + 1)

    def other(self, name: str, effect: int) -> None:
        """Any other instruction leaves values of its own."""
        taking = name.startswith(_TAKING)
        self.pop(-effect if taking else max(1 - effect, 0))
        if not taking:
            self.stack += [None] * max(effect, 1)

    def at(self, place: int) -> Origin:
        """The value at a place from the end."""
        return self.stack[-place] if place <= len(self.stack) else None

    def swap(self, place: int) -> None:
        if place <= len(self.stack):
            self.stack[-1], self.stack[-place] = self.stack[-place], self.stack[-1]

    def note(self, origin: Origin) -> None:
        if origin:
            self.written.add(origin)
