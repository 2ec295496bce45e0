"""Whole programs, written: a function, those that it calls, and the guard.

`write` is the way in. The written functions are plain Python, compiled with the lines
of the user's file, so that warnings and profiles name those.
"""

import ast
import copy
from dataclasses import dataclass
from types import FunctionType
from typing import Any
from weakref import ref

from rules_autodiff._names import mangle
from rules_autodiff._source import PARSING, definition
from rules_autodiff.straight import _helpers
from rules_autodiff.straight._calls import Calls
from rules_autodiff.straight._captures import ROOT, Captures, Place
from rules_autodiff.straight._errors import Refused, refuse
from rules_autodiff.straight._kinds import REAL, Kind
from rules_autodiff.straight._reader import Facts, settled_names
from rules_autodiff.straight._values import bar_of
from rules_autodiff.straight._writer import Return, Writer

__all__ = ["Form", "Unit", "Writing", "write"]

READINGS = 20  # of one function, until the kinds at its loops are settled
SIMPLE = 0x0C | 0x20 | 0x80 | 0x200  # star arguments, generators, coroutines


class Restart(Exception):
    """A function turned out to return another kind than was supposed."""


@dataclass
class Form:
    """A function written for certain kinds of arguments.

    Attributes:
        name: The name of the forward function; the reverse one is `name_back`.
        kind: The kind of its value.
        writer: Its text; None while it is being read.
    """

    name: str
    kind: Kind
    writer: Writer | None = None


@dataclass(frozen=True)
class Unit:
    """A written program.

    Attributes:
        guard: `guard(f)` gives the captured values, or None where the program reads
            something else now than when it was written.
        forward: `forward(*args, caps)` gives the value and what the way back needs.
        reverse: `reverse(kept, dy)` gives the cotangents of the active arguments.
        result: The kind of the value.
        text: The written code.
        functions: The functions of others that the program calls.
        programs: Those that are written in Python, by weak references.
    """

    guard: Any
    forward: Any
    reverse: Any
    result: Kind
    text: str
    functions: frozenset[Any]
    programs: tuple[ref[Any], ...]


class Writing:
    """The functions of one program while they are written.

    Attributes:
        relied: The functions that it calls.
        guesses: What recursive functions are supposed to return.
    """

    def __init__(self, function: FunctionType, guesses: dict[Any, Kind]):
        self.captures = Captures(function)
        self.relied: set[Any] = set()
        self.guesses = guesses
        self.forms: dict[Any, Form] = {}
        self.texts: list[tuple[FunctionType, Writer]] = []
        self.constants: dict[Any, str] = {}
        self.loops: dict[Any, ast.For] = {}

    def constant(self, name: str, value: Any) -> str:
        """The name of a function in written code."""
        if id(value) not in self.constants:
            self.constants[id(value)] = self.captures.constant(name, value)
        return self.constants[id(value)]

    def made_loop(
        self, node: ast.AST, part: ast.comprehension, element: ast.expr, total: str
    ) -> ast.For:
        """The loop that adds up a comprehension; the same one in each reading."""
        if node not in self.loops:
            add: ast.stmt = ast.AugAssign(ast.Name(total), ast.Add(), element)
            for test in reversed(part.ifs):
                add = ast.If(test, [add], [])
            loop = ast.For(part.target, part.iter, [add], [])
            for made in ast.walk(loop):
                if not hasattr(made, "lineno"):
                    ast.copy_location(made, node)
            self.loops[node] = loop
        return self.loops[node]

    def form(
        self,
        f: FunctionType,
        place: Place,
        kinds: tuple[Kind, ...],
        active: tuple[int, ...],
    ) -> Form:
        """The form of a function for certain kinds."""
        key = (f, kinds, active)
        known = self.forms.get(key)
        if known is not None:
            return known
        self.relied.add(f)
        guess = self.guesses.get(key, REAL)
        stem = f.__name__ if f.__name__.isidentifier() else "function"
        name = f"{stem}__p{len(self.forms)}"
        form = self.forms[key] = Form(name, guess)
        reader = read_settled(self, f, place, kinds, active)
        form.writer = made_writer(name, f, kinds, active, reader)
        form.writer.write()
        self.texts.append((f, form.writer))
        found = reader.result or REAL
        if found != guess and name in str(form.writer.forward[1:]):
            self.guesses[key] = found
            raise Restart
        form.kind = found
        return form


def read_settled(
    writing: Writing, f: FunctionType, place: Place, kinds: Any, active: Any
) -> Calls:
    """A function, read until nothing changes."""
    node = tree_of(f)
    facts = Facts()
    facts.written = written_names(body_of(node))
    for _ in range(READINGS):
        facts.changed = False
        reader = Calls(writing, f, place, facts)
        read_function(reader, node, kinds, active)
        if not facts.changed:
            return reader
    reason = "the kinds at its loops do not settle"
    raise Refused(reason, node)


def tree_of(f: FunctionType) -> Any:
    """The syntax tree of a function of simple parameters."""
    code = f.__code__
    if code.co_flags & SIMPLE or code.co_kwonlyargcount:
        refuse("star arguments, keyword-only ones, generators, coroutines")
    if any("__" in name for name in (*code.co_varnames, *code.co_cellvars)):
        refuse("a name with two underscores")
    found = definition(code)
    node = found.node
    if found.owner:
        node = copy.deepcopy(node)
        mangle(node, found.owner)
    return node


def read_function(reader: Calls, node: Any, kinds: Any, active: Any) -> None:
    code = reader.function.__code__
    reader.locals = {*code.co_varnames, *code.co_cellvars}
    reader.line = node.lineno
    reader.written = reader.facts.written
    for place, (name, kind) in enumerate(
        zip(code.co_varnames[: code.co_argcount], kinds, strict=True)
    ):
        reader.kinds[name] = kind
        if place in active:
            reader.facts.active.add(reader.own(name))
            reader.note_bar(reader.own(name), kind)
    if reader.body(body_of(node)):
        refuse("it may end without a value", node)
    if reader.result is None:
        refuse("it never returns a value", node)


def body_of(node: Any) -> list[ast.stmt]:
    """The statements of a function; a lambda returns its expression."""
    if isinstance(node, ast.Lambda):
        return [ast.copy_location(ast.Return(node.body), node.body)]
    body: list[ast.stmt] = node.body
    return body


def written_names(body: list[ast.stmt]) -> set[str]:
    """The variables that name what is written into."""
    found = set()
    for node in (n for statement in body for n in ast.walk(statement)):
        target = node.target if isinstance(node, ast.AugAssign) else node
        if isinstance(target, ast.Subscript) and not isinstance(target.ctx, ast.Load):
            target = target.value
        elif not isinstance(node, ast.AugAssign):
            continue
        if isinstance(target, ast.Name):
            found.add(target.id)
    return found


def made_writer(
    name: str, f: FunctionType, kinds: Any, active: Any, reader: Calls
) -> Writer:
    code = f.__code__
    names = [reader.own(n) for n in code.co_varnames[: code.co_argcount]]
    result = reader.result or REAL
    parts = result.parts if result.name == "row" else (result,)
    results = [
        (f"__result{i}_bar", kind) for i, kind in enumerate(parts) if kind.is_real
    ]
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
    )


def invariant_names(names: list[str], reader: Calls) -> set[str]:
    """Names that mean the same from their assignment to the end."""
    given = ({*names} - reader.assigned) | {*reader.captured}
    if not reader.branches:
        return given
    return given | (settled_names(reader.items) - {*names} - reader.headed)


def write(f: FunctionType, kinds: tuple[Kind, ...], active: tuple[int, ...]) -> Unit:
    """Write a function out, with its derivative by some of its arguments.

    Args:
        f: The function.
        kinds: The kinds of its arguments, one for each parameter.
        active: The places of those to differentiate by.

    Raises:
        Refused: The program is not in the language of this tier.
    """
    guesses: dict[Any, Kind] = {}
    for _ in range(READINGS):
        writing = Writing(f, guesses)
        try:
            form = writing.form(f, ROOT, kinds, active)
        except Restart:
            continue
        return made_unit(f, writing, form)
    reason = "the kind of what a function returns does not settle"
    raise Refused(reason)


def made_unit(f: FunctionType, writing: Writing, form: Form) -> Unit:
    """Compile the text of all functions."""
    if not (form.kind is REAL or form.kind.dtype == "d"):
        refuse("its value is no real number and no array of float64")
    captures = writing.captures
    namespace: dict[str, Any] = {
        name: getattr(_helpers, name) for name in _helpers.__all__
    }
    namespace.update(captures.namespace)
    namespace["__name__"] = f.__module__
    texts = [captures.code()]
    execute(texts[0], "<guard>", namespace)
    for function, writer in writing.texts:
        forward = "\n".join(text for text, _ in writer.forward)
        backward = "\n".join(writer.backward)
        texts += [forward, backward]
        first = function.__code__.co_firstlineno
        lines = [line or first for _, line in writer.forward]
        execute(forward, function.__code__.co_filename, namespace, lines)
        execute(backward, f"<derivative of {function.__qualname__}>", namespace)
    return Unit(
        namespace["guard"],
        namespace[form.name],
        namespace[f"{form.name}_back"],
        form.kind,
        "\n\n".join(texts),
        frozenset(g for g in writing.relied if type(g) is not FunctionType),
        tuple([ref(g) for g in writing.relied if type(g) is FunctionType]),
    )


def execute(
    text: str, filename: str, namespace: dict[str, Any], lines: list[int] | None = None
) -> None:
    """Define a written function, with the lines of the user's file."""
    with PARSING:
        tree = ast.parse(text)
        for node in ast.walk(tree) if lines else ():
            if isinstance(node, ast.stmt | ast.expr | ast.arg | ast.keyword):
                node.lineno = node.end_lineno = (lines or [])[node.lineno - 1]
                node.col_offset = node.end_col_offset = 0
        code = compile(tree, filename, "exec")
    exec(code, namespace)
