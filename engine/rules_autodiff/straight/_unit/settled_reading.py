"""One function, read until the kinds in its loops are stable."""

import ast
import copy
from collections import Counter
from types import FunctionType
from typing import Any

from rules_autodiff._lift.source import definition
from rules_autodiff._python.names import mangle
from rules_autodiff.straight._operations.table import METHODS
from rules_autodiff.straight._program.blocks import Return, Step, as_row
from rules_autodiff.straight._program.kinds import REAL, Kind, leaf_kinds
from rules_autodiff.straight._program.refused import Refused, refuse
from rules_autodiff.straight._program.values import UNKNOWN, bar_of, dot_of
from rules_autodiff.straight._program.written import Call
from rules_autodiff.straight._read.parameters import parameters_of
from rules_autodiff.straight._read.reader import Reader
from rules_autodiff.straight._read.statements import NOTHING
from rules_autodiff.straight._read.syntax import (
    appended_names,
    is_stored,
    written_names,
)
from rules_autodiff.straight._read.ways import settled_names
from rules_autodiff.straight._write.tangents import TangentWriter
from rules_autodiff.straight._write.writer import Writer

__all__ = ["made_writer", "read_settled"]

READINGS = 20  # of one function, until the kinds at its loops are stable
SUSPENDED = 0x20 | 0x80 | 0x200  # generators, coroutines


def read_settled(
    first: Reader, kinds: Any, active: Any, closure: Kind | None
) -> Reader:
    """A function, read until no kind changes."""
    node, facts = tree_of(first.function), first.facts
    facts.written = written_names(body_of(node))
    facts.grown = facts.written | appended_names(node)
    names = [n.id for n in ast.walk(node) if is_stored(n)]
    facts.stores = Counter(names)
    for _ in range(READINGS):
        facts.changed = False
        reader = Reader(first.unit, first.function, first.place, facts)
        reader.changing = first.changing
        read_function(reader, node, kinds, active, closure)
        if not facts.changed:
            return reader
    reason = "the kinds at its loops do not settle"
    raise Refused(reason, node)


def tree_of(f: FunctionType) -> Any:
    """The syntax tree of a function of simple parameters."""
    code = f.__code__
    if code.co_flags & SUSPENDED:
        refuse("generators and coroutines")
    if any("__" in name for name in (*code.co_varnames, *code.co_cellvars)):
        refuse("a name with two underscores")
    source = definition(code)
    node = source.node
    if source.owner:
        node = copy.deepcopy(node)
        mangle(node, source.owner)
    return node


def read_function(
    reader: Reader, node: Any, kinds: Any, active: Any, closure: Kind | None
) -> None:
    code = reader.function.__code__
    reader.locals = {*code.co_varnames, *code.co_cellvars}
    reader.line = node.lineno
    reader.written = reader.facts.written
    pairs = [*zip(parameters_of(code), kinds, strict=True)]
    if closure is not None:
        reader.closure = closure
        pairs += zip(closure.tag.names, closure.parts, strict=True)
    for name, kind in pairs:
        reader.parameters += reader.variables.bind(name, kind)
    for place in active:
        name, kind = reader.parameters[place]
        reader.facts.active.add(reader.own(name))
        reader.note_bar(reader.own(name), kind)
    if len(reader.unit.forms) == 1:  # the program itself
        own_arguments(reader, pairs)
    if reader.changing:
        reader.owned.add(reader.changing)
    if reader.statements.body(body_of(node)):
        reader.own_calls.give(NOTHING, node)
    if reader.result is None:
        refuse("it never returns a value", node)


def own_arguments(reader: Reader, pairs: list[Any]) -> None:
    """Copy the arrays that the program writes into: the caller's stay as they are."""
    names = [n for n, k in pairs if k.name == "array" and n in reader.written]
    if not names:
        return
    reader.unit.owning.add(reader.function)
    given = [reader.own(name) for name, _ in reader.parameters]
    for name in names:
        own = reader.own(name)
        others = as_row([other for other in given if other != own])
        reader.step(Step(reader.line, f"reached_alone({own}, {others}, caps)"))
    for name in names:
        x = reader.variables.variable(name)
        copied: Any = METHODS["copy"](Call((x.kind,), (UNKNOWN,)))
        value = reader.operations.apply(copied, [x], "{}.copy('K')")
        reader.variables.assign(name, value)


def body_of(node: Any) -> list[ast.stmt]:
    """The statements of a function; a lambda returns its expression."""
    if isinstance(node, ast.Lambda):
        return [ast.copy_location(ast.Return(node.body), node.body)]
    body: list[ast.stmt] = node.body
    return body


def made_writer(name: str, active: Any, reader: Reader) -> Writer | TangentWriter:
    names = [reader.own(n) for n, _ in reader.parameters]
    kinds = [kind for _, kind in reader.parameters]
    pairs = enumerate(leaf_kinds(reader.result or REAL))
    results = [(f"__result{i}_bar", kind) for i, kind in pairs if kind.is_real]
    if reader.tangents.wanted:
        return TangentWriter(
            name=name,
            parameters=names,
            captured=reader.captured,
            items=reader.items,
            results=[dot_of(bar) for bar, _ in results],
            dots=[dot_of(bar_of(names[i], kinds[i])) for i in active],
            zeros=[
                (dot_of(bar_of(own, kind)), reader.tangents.zero(kind, own))
                for i, (own, kind) in enumerate(zip(names, kinds, strict=True))
                if own in reader.facts.active and i not in active
            ],
            lanes=reader.tangents.in_lanes,
        )
    returns = [item for item in reader.items if isinstance(item, Return)]
    return Writer(
        name=name,
        parameters=names,
        captured=reader.captured,
        items=reader.items,
        invariant=invariant_names(names, reader),
        buffered=reader.facts.buffered,
        bars={**reader.bars},
        results=results,
        wanted=[bar_of(names[i], kinds[i]) for i in active],
        branches=reader.branches or len(returns) > 1,
        strict=reader.unit.strict,
    )


def invariant_names(names: list[str], reader: Reader) -> set[str]:
    """Names with one value from their assignment to the end."""
    unassigned = ({*names} - reader.assigned) | {*reader.captured}
    if not reader.branches:
        return unassigned
    return unassigned | (settled_names(reader.items) - {*names} - reader.headed)
