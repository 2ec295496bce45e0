"""Text from blocks: the forward function and the reverse function."""

import ast
import re
from dataclasses import dataclass, field, replace
from functools import cache

from rules_autodiff.straight._program.blocks import (
    Block,
    Line,
    Pull,
    Return,
    Step,
    as_row,
    filled,
)
from rules_autodiff.straight._program.kinds import Kind
from rules_autodiff.straight._program.written import Scatter

from .folding import folded
from .strong_zeros import strictly

__all__ = ["Writer"]

LITERAL = re.compile(r"[-(]*[\d.]|None|True|False|['\"]")
CONSTANT_FACTOR = re.compile(r"^strong_product\((\w+), lambda: (-?[\d.]+)\)$")
TEMPORARY = re.compile(r"__\d")
MEMORY = frozenset({"array", "many"})  # with cotangents that may be 0.0
ZERO, SET, MAYBE = "zero", "set", "maybe"  # states of a cotangent


@dataclass
class Writer:
    """The text of one function, forward and backward.

    Attributes:
        name: Its name in generated code.
        parameters: The names of the arguments.
        captured: The names of captured values with their places in `caps`.
        items: Lines and blocks in the order of the program.
        invariant: Names that are assigned once, before everything else.
        buffered: Cotangents that are added to in place, in their own memory.
        bars: The cotangents of variables.
        results: The cotangents of the results.
        wanted: The needed cotangents of the arguments.
        branches: Whether there is any control flow.
        strict: Whether products ask for strong zeros.
    """

    name: str
    parameters: list[str]
    captured: dict[str, int]
    items: list[Line | Block | Return]
    invariant: set[str]
    buffered: set[str]
    bars: dict[str, Kind | None]
    results: list[tuple[str, Kind]]
    wanted: list[str]
    branches: bool
    strict: bool = False
    header: list[str] = field(default_factory=list)
    forward: list[tuple[str, int]] = field(default_factory=list)
    backward: list[tuple[str, int]] = field(default_factory=list)
    meanings: dict[int, list[dict[str, str]]] = field(default_factory=dict)
    copies: int = 0
    private: set[str] = field(default_factory=set)

    def write(self) -> None:
        """Fill `forward` and `backward`: text with the lines of the user's file."""
        body: list[tuple[str, int]] = []
        saves: dict[int, list[str]] = {}
        for item in self.items:
            if isinstance(item, Block):
                saves[item.number] = self.write_block(item, body)
            elif isinstance(item, Line):
                body.append((indented(item.indent, item.text), item.line))
            else:
                body.append(("", -1))
                self.returns.append((len(body) - 1, item))
        for place, item in self.returns:
            residuals = [*self.header]
            if self.branches:
                residuals.insert(0, "__trail")
            elif item.block is not None:
                residuals += saves.get(item.block.number, [])
            text = f"return {item.text}, {as_row(residuals)}"
            body[place] = (indented(item.indent, text), item.line)
        self.forward = [
            (f"def {self.name}({', '.join([*self.parameters, 'caps'])}):", 0)
        ]
        for name, place in self.captured.items():
            self.forward.append((indented(1, f"{name} = caps[{place}]"), 0))
        if self.branches:
            self.forward.append((indented(1, "__trail = []"), 0))
            self.forward.append((indented(1, "__push = __trail.append"), 0))
        self.forward += folded(body)
        self.write_reverse()

    def __post_init__(self) -> None:
        self.returns: list[tuple[int, Return]] = []

    # forward

    def write_block(self, block: Block, body: list[tuple[str, int]]) -> list[str]:
        """The lines of a block; its residuals, as texts."""
        residuals: dict[str, str] = {}  # by name in the reverse code
        meanings: list[dict[str, str]] = []
        copied: dict[tuple[str, int], str] = {}
        for place, step in enumerate(block.steps):
            before: list[str] = []
            after: list[str] = []
            meaning: dict[str, str] = {}
            for name in step.fields if step.out else ():
                late = name in step.after
                text = step.after[name] if late else step.before[name]
                until = next_write(text, block.steps, place + late)
                lines = after if late else before
                if (text, until) in copied:
                    meaning[name] = copied[text, until]
                    continue
                meaning[name] = self.kept(text, until, residuals, lines)
                copied[text, until] = meaning[name]
            meanings.append(meaning)
            texts = [*before, *([step.text] if step.text else ()), *after]
            body += [(indented(block.indent, text), step.line) for text in texts]
        self.meanings[block.number] = meanings
        block.saved = list(residuals)
        if self.branches and block.is_active:
            note = as_row([str(block.number), *residuals.values()])
            last = block.steps[-1].line
            body.append((indented(block.indent, f"__push({note})"), last))
        return list(residuals.values())

    def kept(
        self, text: str, until: int, kept: dict[str, str], lines: list[str]
    ) -> str:
        """The name in the reverse code of a text at this place."""
        if LITERAL.match(text):
            return text
        base, _, attribute = text.partition(".")
        if base in self.invariant:
            if base not in self.header:
                self.header.append(base)
            return text
        if until >= 0:
            self.copies += 1
            name = f"__k{self.copies}"
            lines.append(f"{name} = {text}")
            kept[name] = name
            return name
        name = f"{base}__{attribute}" if attribute else base
        kept[name] = text
        return name

    # reverse

    def write_reverse(self) -> None:
        blocks = [b for b in self.items if isinstance(b, Block) and b.is_active]
        names = [bar for bar, _ in self.results]
        dy = names[0] if len(names) == 1 else "__dy"
        lines = [(f"def {self.name}_back(__kept, {dy}):", 0)]
        if len(names) > 1:
            lines.append((indented(1, f"{as_row(names)} = __dy"), 0))
        row = [*(["__trail"] if self.branches else []), *self.header]
        own = [] if self.branches else [name for b in blocks for name in b.saved]
        if row or own:
            lines.append((indented(1, f"{as_row([*row, *own])} = __kept"), 0))
        self.bars = {**all_bars(blocks), **self.bars}
        self.private = private_bars(blocks) - {*names, *self.wanted}
        others = {bar for bar, _ in self.results} | self.private
        lines += [
            (indented(1, f"{bar} = 0.0"), 0) for bar in self.bars if bar not in others
        ]
        if self.branches:
            lines += self.dispatch(blocks)
        else:
            for block in blocks:
                lines += BlockReverse(self, block, 1).write()
        lines.append((indented(1, f"return {as_row(self.wanted)}"), 0))
        self.backward = lines

    def dispatch(self, blocks: list[Block]) -> list[tuple[str, int]]:
        """The loop over the records, inner blocks first."""
        if not blocks:
            return []
        lines = [(indented(1, "for __note in reversed(__trail):"), 0)]
        ordered = sorted(blocks, key=lambda b: -b.depth)
        single = len(ordered) == 1
        if not single:
            lines.append((indented(2, "__number = __note[0]"), 0))
        for place, block in enumerate(ordered):
            depth = 2
            if not single:
                word = "if" if place == 0 else "elif"
                head = indented(2, f"{word} __number == {block.number}:")
                lines.append((head, 0))
                depth = 3
            if block.saved:
                row = as_row(["_", *block.saved])
                lines.append((indented(depth, f"{row} = __note"), 0))
            lines += BlockReverse(self, block, depth).write() or [
                (indented(depth, "pass"), 0)
            ]
        return lines


def strict_pull(pull: Pull) -> Pull:
    """A cotangent whose products ask for strong zeros."""
    if isinstance(pull.text, Scatter):
        value = strictly(pull.text.value)
        return replace(pull, text=replace(pull.text, value=value))
    return replace(pull, text=strictly(pull.text))


@cache
def is_computed(text: str) -> bool:
    """Whether the value of an expression is new memory: what an operator gives."""
    node = ast.parse(text, mode="eval").body
    return isinstance(node, ast.BinOp | ast.UnaryOp)


class BlockReverse:
    """The backward pass through one block."""

    def __init__(self, writer: Writer, block: Block, indent: int):
        self.writer, self.block, self.indent = writer, block, indent
        self.lines: list[tuple[str, int]] = []
        self.line = 0  # of the user's file
        self.states: dict[str, str] = {}
        self.guarded = 0
        self.empty: set[str] = set()  # cotangents set to zero just before a guard
        single = not writer.branches
        for bar, kind in writer.results:
            self.states[bar] = MAYBE if kind.name == "array" else SET
        for bar in writer.bars:
            zero = single or bar in writer.private
            self.states.setdefault(bar, ZERO if zero else MAYBE)
        self.untouched = dict(self.states)

    def write(self) -> list[tuple[str, int]]:
        meanings = self.writer.meanings[self.block.number]
        for step, meaning in zip(
            reversed(self.block.steps), reversed(meanings), strict=True
        ):
            if step.out:
                self.line = step.line
                self.write_step(step, meaning)
        outs, results = {step.out for step in self.block.steps}, self.writer.wanted
        for bar in self.writer.bars:
            needed = self.untouched[bar] != ZERO or bar in outs.intersection(results)
            if self.states[bar] == ZERO and needed:
                self.put(f"{bar} = 0.0")
        return self.lines

    def put(self, text: str) -> None:
        self.lines.append((indented(self.indent + self.guarded, text), self.line))

    def state(self, bar: str) -> str:
        return self.states.get(bar, ZERO)

    def write_step(self, step: Step, meaning: dict[str, str]) -> None:
        if step.calls:
            self.write_call(step, meaning)
            return
        state = self.state(step.out)
        if state == ZERO:
            return
        if not step.pulls and not step.taken:
            self.states[step.out] = ZERO
            return
        guarded = state == MAYBE and (
            (step.kind is not None and step.kind.name in MEMORY) or bool(step.taken)
        )
        dz = self.take(step, meaning, guarded)
        for pull in step.pulls:
            self.give(pull, {**meaning, "dz": dz})
        self.guarded = 0
        self.empty.clear()
        if dz == step.out and not (step.keeps or step.taken):
            self.drop(step)

    def drop(self, step: Step) -> None:
        """Free a large array before the next one is made."""
        if step.kind is None or step.kind.name != "array" or self.block.depth:
            return
        is_result = step.out in self.writer.wanted
        self.put(f"{step.out} = 0.0" if is_result else f"del {step.out}")

    def take(self, step: Step, meaning: dict[str, str], guarded: bool) -> str:
        """The name of the result's cotangent, which becomes zero."""
        out = step.out
        name = out
        once = TEMPORARY.match(out) and out in self.writer.private
        if not (step.keeps or step.taken or once):
            if any(pull.bar == out for pull in step.pulls):
                self.put(f"__dz = {out}")
                name = "__dz"
            self.states[out] = ZERO
        if guarded:
            for pull in step.pulls:
                if self.state(pull.bar) == ZERO:
                    self.put(f"{pull.bar} = 0.0")
                    self.states[pull.bar] = MAYBE
                    self.empty.add(pull.bar)
            self.put(f"if type({name}) is not float:")
            self.guarded = 1
        if step.taken:
            if step.pulls:
                self.put(f"__dz = {filled(step.taken, meaning)}")
                name = "__dz"
            if step.cleared:
                self.put(filled(step.cleared, meaning))
        return name

    def give(self, pull: Pull, meaning: dict[str, str]) -> None:
        bar, state = pull.bar, self.state(pull.bar)
        if self.writer.strict:
            pull = strict_pull(pull)
        if isinstance(pull.text, Scatter):
            self.scatter(pull, pull.text, meaning)
        elif pull.kind.name == "many":
            text = filled(pull.text, meaning)
            self.put(f"{bar} = {text if state == ZERO else f'listed({bar}, {text})'}")
        else:
            text = CONSTANT_FACTOR.sub(r"\1 * \2", filled(pull.text, meaning))
            text = f"({text})" if " if " in text else text
            first = state == ZERO or bar in self.empty
            if not first:
                strict = self.writer.strict
                text = f"added({bar}, {text})" if strict else f"{bar} + {text}"
            elif bar in self.writer.buffered and not is_computed(text):
                text = f"0.0 + {text}"  # memory of its own
            if text != bar:
                self.put(f"{bar} = {text}")
        self.empty.discard(bar)
        unsure = self.guarded or pull.loose
        self.states[bar] = MAYBE if unsure and state != SET else SET

    def scatter(self, pull: Pull, found: Scatter, meaning: dict[str, str]) -> None:
        bar, state = pull.bar, self.state(pull.bar)
        listed, shape = pull.kind.name == "many", meaning[pull.shape]
        zeros = f"[0.0] * {shape}" if listed else f"np_zeros({shape})"
        if state == ZERO or bar in self.empty:
            self.put(f"{bar} = {zeros}")
            self.empty.discard(bar)
        elif state == MAYBE:
            self.put(f"if type({bar}) is float:")
            self.put(f"    {bar} = {zeros}")
        key, value = filled(found.key, meaning), filled(found.value, meaning)
        if self.writer.strict and not found.repeated:
            self.put(f"{bar}[{key}] = added({bar}[{key}], {value})")
        elif listed:
            self.put(f"{bar}[{key}] = {bar}[{key}] + {value}")
        elif found.repeated:
            add = "scattered" if self.writer.strict else "add_at"
            self.put(f"{add}({bar}, {key}, {value})")
        else:
            self.put(f"{bar}[{key}] += {value}")

    def write_call(self, step: Step, meaning: dict[str, str]) -> None:
        """The backward pass through a function of the program."""
        outs = [(step.out, step.kind), *step.also]
        if all(self.state(bar) == ZERO for bar, _ in outs):
            return
        texts = ["0.0" if self.state(bar) == ZERO else bar for bar, _ in outs]
        dz = texts[0] if len(texts) == 1 else as_row(texts)
        self.put(filled(step.calls, {**meaning, "dz": dz}))
        for bar, _ in outs:
            self.states[bar] = ZERO
        for pull in step.pulls:
            self.give(pull, meaning)
            if pull.kind.name == "array":
                self.states[pull.bar] = MAYBE


def all_bars(blocks: list[Block]) -> dict[str, Kind | None]:
    """The cotangents in blocks, with their kinds."""
    bars: dict[str, Kind | None] = {}
    for step in (step for block in blocks for step in block.steps):
        if step.out:
            bars[step.out] = step.kind
        bars.update(step.also)
        bars.update({pull.bar: pull.kind for pull in step.pulls})
    return bars


def private_bars(blocks: list[Block]) -> set[str]:
    """Cotangents that are local to one block."""
    private: set[str] = set()
    handed: set[str] = set()
    for block in blocks:
        made: set[str] = set()
        for step in block.steps:
            pulled = {pull.bar for pull in step.pulls}
            if step.keeps or step.taken:
                pulled.add(step.out)
            handed |= pulled - made
            if not (step.keeps or step.taken):
                made |= {step.out, *[bar for bar, _ in step.also]}
        private |= made
    return private - handed


def next_write(text: str, steps: list[Step], start: int) -> int:
    """The next step that assigns a name of a text; -1 for none."""
    base = text.partition(".")[0]
    later = range(start, len(steps))
    return next((i for i in later if base in steps[i].assigns), -1)


def indented(indent: int, text: str) -> str:
    return "    " * indent + text
