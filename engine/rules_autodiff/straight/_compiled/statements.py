"""Statements of generated code, as statements of compiled code."""

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .expressions import Expressions, as_row, expression_in_words
from .terms import (
    INT,
    NOTHING,
    NUMPY,
    PLAIN,
    Piece,
    Term,
    Uncompiled,
    array,
    item_of,
    number,
    refuse,
    row,
)
from .unbound import flag_of, names_deleted, names_stored
from .words import call_in_words, name_in_words, statement_in_words, term_in_words

if TYPE_CHECKING:
    from .routines import Routine

__all__ = ["Statements"]

Lines = list[str]


class Statements:
    """Reads the statements of one function."""

    def __init__(self, routine: "Routine", expressions: Expressions):
        self.routine, self.expressions = routine, expressions
        self.block = 0  # of the backward pass
        self.readers: dict[type, Any] = {
            ast.Assign: self.do_assign, ast.AugAssign: self.do_aug_assign,
            ast.Expr: self.do_expr, ast.If: self.do_if, ast.While: self.do_while,
            ast.For: self.do_for, ast.Return: self.do_return,
            ast.Raise: lambda _: ["raise ValueError"], ast.Pass: lambda _: ["pass"],
            ast.Break: lambda _: ["break"], ast.Continue: lambda _: ["continue"],
            ast.Delete: self.do_delete, ast.Assert: self.do_assert,
        }  # fmt: skip

    def body(self, nodes: list[ast.stmt]) -> Lines:
        """The lines of a block, indented by one."""
        lines = []
        for node in nodes:
            reader = self.readers.get(type(node))
            if reader is None:
                refuse(statement_in_words(node), node.lineno)
            try:
                lines += reader(node)
            except Uncompiled as error:
                raise self.placed(error, node) from None
            if isinstance(node, ast.Assign | ast.AugAssign):
                lines += self.flags(names_stored(node), True)
        return [f"    {line}" for line in lines or ["pass"]]

    def placed(self, error: Uncompiled, node: ast.stmt) -> Uncompiled:
        """The reason with the line of a statement, if it has none."""
        if error.line:
            return error
        back = "its derivative needs " if self.routine.back else ""
        return Uncompiled(f"{back}{error.reason}", node.lineno)

    def flags(self, names: Iterable[str], value: bool) -> Lines:
        """Note which variables have a value, where that is asked for."""
        asked = self.routine.flagged.intersection(names)
        return [f"{flag_of(name)} = {value}" for name in sorted(asked)]

    def do_delete(self, node: ast.Delete) -> Lines:
        return self.flags(names_deleted(node), False)

    # assignments

    def do_assign(self, node: ast.Assign) -> Lines:
        (target,) = node.targets
        value = node.value
        if isinstance(target, ast.Name) and target.id in (
            "__trail",
            "__push",
            "__number",
        ):
            return self.do_trail(target.id)
        if self.routine.program.is_called(value):
            return self.assign_call(target, value)
        if isinstance(target, ast.Subscript):
            return self.store(target, self.expressions.read(value))
        if isinstance(target, ast.Name):
            return self.assign(target.id, value)
        if isinstance(value, ast.Name) and value.id in ("__kept", "__note"):
            return self.unpack_residuals(target, value.id)
        return self.unpack(target, value)

    def assign(self, name: str, value: ast.expr) -> Lines:
        known = self.routine.terms.get(name)
        is_bar = name.endswith("_bars") or (known is not None and known.is_array)
        if is_zero(value) and is_bar:
            self.routine.note(name, NOTHING)
            return [f"{name} = {self.routine.nothing(name)}"]
        return self.given(name, self.expressions.read(value))

    def given(self, name: str, piece: Piece) -> Lines:
        """Give a variable a value, and where it is needed its class."""
        routine = self.routine
        if piece.term.name in ("other", "none"):
            refuse(f"{name_in_words(name)}, which is {term_in_words(piece.term)}")
        routine.note(name, piece.term)
        if piece.maybe and name not in routine.maybe:
            routine.maybe.add(name)
            routine.program.changed = True
        text, term = piece.text, routine.terms[name]
        if term.name == "real" and piece.term.is_whole:
            text = f"float({text})" if piece.literal else f"exact({text})"
        lines = [f"{name} = {text}"]
        if term.is_number and routine.several(name):
            lines.insert(0, f"{name}__rank = {piece.rank}")
        return lines

    def unpack(self, target: ast.expr, value: ast.expr) -> Lines:
        """`a, b = x, y`, or the entries of a tuple."""
        names = names_of(target)
        if isinstance(value, ast.Tuple):
            pieces = [self.expressions.read(part) for part in value.elts]
        else:
            whole = self.expressions.read(value)
            if whole.term.name != "row":
                refuse(
                    f"an assignment to several variables by {term_in_words(whole.term)}"
                )
            pieces = [
                Piece(f"{whole.text}[{i}]", term, str(max(term.ranks, default=0)))
                for i, term in enumerate(whole.term.parts)
            ]
        if len(names) != len(pieces):
            refuse("an assignment of another number of values than variables")
        lines: Lines = []
        held = [f"__part{i}" for i in range(len(names))]
        lines += [f"{own} = {p.text}" for own, p in zip(held, pieces, strict=True)]
        ranks = [f"{own}_rank = {p.rank}" for own, p in zip(held, pieces, strict=True)]
        lines += ranks if not self.routine.back else []
        for name, own, p in zip(names, held, pieces, strict=True):
            known = len(p.term.ranks) <= 1
            rank = str(max(p.term.ranks, default=0)) if known else f"{own}_rank"
            lines += self.given(name, Piece(own, p.term, rank, False, p.maybe))
        return lines

    def store(self, target: ast.Subscript, piece: Piece) -> Lines:
        """`y[key] = v`."""
        owner = self.expressions.read(target.value)
        key, ndim = self.expressions.key(target, owner.term)
        whole = piece.term.is_number or (piece.term.is_array and ndim)
        if owner.term.dtype != "d" or not whole or piece.term.ndim > ndim:
            what = term_in_words(owner.term)
            refuse(f"an assignment of {term_in_words(piece.term)} to a part of {what}")
        if piece.term.is_array:
            return [self.set_part(f"{owner.text}[{key}]", ndim, piece)]
        text = f"exact({piece.text})" if piece.term.name == "int" else piece.text
        text = piece.text if piece.literal else text
        return [f"{owner.text}[{key}] = {text}"]

    def set_part(self, part: str, ndim: int, piece: Piece) -> str:
        """An array that is written into a part of another, without overlap."""
        ends = ndim, piece.term.ndim
        if ends not in ((1, 1), (2, 1), (2, 2), (3, 3)):
            refuse(f"an assignment of {ends[1]} axes to {ends[0]} axes")
        return f"set_{ends[0]}_{ends[1]}({part}, {piece.text})"

    def do_aug_assign(self, node: ast.AugAssign) -> Lines:
        """In place: written out, as compiled code does not look for overlaps."""
        value = ast.BinOp(node.target, node.op, node.value)
        if isinstance(node.target, ast.Subscript):
            return self.store(node.target, self.expressions.read(value))
        if not isinstance(node.target, ast.Name):
            refuse("a change of something else than a variable or a part of an array")
        name = node.target.id
        term = self.routine.terms.get(name)
        if term is None or not term.is_array:
            return self.assign(name, value)
        piece = self.expressions.read(value)
        return [self.set_part(name, term.ndim, piece)]

    # residuals

    def do_trail(self, name: str) -> Lines:
        return ["__number = __order[__q]"] if name == "__number" else []

    def push(self, note: Any) -> Lines:
        """The record of a block."""
        number: Any = note.elts[0]
        lines = [f"__order.append({number.value})"] if self.routine.ordered else []
        pieces = [self.expressions.read(part) for part in note.elts[1:]]
        if not pieces:
            return lines
        self.note_record(number.value, row(*[p.term for p in pieces]))
        record = as_row([p.text for p in pieces])
        return [*lines, f"__trail{number.value}.append({record})"]

    def note_record(self, number: int, term: Term) -> None:
        trail, before = self.routine.trail, self.routine.trail.get(number)
        if any(part.name in ("other", "none") for part in term.parts):
            refuse("a value of another kind than numbers, arrays and tuples")
        if before is None or before != term:
            trail[number] = term
            self.routine.program.changed = True

    def unpack_residuals(self, target: ast.expr, source: str) -> Lines:
        """Name the residuals of a block, or those that do not change."""
        names, forward = names_of(target), self.routine.forward
        if source == "__kept":
            own = [name for name in names if name != "__trail"]
            for name, term in zip(own, forward.header, strict=True):
                self.routine.note(name, term)
            trails = forward.kept()
            counts = [f"__place{n} = len(__trail{n})" for n in sorted(forward.trail)]
            every = [*trails, *own]
            if not every:
                return []
            return [
                f"{as_row(every)} = __kept",
                *(counts if "__trail" in names else []),
            ]
        number = self.block
        for name, term in zip(names[1:], forward.trail[number].parts, strict=True):
            self.routine.note(name, term)
        row_text = as_row(names[1:])
        return [
            f"__place{number} -= 1",
            f"{row_text} = __trail{number}[__place{number}]",
        ]

    def back_through(self, node: ast.For) -> Lines:
        """The loop over the records, last to first."""
        forward = self.routine.forward
        if forward.ordered:
            length = "len(__order)"
        else:
            (self.block,) = forward.blocks
            length = f"len(__trail{self.block})"
        head = f"for __q in range({length} - 1, -1, -1):"
        return [head, *self.body(node.body)]

    # calls

    def assign_call(self, target: ast.expr, node: Any) -> Lines:
        """The value of a function of the program, with what it returns beside."""
        program = self.routine.program
        text, called = program.call(self.expressions, node)
        if called.back:
            names = names_of(target)
            for name, term in zip(names, called.value.parts, strict=True):
                self.routine.note(name, term)
                self.routine.maybe |= {name} if term.is_array else set()
            return [f"{as_row(names)} = {text}"]
        if not called.has_pair:
            return self.assign_value(target, called, text, [])
        if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            refuse("a call of a function that returns several values")
        value, other = target.elts
        return self.assign_value(value, called, text, [other])

    def assign_value(
        self, target: ast.expr, called: Any, text: str, others: list[ast.expr]
    ) -> Lines:
        parts = called.value.parts if called.value.name == "row" else (called.value,)
        names = names_of(target)
        if len(names) != len(parts) or any(part.name == "row" for part in parts):
            refuse("a function that returns tuples of tuples")
        values, ranks = [f"__got{i}" for i in range(len(parts))], []
        ranks = [f"__got{i}__rank" for i in range(len(parts))]
        if called.value.name == "row":
            pair = [as_row(values), as_row(ranks)]
        else:
            pair = [values[0], ranks[0]]
        pair += [self.beside(called, other) for other in others]
        lines = [f"{', '.join(pair)} = {text}", *self.ranks_beside(others)]
        for name, own, term in zip(names, values, parts, strict=True):
            known = len(term.ranks) <= 1
            rank = str(max(term.ranks, default=0)) if known else f"{own}__rank"
            lines += self.given(name, Piece(own, term, rank))
        return lines

    def beside(self, called: Any, target: ast.expr) -> str:
        """The names for residuals, or for tangents."""
        if not self.routine.program.tangents:
            (name,) = names_of(target)
            self.routine.note(name, Term("kept", tag=called.name))
            return name
        names = names_of(target)
        for name, term in zip(names, called.dots.parts, strict=True):
            self.routine.note(name, number(NUMPY) if term.name == "real" else term)
        return as_row(names)

    def ranks_beside(self, others: list[ast.expr]) -> Lines:
        """The classes of tangents, which nothing asks for in the end."""
        names = [name for other in others for name in names_of(other)]
        several = [name for name in names if self.routine.several(name)]
        return [f"{name}__rank = {NUMPY}" for name in several]

    # other statements

    def do_expr(self, node: ast.Expr) -> Lines:
        call: Any = node.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            refuse(
                f"the expression {expression_in_words(node.value)}, which is not used"
            )
        name = call.func.id
        if name == "__push":
            return self.push(call.args[0])
        if name == "reached_alone" and self.routine.name == self.routine.program.name:
            return []  # asked before the call
        if name == "floating" and self.expressions.read(call.args[0]).term.dtype == "d":
            return []
        if name == "of_length":
            x, count = map(self.expressions.read, call.args)
            if x.term.is_array:
                return [f"unequal({x.text}.shape[0], {count.text})"]
        told = call_in_words(self.expressions.namespace.get(name), name, [])
        return refuse(f"{told} as a statement")

    def do_return(self, node: ast.Return) -> Lines:
        routine, value = self.routine, node.value
        if value is None:
            refuse("a function that returns nothing")
        if routine.back:
            piece = self.expressions.read(value)
            routine.note_value(piece.term)
            return [f"return {piece.text}"]
        if not routine.has_pair:
            return self.returned(value, [])
        assert isinstance(value, ast.Tuple)
        first, other = value.elts
        assert isinstance(other, ast.Tuple)
        if routine.program.tangents:
            dots = self.expressions.read(other)
            routine.program.changed |= routine.dots != dots.term
            routine.dots = dots.term
            return self.returned(first, [dots.text])
        parts = [part for part in other.elts if ast.unparse(part) != "__trail"]
        pieces = [self.expressions.read(part) for part in parts]
        header = tuple([piece.term for piece in pieces])
        routine.program.changed |= routine.header != header
        routine.header = header
        every = [*routine.kept(), *[piece.text for piece in pieces]]
        return self.returned(first, [as_row(every or ["0"])])

    def returned(self, value: ast.expr, others: list[str]) -> Lines:
        piece = self.expressions.read(value)
        if piece.term.name in ("other", "none", "nothing"):
            refuse(f"a function that returns {term_in_words(piece.term)}")
        self.routine.note_value(piece.term)
        return [f"return {', '.join([piece.text, piece.rank, *others])}"]

    # control flow

    def do_if(self, node: ast.If) -> Lines:
        kind = self.kind_of_test(node.test)
        if kind == "made":
            return self.if_made(node)
        if kind == "block":
            test: Any = node.test
            self.block = test.comparators[0].value
            head = f"if __number == {self.block}:"
        else:
            head = f"if {self.expressions.test(node.test)}:"
        lines = [head, *self.body(node.body)]
        return [*lines, "else:", *self.body(node.orelse)] if node.orelse else lines

    def do_assert(self, node: ast.Assert) -> Lines:
        return [f"if not {self.expressions.test(node.test)}:", "    raise ValueError"]

    def kind_of_test(self, test: ast.expr) -> str:
        if not isinstance(test, ast.Compare):
            return ""
        left = test.left
        if isinstance(left, ast.Name) and left.id == "__number":
            return "block"
        asks = isinstance(left, ast.Call) and ast.unparse(left.func) == "type"
        return "made" if asks else ""

    def if_made(self, node: ast.If) -> Lines:
        """A branch for an array that was made, or was not."""
        test: Any = node.test
        (asked,), negative = test.left.args, isinstance(test.ops[0], ast.IsNot)
        if ast.unparse(test.comparators[0]) != "float" or node.orelse:
            refuse("a test of the class of a value")
        term = self.routine.terms.get(asked.id)
        if term is None or term == NOTHING:
            return [] if negative else ["if True:", *self.body(node.body)]
        if not term.is_array:
            refuse("a test of the class of a value")
        sign = "!=" if negative else "=="
        return [f"if {asked.id}.size {sign} 0:", *self.body(node.body)]

    def do_while(self, node: ast.While) -> Lines:
        head = f"while {self.expressions.test(node.test)}:"
        lines = [head, *self.body(node.body)]
        return [*lines, "else:", *self.body(node.orelse)] if node.orelse else lines

    def do_for(self, node: ast.For) -> Lines:
        called: Any = node.iter
        if ast.unparse(called) == "reversed(__trail)":
            return self.back_through(node)
        is_call = isinstance(called, ast.Call) and not called.keywords
        name = ast.unparse(called.func) if is_call else ""
        if name in ("range", "reversed"):
            lines = self.over_range(node.target, called)
        elif name == "enumerate":
            lines = self.over_arrays(node.target, called.args[0])
        else:
            refuse(f"a loop over {expression_in_words(called)}")
        lines += indented(self.flags(names_stored(node.target), True))
        lines += self.body(node.body)
        return [*lines, "else:", *self.body(node.orelse)] if node.orelse else lines

    def over_range(self, target: Any, called: Any) -> Lines:
        backward = called.func.id == "reversed"
        inner = called.args[0] if backward else called
        bounds = [self.end(arg) for arg in inner.args]
        if backward and len(bounds) > 2:
            refuse("a reversed range with steps")
        if backward:
            start, stop = bounds if len(bounds) == 2 else ["0", *bounds]
            bounds = [f"sub_int({stop}, 1)", f"sub_int({start}, 1)", "-1"]
        own = f"__turn{target.lineno}"
        head = f"for {own} in range({', '.join(bounds)}):"
        return [head, *indented(self.given(target.id, Piece(own, INT)))]

    def end(self, node: ast.expr) -> str:
        """An end or a step of a range."""
        text = self.expressions.whole(node)
        return text if isinstance(node, ast.Constant) else f"end_of({text})"

    def over_arrays(self, target: Any, over: ast.expr) -> Lines:
        """The entries of arrays, with their numbers."""
        index, items = target.elts
        several = isinstance(over, ast.Call)
        if several and ast.unparse(over.func) != "zip":  # type: ignore[attr-defined]
            refuse("a loop over several values that are not all arrays")
        rows = over.args if isinstance(over, ast.Call) else [over]
        names = names_of(items)
        arrays = [self.expressions.read(part) for part in rows]
        if not all(x.term.is_array for x in arrays) or len(names) != len(arrays):
            refuse("a loop over several values that are not all arrays")
        own = f"__turn{target.lineno}"
        sizes = [f"{x.text}.shape[0]" for x in arrays]
        size = sizes[0] if len(sizes) == 1 else f"min({', '.join(sizes)})"
        strict = isinstance(over, ast.Call) and over.keywords
        lines = [f"unequal({one}, {sizes[0]})" for one in sizes[1:] if strict]
        lines.append(f"for {own} in range({size}):")
        lines += indented(self.given(index.id, Piece(own, INT)))
        for name, x in zip(names, arrays, strict=True):
            ndim, dtype = x.term.ndim - 1, x.term.dtype
            term = array(ndim, dtype) if ndim else item_of(dtype)
            rank = str(max(term.ranks, default=PLAIN))
            lines += indented(self.given(name, Piece(f"{x.text}[{own}]", term, rank)))
        return lines


def indented(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]


def is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0.0


def names_of(target: ast.expr) -> list[str]:
    """The names that are assigned together."""
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    if not all(isinstance(part, ast.Name) for part in parts):
        refuse("an assignment to something else than variables")
    return [part.id for part in parts if isinstance(part, ast.Name)]
