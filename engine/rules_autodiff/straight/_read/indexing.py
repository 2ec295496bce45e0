"""Parts of arrays, read and written."""

import ast
from dataclasses import dataclass
from typing import Any

from rules_autodiff.straight._program.blocks import Pull, Step
from rules_autodiff.straight._program.kinds import INT, NONE, Kind, array
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import Value, bar_of, with_entries
from rules_autodiff.straight._program.written import Scatter

from .part import Part

__all__ = ["Indexing", "Key"]


@dataclass
class Key:
    """The key of an index expression.

    Attributes:
        text: Its text, with a field for each part that is kept.
        parts: What is kept.
        ndim: The number of axes of what it selects.
        view: Whether it selects a view.
        repeated: Whether it may select an entry twice.
    """

    text: str
    parts: list[Value]
    ndim: int
    view: bool
    repeated: bool

    def filled(self) -> str:
        return self.text.format(**{f"k{i}": x.text for i, x in enumerate(self.parts)})


class Indexing(Part):
    """Reads subscripts, and stores to them."""

    def read_subscript(self, node: ast.Subscript) -> Value:
        reader = self.reader
        owner = reader.expressions.read(node.value)
        if owner.kind.has_parts:
            return self.entry(owner, node)
        if owner.kind.name == "many":
            place = reader.expressions.untraced(node.slice)
            return reader.lists.entry_of_list(owner, place)
        if owner.kind.name != "array":
            refuse("a subscript of such a value is not known", node)
        key = self.key(node.slice, owner.kind.ndim)
        if key.ndim == 0 and "..." in key.text:
            refuse("a view without axes, to which may be written", node)
        return self.part(owner, key)

    def part(self, owner: Value, key: Key) -> Value:
        """A part of an array."""
        kind = array(key.ndim, owner.kind.dtype)
        if not (owner.active and kind.is_real):
            text = f"{owner.text}[{key.filled()}]"
            unstable = owner.unstable and key.view
            return Value(text, kind, fresh=not key.view, unstable=unstable)
        key.parts = [self.reader.atom(part) for part in key.parts]
        return self.read_part(owner, key, kind)

    def read_part(self, owner: Value, key: Key, kind: Kind) -> Value:
        """A part of an array, through which a derivative passes."""
        reader = self.reader
        name = reader.temporary()
        step = Step(reader.line, f"{name} = {owner.text}[{key.filled()}]", (name,))
        step.out, step.kind = bar_of(name, kind), kind
        if is_whole(key.text):
            step.pulls = [Pull(owner.bar, owner.kind, "{dz}.reshape({s0})", "s0")]
        else:
            reader.buffer(owner.bar)
            scatter = Scatter(key.text, key.repeated)
            step.pulls = [Pull(owner.bar, owner.kind, scatter, "s0")]
        if reader.tangents.wanted:
            reader.tangents.give(step, reader.tangents.part(owner, key.filled()))
        else:
            self.mean_key(step, owner, key)
        reader.step(step)
        unstable = owner.unstable and key.view and kind.name == "array"
        return Value(
            name, kind, active=True, atom=True, fresh=not key.view, unstable=unstable
        )

    def mean_key(self, step: Step, owner: Value, key: Key) -> None:
        step.before["s0"] = f"{owner.text}.shape"
        for place, part in enumerate(key.parts):
            step.before[f"k{place}"] = self.reader.operations.stable(part).text

    def entry(self, owner: Value, node: ast.Subscript) -> Value:
        """An entry of a row, list or dict, which must be named by a literal."""
        entries: list[Value] = self.reader.variables.entries_of(owner)
        if isinstance(node.slice, ast.Slice):
            return self.part_of_row(owner, node.slice)
        place: Any = self.reader.expressions.settled(node.slice)
        if owner.kind.name == "dict" and place in owner.kind.tag:
            place = owner.kind.tag.index(place)
            return entries[int(place)]
        known = owner.kind.name in ("row", "list") and type(place) is int
        if not known or not -len(entries) <= place < len(entries):
            refuse("an entry of a tuple must be named by a literal", node)
        return entries[int(place)]

    def part_of_row(self, owner: Value, part: ast.Slice) -> Value:
        """A slice of a row or list, with literals as its bounds."""
        ends = [part.lower, part.upper, part.step]
        bounds = [
            None if end is None else self.reader.expressions.settled(end)
            for end in ends
        ]
        plain = all(end is None or type(end) is int for end in bounds)
        if owner.kind.name not in ("row", "list") or not plain or bounds[2] == 0:
            refuse("a slice of a tuple must be of literals", part)
        entries = self.reader.variables.entries_of(owner)[slice(*bounds)]
        return with_entries(owner.kind, entries)

    # keys

    def key(self, node: ast.expr, ndim: int) -> Key:
        """The key of an array with some axes."""
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        if sum(is_dots(part) for part in nodes) > 1:
            refuse("a key with two ellipses", node)
        key = Key("", [], ndim, view=True, repeated=False)
        texts = [self.key_part(part, key, alone=len(nodes) == 1) for part in nodes]
        if key.ndim < 0:
            refuse("a key with too many parts", node)
        alone = len(texts) == 1 and not isinstance(node, ast.Tuple)
        key.text = texts[0] if alone else f"({', '.join(texts)},)"
        if any(":" in text for text in texts):
            key.text = ", ".join(texts) + ("," if isinstance(node, ast.Tuple) else "")
        return key

    def key_part(self, node: ast.expr, key: Key, *, alone: bool) -> str:
        if is_dots(node):
            return "..."
        if isinstance(node, ast.Slice):
            ends = (node.lower, node.upper, node.step)
            texts = ["" if end is None else self.bound(end, key) for end in ends]
            return ":".join(texts[:2]) + (f":{texts[2]}" if node.step else "")
        found = self.reader.expressions.untraced(node)
        if found.kind is NONE:
            key.ndim += 1
            return "None"
        if found.kind is INT:
            key.ndim -= 1
            return self.kept_part(found, key)
        if found.kind.name == "list" and alone and are_places(found.kind):
            return self.listed_part(found, key)
        return self.fancy_part(found, key, node, alone=alone)

    def listed_part(self, x: Value, key: Key) -> str:
        """A list of whole numbers."""
        key.view = False
        places = [entry.constant for entry in self.reader.variables.entries_of(x)]
        known = all(type(place) is int and place >= 0 for place in places)
        key.repeated = not known or len({*places}) < len(places)
        return x.text if known else self.kept_part(x, key)

    def fancy_part(self, x: Value, key: Key, node: ast.AST, *, alone: bool) -> str:
        """A mask of all axes, or an array of whole numbers."""
        if not alone or x.kind.name != "array" or x.kind.dtype not in "?l":
            refuse("a key of such a kind is not known", node)
        key.view = False
        if x.kind.dtype == "?":
            key.ndim += 1 - x.kind.ndim
        else:
            key.ndim += x.kind.ndim - 1
            key.repeated = True
        return self.kept_part(x, key)

    def kept_part(self, x: Value, key: Key) -> str:
        if type(x.constant) is int:
            return x.text
        key.parts.append(x)
        return f"{{k{len(key.parts) - 1}}}"

    def bound(self, node: ast.expr, key: Key) -> str:
        found = self.reader.expressions.untraced(node)
        if found.kind is NONE:
            return ""
        if found.kind is not INT:
            refuse("a bound of a slice must be a whole number", node)
        return self.kept_part(found, key)

    # writes

    def store(self, target: ast.Subscript, value: Value) -> None:
        """`y[key] = value`."""
        reader = self.reader
        if reader.lists.is_list_name(target.value):
            key_of_list = reader.expressions.untraced(target.slice)
            if key_of_list.kind is not INT:
                refuse("an entry of a list is not named by a whole number", target)
            reader.lists.store_entry(target.value.id, key_of_list, value)
            return
        name, key = self.written_part(target)
        owner = reader.variables.variable(name)
        part = array(key.ndim, owner.kind.dtype)
        self.check_stored(part, value, target)
        if owner.kind.dtype == "d" and value.kind.is_real and value.active:
            reader.facts.activate(owner.text)
        if value.unstable and value.kind.name == "array":
            refuse("an array is written into itself", target)
        value = reader.atom(value)
        step = Step(reader.line, f"{owner.text}[{key.filled()}] = {value.text}")
        if owner.text in reader.facts.active and owner.kind.is_real and reader.tracing:
            self.take_part(step, owner, key, part)
            step.cleared = f"{owner.bar}[{key.text}] = 0.0"
            reader.buffer(owner.bar)
            if value.active:
                step.pulls = [self.pull_of_part(step, value, part, owner.bar)]
            reader.tangents.store(step, key.filled(), value)
        reader.step(step)

    def take_part(self, step: Step, owner: Value, key: Key, part: Kind) -> None:
        """Let the cotangent of the step be that of a part of its array."""
        step.out, step.kind = self.reader.note_bar(owner.text, owner.kind), owner.kind
        copied = ".copy()" if part.name == "array" and key.view else ""
        step.taken = f"{step.out}[{key.text}]{copied}"
        for place, kept in enumerate(key.parts):
            if not self.reader.tangents.wanted:
                step.before[f"k{place}"] = self.reader.operations.stable(kept).text

    def pull_of_part(self, step: Step, value: Value, part: Kind, bar: str) -> Pull:
        """The cotangent of what was written."""
        if part.name != "array":
            return Pull(value.bar, value.kind, "{dz}")
        if value.kind.name != "array":
            return Pull(value.bar, value.kind, "summed({dz})")
        step.before["s9"] = f"{value.text}.shape"
        return Pull(value.bar, value.kind, "fit({dz}, {s9})")

    def check_stored(self, part: Kind, value: Value, node: ast.AST) -> None:
        if value.kind.name not in ("real", "int", "bool", "array"):
            refuse("such a value is written into an array", node)
        if part.name != "array" and value.kind.name == "array":
            refuse("an array is written into an entry", node)
        if value.active and not part.is_real:
            refuse("a number is written into an array of whole numbers", node)
        if value.kind.name == "array" and value.kind.ndim > part.ndim:
            refuse("an array with more axes is written", node)

    def written_part(self, target: ast.Subscript) -> tuple[str, Key]:
        """The array that is written to, and the key."""
        reader = self.reader
        if not isinstance(target.value, ast.Name):
            refuse("only named arrays are written to", target)
        name = target.value.id
        if name not in reader.locals or name not in reader.owned:
            what = f"{name}, which is written to, may be seen by another way"
            refuse(what, target)
        kind = reader.variables.variable(name).kind
        key = self.key(target.slice, kind.ndim)
        if key.repeated:
            refuse("a write to entries chosen by numbers", target)
        if reader.tracing:
            key.parts = [reader.atom(part) for part in key.parts]
        return name, key

    def add_to_part(self, target: ast.Subscript, value: Value, sign: str) -> bool:
        """`y[key] += value`, in place; False where that is not the simple case."""
        reader = self.reader
        if reader.lists.is_list_name(target.value):
            return False
        name, key = self.written_part(target)
        owner = reader.variables.variable(name)
        part = array(key.ndim, owner.kind.dtype)
        if owner.kind.dtype != "d" or not key.view or value.kind.name == "row":
            return False
        self.check_stored(part, value, target)
        if value.active:
            reader.facts.activate(owner.text)
        value = reader.atom(value)
        step = Step(reader.line, f"{owner.text}[{key.filled()}] {sign}= {value.text}")
        if owner.text in reader.facts.active and reader.tracing and value.active:
            self.take_part(step, owner, key, part)
            pull = self.pull_of_part(step, value, part, owner.bar)
            pull.text = signed(str(pull.text), sign)
            step.pulls = [pull]
            reader.tangents.store(step, key.filled(), value, sign)
        reader.step(step)
        return True

    def add_to_all(self, name: str, value: Value, sign: str, node: ast.AST) -> None:
        """`y += value` for an array, in place."""
        reader = self.reader
        owner = reader.variables.variable(name)
        if name not in reader.owned:
            what = f"{name}, which is written to, may be seen by another way"
            refuse(what, node)
        self.check_stored(owner.kind, value, node)
        if owner.kind.dtype != "d":
            refuse("an array of whole numbers is added to", node)
        if value.active:
            reader.facts.activate(owner.text)
        value = reader.atom(value)
        step = Step(reader.line, f"{owner.text} {sign}= {value.text}")
        if owner.text in reader.facts.active and reader.tracing and value.active:
            step.out, step.kind = reader.note_bar(owner.text, owner.kind), owner.kind
            step.keeps = True
            reader.buffer(step.out)
            pull = self.pull_of_part(step, value, owner.kind, step.out)
            text = str(pull.text)
            pull.text = signed(
                f"0.0 + {text}" if text != "summed({dz})" else text, sign
            )
            step.pulls = [pull]
            reader.tangents.store(step, "...", value, sign)
        reader.step(step)


def are_places(kind: Kind) -> bool:
    return bool(kind.parts) and all(part is INT for part in kind.parts)


def signed(text: str, sign: str) -> str:
    return f"-({text})" if sign == "-" else text


def is_whole(key: str) -> bool:
    """Whether a key selects every entry in order, and puts in new axes at most."""
    return not key.replace("None", "").strip(":., ()")


def is_dots(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
