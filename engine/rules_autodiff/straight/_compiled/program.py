"""All functions of generated code, as the text of a module that numba compiles."""

import ast
from collections.abc import Sequence
from typing import Any

from .expressions import Expressions, as_row
from .library import TEXTS, needed, renamed
from .routines import Routine
from .terms import NOTHING, Piece, Term, refuse, term_of
from .words import stem_of

__all__ = ["Program"]

READINGS = 30  # of all functions, until the types are stable
HEAD = '''"""Generated code for numba: {name}."""

import math

import numpy as np
from numba import njit

LARGE, HALF, END, EXACT = 2**62, 2**31, 2**61, 2**53
FRACTION, FULL = 2.0**52, 2.0**63
compiled = njit({options}, no_cpython_wrapper=True, no_cfunc_wrapper=True)
'''
# No fastmath: a sum is a sum in the order of the program.
OPTIONS = "error_model='python', boundscheck=True, fastmath=False"
TYPES = {"real": "float64", "int": "int64", "bool": "boolean"}
ITEMS = {"d": "float64", "l": "int64", "?": "boolean"}


class Program:
    """The functions of one unit of generated code.

    Args:
        text: The generated code.
        name: The name of its first function.
        namespace: What it refers to.
        args: The values of the parameters of the first function.
        caps: The captured values.
        dots: The tangents, in forward mode.

    Attributes:
        routines: The functions by name.
        tangents: Whether it is code of forward mode.
        changed: Whether a type has changed since the last reading.
        whole_arrays: Whether it computes with whole arrays.
        made: The text of the module.
    """

    def __init__(
        self,
        text: str,
        name: str,
        namespace: dict[str, Any],
        args: Sequence[Any],
        caps: Sequence[Any],
        dots: Sequence[Any] | None = None,
    ):
        self.name, self.namespace = name, namespace
        self.tangents = dots is not None
        nodes = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
        self.nodes = {node.name: node for node in nodes}
        self.routines = {
            node.name: Routine(self, node)
            for node in nodes
            if node.name != "guard"
            and not node.name.removesuffix("_back").endswith("_top")
        }
        self.changed = self.whole_arrays = False
        self.terms = tuple(map(term_of, args))
        self.caps = tuple(map(term_of, caps))
        self.dots = tuple(map(term_of, dots or ()))
        self.made = ""
        self.read()

    @property
    def first(self) -> Routine:
        return self.routines[self.name]

    @property
    def last(self) -> Routine:
        """The backward function of the first."""
        return self.routines[f"{self.name}_back"]

    def read(self) -> None:
        """Read until no type changes."""
        for _ in range(READINGS):
            self.changed = False
            self.read_once()
            if not self.changed:
                return
        refuse("variables whose types do not settle")

    def read_once(self) -> None:
        for routine in self.routines.values():
            routine.value = routine.value if routine.lines else None
        self.done: set[str] = set()
        terms = [*self.terms, caps_term(self.caps), *self.dots]
        self.enter(self.first, terms)
        if not self.tangents:
            value: Any = self.first.value
            self.enter(self.last, [Term("kept", tag=self.name), cotangent_of(value)])

    def enter(self, routine: Routine, terms: Sequence[Term]) -> None:
        """Read a function for arguments of such types."""
        for name, term in zip(routine.parameters, terms, strict=True):
            routine.note(name, term)
        if routine.name not in self.done:
            routine.read()
            self.done.add(routine.name)

    def is_called(self, node: Any) -> bool:
        """Whether an expression is a call of one of the functions."""
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        return bool(named) and node.func.id in self.routines

    def call(self, expressions: Expressions, node: Any) -> tuple[str, Routine]:
        """The text of a call of one of the functions."""
        routine = self.routines[node.func.id]
        pieces = [self.passed(expressions, arg) for arg in node.args]
        terms = [piece.term for piece in pieces]
        self.enter(routine, terms)
        names = zip(routine.parameters, pieces, strict=True)
        texts = [
            routine.nothing_text(name) if p.term == NOTHING else p.text
            for name, p in names
        ]
        by_name = dict(zip(routine.parameters, pieces, strict=True))
        texts += [by_name[name].rank for name in routine.ranked()]
        if routine.value is None:
            refuse(f"{stem_of(routine.name)} never returns")
        return f"{routine.name}({', '.join(texts)})", routine

    def passed(self, expressions: Expressions, node: ast.expr) -> Piece:
        """An argument of a call."""
        if isinstance(node, ast.Name) and node.id == "caps":
            return Piece("caps", caps_term(self.caps))
        return expressions.read(node)

    # the module

    def text(self, layouts: Sequence[str], active: Sequence[int]) -> str:
        """The text of the module.

        Args:
            layouts: For each argument and captured value, and each tangent, the layout
                of the array, or nothing.
            active: The parameters whose cotangents are wanted.
        """
        bodies = ["\n".join(routine.lines) for routine in self.used()]
        entry = self.entry_forward(layouts) if self.tangents else self.entry_reverse(
            layouts, active)  # fmt: skip
        own = "\n\n".join([*bodies, entry])
        parts = [HEAD.format(name=self.name, options=OPTIONS)]
        parts += [f"@compiled{TEXTS[name].rstrip()}" for name in needed(own)]
        parts += [f"@compiled\n{body}" for body in bodies]
        self.made = renamed("\n\n\n".join([*parts, entry]) + "\n")
        return self.made

    def used(self) -> list[Routine]:
        """The functions that are called, innermost first."""
        return [r for r in self.routines.values() if r.lines]

    def line_of(self, place: int) -> int:
        """The line of generated code of a function, by a line of the module's text."""
        heads = [x for x in self.made.splitlines()[:place] if x.startswith("def ")]
        names = [head[4:].partition("(")[0] for head in heads]
        own = [self.routines[name] for name in names[-1:] if name in self.routines]
        return own[0].node.lineno if own else 0

    def names(self) -> tuple[list[str], str]:
        """The parameters of the entry, and the arguments of the first function.

        The leaves of tuples are arguments of their own.
        """
        leaves: list[str] = []
        args = [in_leaves(t, f"a{i}", leaves) for i, t in enumerate(self.terms)]
        caps = [in_leaves(t, f"c{i}", leaves) for i, t in enumerate(self.caps)]
        dots = [in_leaves(t, f"d{i}", leaves) for i, t in enumerate(self.dots)]
        return leaves, ", ".join(
            [*args, as_row([*caps, "0"]), *dots, *self.first_ranks()]
        )

    def signature(self, layouts: Sequence[str], more: Sequence[str]) -> str:
        terms = [
            leaf for t in (*self.terms, *self.caps, *self.dots) for leaf in leaves_of(t)
        ]
        types = [type_of(t, layout) for t, layout in zip(terms, layouts, strict=True)]
        return as_row([*types, *more])

    def entry_forward(self, layouts: Sequence[str]) -> str:
        names, given = self.names()
        return "\n".join([
            f'@njit("{self.signature(layouts, [])}", {OPTIONS}, cache=CACHE)',
            f"def entry({', '.join(names)}):",
            f"    return {self.name}({given})",
        ])  # fmt: skip

    def first_ranks(self) -> list[str]:
        """The classes of arguments and tangents, as numbers."""
        given = [*self.terms, caps_term(self.caps), *self.dots]
        terms = dict(zip(self.first.parameters, given, strict=True))
        return [str(min(terms[name].ranks)) for name in self.first.ranked()]

    def entry_reverse(self, layouts: Sequence[str], active: Sequence[int]) -> str:
        names, given = self.names()
        arrays = [i for i in active if self.terms[i].is_array]
        outs = [f"o{i}" for i in arrays]
        value: Any = self.first.value
        dy, seed = self.seed(value)
        seeds = [f"y{i}" for i in range(len(dy))]
        bars = [f"b{i}" for i in active]
        lines = [
            f'@njit("{self.signature(layouts, [*dy, *map(out_type, self.of(arrays))])}"'
            f", {OPTIONS}, cache=CACHE)",
            f"def entry({', '.join([*names, *seeds, *outs])}):",
            f"    value, rank, kept = {self.name}({given})",
            f"    {as_row(bars)} = {self.name}_back(kept, {seed})",
        ]
        parts: list[Term] = self.last.value.parts if self.last.value else ()  # type: ignore[assignment]
        by_place = dict(zip(active, parts, strict=True))
        for i in arrays:
            if by_place[i] == NOTHING:
                lines.append(f"    o{i}[...] = 0.0")
            else:
                lines += [
                    f"    if b{i}.size:", f"        {set_out(self.terms[i], i)}",
                    "    else:", f"        o{i}[...] = 0.0",
                ]  # fmt: skip
        numbers = [f"b{i}" for i in active if i not in arrays]
        lines.append(f"    return value, rank, {as_row([*numbers, '0.0'])}")
        return "\n".join([*lines, "", "", *self.entry_value(layouts)])

    def entry_value(self, layouts: Sequence[str]) -> list[str]:
        """What makes a function that gives the value alone, where that is wanted."""
        names, given = self.names()
        return [
            f"def value({', '.join(names)}):",
            f"    value, rank, kept = {self.name}({given})",
            "    return value, rank",
            "", "",
            "def made_value():",
            f'    signature = "{self.signature(layouts, [])}"',
            f"    return njit(signature, {OPTIONS}, cache=CACHE)(value)",
        ]  # fmt: skip

    def of(self, places: Sequence[int]) -> list[Term]:
        return [self.terms[i] for i in places]

    def seed(self, value: Term) -> tuple[list[str], str]:
        """The types of the cotangents of the value, and their text."""
        parts = value.parts if value.name == "row" else (value,)
        types = ["float64" if p.is_number else out_type(p) for p in parts]
        texts = [f"y{i}" for i in range(len(parts))]
        return types, texts[0] if len(texts) == 1 else as_row(texts)


def caps_term(caps: tuple[Term, ...]) -> Term:
    return Term("row", parts=(*caps, Term("int", frozenset({0}))))


def set_out(term: Term, i: int) -> str:
    """The text that hands a cotangent over."""
    if term.ndim > 3:
        refuse("an argument with more than three axes")
    return f"set_{term.ndim}_{term.ndim}(o{i}, b{i})"


def leaves_of(term: Term) -> list[Term]:
    """The types of the leaves of a tuple, or of another value alone."""
    if term.name != "row":
        return [term]
    return [leaf for part in term.parts for leaf in leaves_of(part)]


def in_leaves(term: Term, name: str, leaves: list[str]) -> str:
    """The text of an argument in terms of its leaves, whose names are noted."""
    if term.name != "row":
        leaves.append(name)
        return name
    parts = [in_leaves(t, f"{name}_{i}", leaves) for i, t in enumerate(term.parts)]
    return as_row(parts) if parts else "()"


def cotangent_of(value: Term) -> Term:
    """The type of a cotangent of a value."""
    if value.name == "row":
        return Term("row", parts=tuple(map(cotangent_of, value.parts)))
    return Term("real", frozenset({1})) if value.is_number else value


def type_of(term: Term, layout: str) -> str:
    """The text of the numba type of an argument."""
    if term.is_array:
        return f"Array({ITEMS[term.dtype]}, {term.ndim}, '{layout}', readonly=True)"
    return TYPES.get(term.name, "int64")


def out_type(term: Term) -> str:
    return f"Array(float64, {term.ndim}, 'C')"
