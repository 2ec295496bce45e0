"""Lists that a program fills: their entries are of one kind, their length is not known.

The cotangent of a list is a list of cotangents, as long as the list was at that place;
0.0 stands for an entry's, and for the whole list's, as long as it is zero.
"""

import ast
from typing import Any, TypeGuard

from rules_autodiff.straight._program.blocks import Pull, Step
from rules_autodiff.straight._program.kinds import INT, REAL, Kind, array, join
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import Value, bar_of, dot_of
from rules_autodiff.straight._program.words import variable_in_words
from rules_autodiff.straight._program.written import Scatter

from .part import Part

__all__ = ["Lists", "many"]

ENTRIES = frozenset({"real", "int", "bool", "array"})


def many(*kinds: Kind) -> Kind:
    """The kind of lists with such entries; of one kind, or none yet."""
    found = kinds[:1]
    for kind in kinds[1:]:
        both = join(found[0], kind)
        if both is None:
            refuse("a list with entries of several kinds is filled")
        found = (both,)
    if any(kind.name not in ENTRIES for kind in found):
        refuse("a list is filled with such entries")
    return Kind("many", parts=found)


class Lists(Part):
    """Makes lists, fills and reads them."""

    def repeated(self, entries: list[Value], count: Value) -> Value:
        """`[v] * n`, of entries without derivatives."""
        if any(x.active for x in entries):
            refuse("a list repeats what carries a derivative")
        held = [self.entry_to_hold(x) for x in entries]
        text = f"([{', '.join(x.text for x in held)}] * {count.text})"
        return Value(text, many(*[x.kind for x in held]), fresh=True)

    def assign(self, name: str, value: Value) -> bool:
        """Give a variable a list that the program fills; False for another value."""
        spelled = value.kind.name == "list" and name in self.reader.facts.grown
        if not spelled and value.kind.name != "many":
            return False
        if not value.fresh:
            refuse(f"{variable_in_words(name)} would be a second name for a list")
        if spelled:
            self.gather(name, value)
        else:
            pulls = [Pull(value.bar, value.kind, "{dz}")] if value.active else []
            tangent = dot_of(value.bar) if value.active else ""
            self.hold(name, value.text, value.kind, pulls, tangent)
        return True

    def gather(self, name: str, value: Value) -> None:
        """A list with its first entries."""
        entries = [
            self.entry_to_hold(x) for x in self.reader.variables.entries_of(value)
        ]
        kind = many(*[x.kind for x in entries])
        pairs = enumerate(entries)
        pulls = [
            Pull(x.bar, x.kind, f"{{dz}}[{i}]", loose=True)
            for i, x in pairs
            if x.active
        ]
        text = f"[{', '.join(x.text for x in entries)}]"
        tangent = f"[{', '.join(map(self.reader.tangents.dot, entries))}]"
        self.hold(name, text, kind, pulls, tangent)

    def hold(
        self, name: str, text: str, kind: Kind, pulls: list[Pull], tangent: str = ""
    ) -> None:
        """Let a variable name a new list."""
        reader = self.reader
        own = reader.own(name)
        if pulls:
            reader.facts.activate(own)
        step = Step(reader.line, f"{own} = {text}", (own,), pulls=pulls)
        if own in reader.facts.active:
            step.out, step.kind = reader.note_bar(own, kind), kind
            zeros = reader.tangents.zeros_of_list(own)
            reader.tangents.give(step, tangent or zeros, late=True)
        reader.step(step)
        reader.owned.add(name)
        reader.kinds[name] = kind

    def entry_to_hold(self, x: Value) -> Value:
        """A value as the entry of a list, which shows no later writes to it."""
        if x.kind.name not in ENTRIES:
            refuse("a list is filled with such entries")
        if x.kind.name == "array" and x.unstable:
            refuse("an array that is written to becomes the entry of a list")
        return self.reader.atom(x)

    def append(self, name: str, value: Value) -> None:
        """`out.append(v)`."""
        out, x = self.filled_list(name), self.entry_to_hold(value)
        step = Step(self.reader.line, f"{out.text}.append({x.text})")
        self.take_entry(step, name, out, x, "pop()", "pop()")
        if step.out:
            self.reader.tangents.change(step, f".append({self.reader.tangents.dot(x)})")
        self.reader.step(step)

    def store_entry(self, name: str, key: Value, value: Value) -> None:
        """`out[i] = v`."""
        reader = self.reader
        out, x = self.filled_list(name), self.entry_to_hold(value)
        key = reader.atom(key)
        step = Step(reader.line, f"{out.text}[{key.text}] = {x.text}")
        step.before["k0"] = key.text
        self.take_entry(step, name, out, x, "[{k0}]", "[{k0}] = 0.0")
        if step.out:
            reader.tangents.change(step, f"[{key.text}] = {reader.tangents.dot(x)}")
        reader.step(step)

    def take_entry(
        self, step: Step, name: str, out: Value, x: Value, taken: str, cleared: str
    ) -> None:
        """Let a step take the cotangent of an entry, and put zero in its place."""
        reader = self.reader
        if not reader.tracing:
            refuse("a test fills a list")
        reader.kinds[name] = many(*out.kind.parts, x.kind)
        if x.active:
            reader.facts.activate(out.text)
        if out.text not in reader.facts.active:
            step.before.clear()
            return
        step.out, step.kind = reader.note_bar(out.text, out.kind), out.kind
        dot = "." if taken == "pop()" else ""
        step.taken = f"{step.out}{dot}{taken}"
        if x.active:
            step.pulls = [Pull(x.bar, x.kind, "{dz}", loose=True)]
        if not (x.active and dot):  # `pop` takes and clears at once
            step.cleared = f"{step.out}{dot}{cleared}"

    def filled_list(self, name: str) -> Value:
        """A list of the function's own."""
        out = self.reader.variables.variable(name)
        if out.kind.name != "many" or name not in self.reader.owned:
            told = variable_in_words(name)
            refuse(f"{told} is no list that is made in the same function")
        return out

    def length(self, out: Value) -> Value:
        """The number of entries, under a name."""
        reader = self.reader
        name = reader.temporary()
        reader.step(Step(reader.line, f"{name} = len({out.text})", (name,)))
        return Value(name, INT, atom=True)

    def entry_kind(self, out: Value) -> Kind:
        if not out.kind.parts:
            refuse("an empty list is read")
        return out.kind.parts[0]

    def entry_of_list(self, out: Value, key: Value) -> Value:
        """`out[i]`."""
        kind = self.entry_kind(out)
        if key.kind is not INT:
            refuse("an entry of a list is not named by a whole number")
        if not (self.reader.tracing and out.active and kind.is_real):
            return Value(f"{out.text}[{key.text}]", kind)
        key = self.reader.atom(key)
        entry = f"[{key.text}]"
        text, tangent = f"{out.text}{entry}", f"{dot_of(out.bar)}{entry}"
        return self.drawn(out, kind, text, Scatter("{k0}"), tangent, key)

    def drawn(
        self,
        out: Value,
        kind: Kind,
        text: str,
        pull: Any,
        tangent: str,
        key: Value | None = None,
    ) -> Value:
        """A value that is made of a list, with its cotangent for that."""
        reader = self.reader
        name = reader.temporary()
        step = Step(reader.line, f"{name} = {text}", (name,), bar_of(name, kind), kind)
        reader.tangents.give(step, tangent)
        step.before["s0"] = "" if reader.tangents.wanted else self.length(out).text
        if key is not None:
            step.before["k0"] = key.text
        step.pulls = [Pull(out.bar, out.kind, pull, "s0")]
        reader.step(step)
        return Value(name, kind, active=True, atom=True, fresh=key is None)

    def as_array(self, out: Value) -> Value:
        """A list as the array that NumPy makes of it."""
        kind = self.entry_kind(out)
        if kind.dtype not in ("", "d") or kind.name == "bool":
            refuse("an array of a list of such entries")
        whole = array(kind.ndim + 1, "l" if kind is INT else "d")
        text = f"array_of({out.text}, {'int64' if kind is INT else 'double'})"
        if not (self.reader.tracing and out.active and kind.is_real):
            return Value(text, whole, fresh=True)
        return self.drawn(
            out, whole, text, "list({dz})", f"np_array({dot_of(out.bar)})"
        )

    def sum_of_list(self, out: Value) -> Value:
        """`sum(out)`."""
        kind = self.entry_kind(out)
        if kind not in (REAL, INT):
            refuse("the sum of a list of arrays")
        text = f"sum({out.text})"
        if not (self.reader.tracing and out.active):
            return Value(text, kind)
        return self.drawn(out, kind, text, "[{dz}] * {s0}", f"sum({dot_of(out.bar)})")

    def is_list_name(self, node: ast.AST) -> TypeGuard[ast.Name]:
        """Whether an expression is the name of a list that the program fills."""
        if not isinstance(node, ast.Name) or node.id not in self.reader.locals:
            return False
        return self.reader.kinds.get(node.id, INT).name == "many"
