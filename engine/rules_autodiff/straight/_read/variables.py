"""Variables of a program: what they hold, and what gives them a value."""

import ast
from dataclasses import replace
from typing import Any

from rules_autodiff.straight._program.blocks import Pull, Step
from rules_autodiff.straight._program.kinds import INT, MIXED, REAL, TEXT, Kind
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import (
    Closure,
    Known,
    Local,
    Value,
    bar_of,
    with_entries,
)
from rules_autodiff.straight._program.words import variable_in_words

from .part import Part

__all__ = ["Variables", "has_locals", "is_temporary", "row_of"]


class Variables(Part):
    """Reads and assigns variables."""

    def assign(self, name: str, value: Value) -> None:
        """Give a variable a value."""
        reader = self.reader
        if reader.lists.assign(name, value):
            return
        own = reader.own(name)
        if value.kind.name == "object":
            self.own_object(name, value)
        if value.entries is not None:
            self.check_functions(name, value)
            self.assign_row(name, value)
            return
        array = value.kind.name == "array"
        if array and value.unstable:
            refuse(f"{spoken(name)} would be a view of an array that is written to")
        keep = array and name in reader.written
        if keep and value.fresh:
            reader.owned.add(name)
        else:
            reader.owned.discard(name)
        active = reader.tracing and value.active
        if active:
            reader.facts.activate(own)
        carried = REAL if value.kind is INT else value.kind  # as loops join them
        if own in reader.facts.active and carried.is_real:
            self.assign_active(own, value, carried, written=keep)
        else:
            reader.step(Step(reader.line, f"{own} = {value.text}", (own,)))
        reader.kinds[name] = value.kind
        floats = value.kind.dtype == "d"
        if floats and name in reader.owned and own in reader.facts.active:
            # A number may be a whole one, and so may an array that is made of it.
            reader.step(Step(reader.line, f"floating({own})"))

    def own_object(self, name: str, value: Value) -> None:
        """Note whether an instance has one name, as it must if it changes."""
        if value.unstable:
            refuse(
                f"{spoken(name)} would be a second name for an instance that changes"
            )
        owned = self.reader.owned
        owned.add(name) if value.fresh else owned.discard(name)

    def assign_active(
        self, own: str, value: Value, kind: Kind, *, written: bool
    ) -> None:
        reader = self.reader
        bar = reader.note_bar(own, kind)
        last = reader.block.steps[-1] if reader.block and reader.block.steps else None
        made = value.active and last is not None and last.assigns == (value.text,)
        if last and made and is_temporary(value.text) and not last.calls:
            self.rename(last, value.text, own, bar, written=written)
            return
        # What a step has made may be kept for its way back.
        copied = ".copy()" if written and value.active and value.fresh else ""
        step = Step(reader.line, f"{own} = {value.text}{copied}", (own,), bar, kind)
        if value.active:
            step.pulls = [Pull(value.bar, kind, "{dz}")]
        # Zeros are made in the shape of what is assigned.
        tangent = reader.tangents.dot(
            value if value.active else replace(value, text=own)
        )
        reader.tangents.give(step, tangent, late=True)
        reader.step(step)

    def rename(
        self, step: Step, old: str, own: str, bar: str, *, written: bool
    ) -> None:
        """Let the last step assign a variable, in place of a temporary name."""
        reader = self.reader
        if written and "z" in step.after:
            step.text = f"{old} = {step.text.partition(' = ')[2]}"
            reader.step(
                Step(
                    reader.line,
                    f"{own} = {old}.copy()",
                    (own,),
                    bar,
                    step.kind,
                    [Pull(step.out, step.kind or Kind(""), "{dz}")],
                )
            )
            return
        step.text = f"{own} = {step.text.partition(' = ')[2]}"
        step.assigns, step.out = (own,), bar
        reader.assigned.add(own)
        step.after = {key: text.replace(old, own) for key, text in step.after.items()}

    def check_functions(self, name: str, value: Value) -> None:
        """See that a local function has one name: what it reads is looked up late."""
        if isinstance(value.kind.tag, Local):
            if not value.fresh:
                refuse(f"{spoken(name)} would be a second name for a local function")
        elif has_locals(value):
            refuse("a local function is put away")

    def assign_row(self, name: str, value: Value) -> None:
        """A container of known values: a variable for each."""
        reader = self.reader
        entries = value.entries or ()
        if any(f"{name}__" in entry.text for entry in entries):  # s = (s[1], s[0])
            entries = tuple(map(self.named, entries))
        for place, entry in enumerate(entries):
            self.assign(f"{name}__{place}", entry)
        names = [f"{name}__{place}" for place in range(len(entries))]
        parts = tuple(reader.kinds[part] for part in names)
        reader.kinds[name] = replace(value.kind, parts=parts, dtype="entries")
        reader.locals.update(names)

    def variable(self, name: str) -> Value:
        """The value of a variable of the function."""
        reader = self.reader
        kind = reader.kinds.get(name)
        if kind is None or kind is MIXED:
            refuse(f"the kind of {spoken(name)} is not the same on all ways to here")
        if kind.dtype == "entries":
            entries = [self.variable(f"{name}__{i}") for i in range(len(kind.parts))]
            changes = kind.name == "object" and name in reader.facts.changing
            return replace(with_entries(kind, entries), unstable=changes)
        if name in reader.fixed:
            return reader.fixed[name]
        own = reader.own(name)
        carries = kind.is_real or kind.name == "many"
        active = reader.tracing and own in reader.facts.active and carries
        if active:
            reader.note_bar(own, kind)
        unstable = name in reader.owned and name in reader.written
        return Value(own, kind, active, atom=True, unstable=unstable)

    def read_name(self, node: ast.Name) -> Any:
        return self.name_value(node.id)

    def name_value(self, name: str) -> Any:
        """The meaning of a name: a `Value`, a `Local`, or something `Known`."""
        reader = self.reader
        if reader.closure is not None and name not in reader.locals:
            inner = self.known_inside(reader.closure, name)
            if inner is not None:
                return inner
        if name in reader.locals:
            kind = reader.kinds.get(name)
            function = kind is not None and kind.name == "function"
            if kind and function and isinstance(kind.tag, Known | Local):
                return kind.tag
            return self.variable(name)
        found = reader.captures.of_name(reader.function, reader.place, name)
        if isinstance(found, Known):
            return found
        return reader.captured_value(name, *found)

    def known_inside(self, kind: Kind, name: str) -> Any:
        """The meaning of a name in a local function: another function, or itself."""
        closure: Closure = kind.tag
        if name in closure.own:
            return with_entries(kind, [self.variable(n) for n in closure.names])
        return dict(closure.known).get(name)

    def entries_of(self, value: Value) -> list[Value]:
        """The entries of what is put together, one by one."""
        if not value.kind.has_parts:
            refuse("only what is of known length is taken apart")
        if value.entries is not None:
            return list(value.entries)
        keys = value.kind.tag or range(len(value.kind.parts))
        pairs = zip(keys, value.kind.parts, strict=True)
        return [Value(f"{value.text}[{key!r}]", kind) for key, kind in pairs]

    def iterated(self, value: Value) -> list[Value]:
        """The items of a loop over something of known length."""
        if value.kind.name == "dict":
            return [key_value(key) for key in value.kind.tag]
        if value.kind.name in ("function", "object"):
            refuse("a function or an instance is taken apart")
        return self.entries_of(value)

    def entered(self, value: Value) -> Value:
        """The value with its entries, and with the entries of those."""
        if not value.kind.has_parts:
            return value
        return with_entries(value.kind, [*map(self.entered, self.entries_of(value))])

    def bind(self, name: str, kind: Kind) -> list[tuple[str, Kind]]:
        """Give a parameter its kind; the variables that it is spread over."""
        self.reader.kinds[name] = kind
        self.reader.locals.add(name)
        if kind.dtype != "entries":
            return [(name, kind)]
        parts = [self.bind(f"{name}__{i}", part) for i, part in enumerate(kind.parts)]
        return [leaf for part in parts for leaf in part]

    def named(self, value: Value) -> Value:
        """The value under a name of its own, which assignments do not change."""
        reader = self.reader
        if value.unstable and value.kind.name == "object":
            refuse("a second name for an instance that changes")
        if value.entries is not None:
            named = [*map(self.named, value.entries)]
            return with_entries(value.kind, named) if named else value
        if value.constant is not ... or value.text in reader.captured:
            return value
        if value.kind.name == "many":
            refuse("a second name for a list")
        if value.kind.name == "array" and value.unstable:
            refuse("a second name for an array that is written to")
        # It may have several uses: no step is renamed to them.
        name = reader.temporary("m")
        step = Step(reader.line, f"{name} = {value.text}", (name,))
        if value.active:
            step.out, step.kind = bar_of(name, value.kind), value.kind
            step.pulls = [Pull(value.bar, value.kind, "{dz}")]
            reader.tangents.give(step, reader.tangents.dot(value))
        reader.step(step)
        fresh = value.fresh and not value.atom
        return Value(name, value.kind, value.active, atom=True, fresh=fresh)


def spoken(name: str) -> str:
    return variable_in_words(name) or "a value"


def is_temporary(text: str) -> bool:
    """Whether a name stands for the result of a step, and for nothing else."""
    return text[:2] == "__" and text[2:3].isdigit()


def has_locals(value: Value) -> bool:
    """Whether a value is, or holds, a function that is defined in this one."""
    if isinstance(value.kind.tag, Local):
        return True
    return any(map(has_locals, value.entries or ()))


def key_value(key: str | int) -> Value:
    kind = TEXT if type(key) is str else INT
    return Value(repr(key), kind, constant=key, atom=True)


def row_of(entries: list[Value]) -> Value:
    """A row of values."""
    return with_entries(Kind("row"), entries)
