"""Functions that a program defines inside itself, and functions as values."""

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from types import CellType, CodeType, FunctionType
from typing import Any

from rules_autodiff._lift.source import definition
from rules_autodiff._python.errors import SourceNotFound
from rules_autodiff.straight._program.kinds import Kind
from rules_autodiff.straight._program.refused import Refused, refuse
from rules_autodiff.straight._program.values import (
    Closure,
    Known,
    Local,
    Partial,
    Value,
    function_value,
    with_entries,
)

from .part import Part

__all__ = ["Closures"]

COMPREHENSIONS = frozenset({"<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"})


class Closures(Part):
    """Reads definitions of functions.

    Attributes:
        settling: Local functions of which it is being asked what they read.
    """

    settling: tuple[Local, ...] = ()

    def read_lambda(self, node: ast.Lambda) -> Local:
        return self.local(node, "<lambda>")

    def do_function_def(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            refuse("a local function with a decorator", node)
        value = function_value(self.local(node, node.name))
        self.reader.variables.assign(node.name, replace(value, fresh=True))

    def local(self, node: ast.Lambda | ast.FunctionDef, name: str) -> Local:
        """A local function, whose default values are computed here."""
        reader = self.reader
        code = found_code(reader.function.__code__, node, name)
        defaults = []
        for place, (parameter, default) in enumerate(defaults_of(node.args)):
            hidden = f"__d{node.lineno}_{node.col_offset}_{place}"
            if not reader.tracing:
                refuse("a function with defaults in a test", node)
            reader.locals.add(hidden)
            reader.variables.assign(hidden, reader.expressions.read_given(default))
            defaults.append((parameter, hidden))
        key = code, id(reader.function.__globals__), tuple(defaults)
        inner: dict[Any, Local] = reader.unit.inner
        if key not in inner:
            cells = tuple([CellType() for _ in code.co_freevars])
            scope = reader.function.__globals__
            function = FunctionType(code, scope, name, None, cells)
            inner[key] = Local(function, tuple(defaults))
        return inner[key]

    def settled(self, value: Value) -> Value:
        """The value, with what local functions in it read now."""
        if value.entries is None:
            return value
        if isinstance(value.kind.tag, Local):
            return self.closed(value.kind.tag)
        if not value.entries:
            return value
        return with_entries(value.kind, [*map(self.settled, value.entries)])

    def closed(self, local: Local) -> Value:
        """A local function with what it reads from around it."""
        if local in self.settling:
            refuse("local functions call each other")
        before, self.settling = self.settling, (*self.settling, local)
        names: list[str] = []
        values: list[Value] = []
        known: list[tuple[str, Known]] = []
        own: list[str] = []
        hidden = [name for _, name in local.defaults]
        for name in (*local.function.__code__.co_freevars, *hidden):
            found = self.reader.variables.name_value(name)
            if found is local:
                own.append(name)
            elif isinstance(found, Known):
                known.append((name, found))
            else:
                value = function_value(found) if isinstance(found, Local) else found
                names.append(name)
                values.append(self.settled(value))
        self.settling = before
        tag = Closure(local, self.reader.place, tuple(names), tuple(known), tuple(own))
        return with_entries(Kind("function", tag=tag), values)

    def check_returned(self, kind: Kind, node: ast.AST) -> None:
        """See that functions that are returned read nothing that may still change."""
        tag = kind.tag
        if isinstance(tag, Closure):
            around = self.reader.function.__code__
            names = {*tag.names, *[name for name, _ in tag.known], *tag.own}
            inner = [code for code, _ in inner_codes(around)]
            made_here = tag.local.function.__code__ in inner
            if names and (not made_here or names.intersection(around.co_freevars)):
                refuse("it returns a function that reads variables of others", node)
        for part in kind.parts:
            self.check_returned(part, node)

    def call_partial(self, _f: Known, node: ast.Call) -> Value | None:
        """`functools.partial(f, …)`."""
        values, named = self.reader.own_calls.given(node)
        if not values or values[0].kind.name != "function":
            refuse("a partial call of such a value", node)
        kind = Kind("function", tag=Partial(tuple(named)))
        return with_entries(kind, [*values, *named.values()])


def defaults_of(args: ast.arguments) -> list[tuple[str, ast.expr]]:
    """The parameters of a function that have default values, with those."""
    places = [*args.posonlyargs, *args.args]
    count = len(args.defaults)
    pairs = [*zip(places[len(places) - count :], args.defaults, strict=True)]
    only = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    pairs += [(name, default) for name, default in only if default is not None]
    return [(parameter.arg, default) for parameter, default in pairs]


def found_code(
    outer: CodeType, node: ast.Lambda | ast.FunctionDef, name: str
) -> CodeType:
    """The code of a local function among that of the function around it."""
    for code, around in inner_codes(outer):
        if code.co_name == name and code.co_firstlineno == node.lineno:
            with suppress(SourceNotFound):
                if definition(code).node.col_offset != node.col_offset:
                    continue
                hidden = {*around.co_varnames, *around.co_cellvars}
                if around is not outer and hidden & {*code.co_freevars}:
                    refuse("a function of a comprehension's variables", node)
                return code
    reason = "the code of a local function is not found"
    raise Refused(reason, node)


def inner_codes(outer: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The code of functions that a function defines, with the code around it."""
    for code in outer.co_consts:
        if isinstance(code, CodeType):
            yield code, outer
            if code.co_name in COMPREHENSIONS:
                yield from inner_codes(code)
