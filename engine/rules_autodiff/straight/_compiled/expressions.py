"""Expressions of generated code, as expressions of compiled code with their types."""

import ast
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from rules_autodiff.straight._program.words import function_in_words, syntax_in_words

from . import array_functions, choices, functions, reductions  # noqa: F401  the tables
from .operators import UFUNCS, as_numpy, binary, both, compared, either, unary
from .table import BUILTINS, FUNCTIONS, LISTED, METHODS
from .terms import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    NUMPY,
    PLAIN,
    TEXT,
    Piece,
    Term,
    Uncompiled,
    array,
    item_of,
    join,
    number,
    refuse,
    row,
)
from .unbound import flag_of
from .words import (
    OPERATION,
    both_in_words,
    call_in_words,
    name_in_words,
    stem_of,
    term_in_words,
)

__all__ = ["Expressions", "as_row", "expression_in_words"]


# What computes nothing with the entries of an array.
COPIES = frozenset({np.copy, np.zeros_like, np.ones_like, np.empty_like})
MOVES = frozenset({"copy", "reshape", "ravel", "flatten", "transpose", "swapaxes"})
# By the name of a type, the classes that Python would give a number, by their ranks.
CLASSES: dict[str, dict[int, type]] = {
    "real": {PLAIN: int, FLOAT: float, NUMPY: np.float64},
    "int": {PLAIN: int, NUMPY: np.int64}, "bool": {PLAIN: bool, NUMPY: np.bool_},
}  # fmt: skip


def as_row(texts: list[str]) -> str:
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


class Expressions:
    """Reads expressions of one function.

    Args:
        program: All functions of the generated code.
        terms: The types of its variables, as far as they are known.
        maybe: The variables that may be an array that was never made.
        unbound: The places where a variable may have no value.
    """

    def __init__(
        self,
        program: Any,
        terms: dict[str, Term],
        maybe: set[str],
        unbound: set[ast.Name],
    ):
        self.program, self.terms, self.maybe = program, terms, maybe
        self.unbound = unbound
        self.namespace: dict[str, Any] = program.namespace
        self.readers: dict[type, Any] = {
            ast.Constant: self.read_constant, ast.Name: self.read_name,
            ast.BinOp: self.read_bin_op, ast.UnaryOp: self.read_unary_op,
            ast.Compare: self.read_compare, ast.BoolOp: self.read_bool_op,
            ast.IfExp: self.read_if_exp, ast.Tuple: self.read_tuple,
            ast.Subscript: self.read_subscript, ast.Attribute: self.read_attribute,
            ast.Call: self.read_call,
        }  # fmt: skip

    def read(self, node: ast.expr) -> Piece:
        reader = self.readers.get(type(node))
        if reader is None:
            refuse(expression_in_words(node))
        found: Piece = reader(node)
        return found

    def read_constant(self, node: ast.Constant) -> Piece:
        value = node.value
        if value is None:
            return Piece("None", NONE)
        if type(value) is bool:
            return Piece(repr(value), BOOL, literal=True)
        if type(value) is int and abs(value) < 2**53:
            return Piece(repr(value), INT, literal=True)
        if type(value) is float:
            text = repr(value) if value - value == 0.0 else f"float('{value!r}')"
            return Piece(text, number(FLOAT), str(FLOAT), literal=True)
        return refuse(f"the literal {value!r}")

    def read_name(self, node: ast.Name) -> Piece:
        term = self.terms.get(node.id)
        if term is None and node.id in self.namespace:
            refuse(f"{function_in_words(self.namespace[node.id])} as a value")
        if term is None:
            refuse(f"{name_in_words(node.id)}, which has no value before")
        piece = self.variable(node.id, term)
        if node not in self.unbound:
            return piece
        return replace(piece, text=f"bound({flag_of(node.id)}, {node.id})")

    def variable(self, name: str, term: Term) -> Piece:
        rank = f"{name}__rank" if len(term.ranks) > 1 else rank_in(term)
        return Piece(name, term, rank, maybe=name in self.maybe)

    # operators

    def read_bin_op(self, node: ast.BinOp) -> Piece:
        x, y = self.read(node.left), self.read(node.right)
        return self.noted(binary(type(node.op), x, y))

    def noted(self, found: Piece) -> Piece:
        """A value; arrays are noted, as compiling pays for small ones alone."""
        self.program.whole_arrays |= found.term.is_array
        return found

    def read_unary_op(self, node: ast.UnaryOp) -> Piece:
        x = self.read(node.operand)
        if type(node.op) is not ast.Not:
            return unary(type(node.op), x)
        self.check_test(x)
        return Piece(f"(not {x.text})", BOOL)

    def read_compare(self, node: ast.Compare) -> Piece:
        values = [self.read(part) for part in (node.left, *node.comparators)]
        pairs = zip(node.ops, values, values[1:], strict=False)
        found = [self.noted(compared(type(op), x, y)) for op, x, y in pairs]
        if len(found) > 1 and any(part.term.is_array for part in found):
            refuse("a chain of comparisons of arrays")
        return reduce(both, found)

    def read_bool_op(self, node: ast.BoolOp) -> Piece:
        parts = [self.read(part) for part in node.values]
        if any(part.term.name != "bool" for part in parts):
            return self.first_of(node, parts)
        return reduce(both if type(node.op) is ast.And else either, parts)

    def first_of(self, node: ast.BoolOp, parts: list[Piece]) -> Piece:
        """`x or y` of two numbers."""
        numbers = all(part.term.name == "real" for part in parts)
        if type(node.op) is not ast.Or or len(parts) != 2 or not numbers:
            refuse(f"and, or of {both_in_words(*parts[:2])}")
        x, y = parts
        rank = x.rank if x.rank == y.rank else f"({x.rank} if {x.text} else {y.rank})"
        text = f"({x.text} if {x.text} else {y.text})"
        return Piece(text, join(x.term, y.term), rank)

    def test(self, node: ast.expr) -> str:
        """The text of the test of a branch or loop."""
        found = self.read(node)
        self.check_test(found)
        return found.text

    def check_test(self, found: Piece) -> None:
        if not found.term.is_number:
            refuse(f"the truth of {term_in_words(found.term)}")

    def read_if_exp(self, node: ast.IfExp) -> Piece:
        test, x, y = self.test(node.test), self.read(node.body), self.read(node.orelse)
        if not (x.term.is_number and y.term.is_number):
            refuse(f"a choice between {both_in_words(x, y)}")
        term = join(x.term, y.term)
        rank = x.rank if x.rank == y.rank else f"({x.rank} if {test} else {y.rank})"
        return Piece(f"({x.text} if {test} else {y.text})", term, rank)

    # parts

    def read_tuple(self, node: ast.Tuple) -> Piece:
        parts = [self.read(part) for part in node.elts]
        text = as_row([part.text for part in parts])
        ranks = as_row([rank_of(part) for part in parts])
        return Piece(text, row(*[part.term for part in parts]), ranks)

    def read_subscript(self, node: ast.Subscript) -> Piece:
        if self.program.is_called(node.value):  # a value without its residuals
            return self.inner_call(node.value)
        owner = self.read(node.value)
        if owner.term.is_number and ast.unparse(node.slice) == "()":
            return owner  # where NumPy gives a number as an array without axes
        if owner.term.name == "row":
            return self.entry(owner, node)
        text, ndim = self.key(node, owner.term)
        term = array(ndim, owner.term.dtype) if ndim else item_of(owner.term.dtype)
        rank = str(max(term.ranks)) if term.ranks else "0"
        return Piece(f"{owner.text}[{text}]", term, rank)

    def entry(self, owner: Piece, node: ast.Subscript) -> Piece:
        """An entry of a tuple, list or dict, whose entries are known one by one."""
        place: Any = getattr(node.slice, "value", None)
        if owner.term.tag is not None and place in owner.term.tag:
            place = owner.term.tag.index(place)
        if type(place) is not int or not 0 <= place < len(owner.term.parts):
            refuse("an entry of a tuple that no literal names")
        term = owner.term.parts[place]
        if len(term.ranks) > 1:
            refuse("an entry of a tuple with numbers of several classes")
        return Piece(f"{owner.text}[{place}]", term, str(max(term.ranks, default=0)))

    def key(self, node: ast.Subscript, term: Term) -> tuple[str, int]:
        """The key of a part of an array, and how many axes the part has."""
        if not term.is_array:
            refuse(f"a part of {term_in_words(term)}")
        whole = node.slice
        parts = whole.elts if isinstance(whole, ast.Tuple) else [whole]
        ndim, texts = term.ndim, []
        for part in parts:
            if isinstance(part, ast.Constant) and part.value is ...:
                texts.append("...")
            elif isinstance(part, ast.Constant) and part.value is None:
                texts.append("None")
                ndim += 1
            elif isinstance(part, ast.Slice):
                texts.append(self.slice(part))
            else:
                texts.append(self.whole(part))
                ndim -= 1
        if ndim < 0:
            refuse("a key with too many parts")
        if texts == ["..."]:
            return ":", ndim  # numba does not know it alone
        return (texts[0] if len(texts) == 1 else ", ".join(texts)), ndim

    def slice(self, node: ast.Slice) -> str:
        ends = [node.lower, node.upper]
        texts = ["" if end is None else self.whole(end) for end in ends]
        step = "" if node.step is None else f":{self.whole(node.step)}"
        return ":".join(texts) + step

    def whole(self, node: ast.expr) -> str:
        found = self.read(node)
        if found.term.name != "int":
            refuse(f"an index that is {term_in_words(found.term)}")
        return found.text

    def read_attribute(self, node: ast.Attribute) -> Piece:
        owner = self.read(node.value)
        if not owner.term.is_array:
            refuse(f"the attribute {node.attr} of {term_in_words(owner.term)}")
        if node.attr == "shape":
            return Piece(f"{owner.text}.shape", row(*[INT] * owner.term.ndim))
        if node.attr == "ndim":
            return Piece(str(owner.term.ndim), INT, literal=True)
        if node.attr == "size":
            return Piece(f"{owner.text}.size", INT)
        if node.attr == "T":
            return Piece(f"{owner.text}.T", owner.term)
        return refuse(f"the attribute {node.attr} of an array")

    # calls

    def read_call(self, node: ast.Call) -> Piece:
        if isinstance(node.func, ast.Attribute):
            return self.method(node, node.func)
        if not isinstance(node.func, ast.Name):
            refuse("a call of a function that is computed")
        if self.program.is_called(node):
            return self.inner_call(node)
        name = node.func.id
        f = self.namespace.get(name)
        options = options_of(node)
        if name == "isinstance" and name not in self.namespace:
            return self.of_class(*node.args)
        if name in self.namespace and is_known(f, LISTED):
            return self.noted(LISTED[f](*self.entries_of(node), **options))
        args = [self.argument(arg) for arg in node.args]
        told = call_in_words(f, name, args, options)
        if name in self.namespace and is_known(f, UFUNCS):
            return self.noted(made(told, partial(ufunc, UFUNCS[f]), args, options))
        make = self.function(name)
        if make is None:
            refuse(told)
        found = made(told, make, args, options)
        computed = any(x.term.is_array for x in args) and f not in COPIES
        return self.noted(found) if computed else found

    def of_class(self, node: ast.expr, classes: ast.expr) -> Piece:
        """Whether a value is an instance of a class: of numbers their ranks tell."""
        x = self.read(node)
        parts = classes.elts if isinstance(classes, ast.Tuple) else [classes]
        found: Any = tuple([self.namespace.get(ast.unparse(part)) for part in parts])
        if x.term.name not in CLASSES or None in found:
            refuse(f"isinstance({term_in_words(x.term)})")
        ranks = {r: issubclass(CLASSES[x.term.name][r], found) for r in x.term.ranks}
        if len({*ranks.values()}) == 1:
            return Piece(repr({*ranks.values()}.pop()), BOOL, literal=True)
        asked = [f"{x.rank} == {rank}" for rank, answer in ranks.items() if answer]
        return Piece(f"({' or '.join(asked)})", BOOL)

    def argument(self, node: ast.expr) -> Piece:
        """An argument; a list is given to functions of lists alone."""
        if isinstance(node, ast.Starred):
            refuse("a starred argument")
        if isinstance(node, ast.Constant) and type(node.value) is str:
            return Piece(repr(node.value), TEXT, literal=True)
        return self.read(node)

    def entries_of(self, node: ast.Call) -> list[Any]:
        """The entries of a list that a function takes, and its other arguments."""
        first, *rest = node.args
        if not isinstance(first, ast.List | ast.Tuple):
            refuse(f"an array of {expression_in_words(first)}")
        entries = [self.read(part) for part in first.elts]
        return [entries, *[self.argument(arg) for arg in rest]]

    def inner_call(self, node: Any) -> Piece:
        """A call of a function of the program, whose value alone is used."""
        text, routine = self.program.call(self, node)
        term = routine.value
        if len(term.ranks) > 1 or term.name == "row":
            refuse(f"a test that asks for {stem_of(routine.name)}")
        return Piece(f"{text}[0]", term, str(max(term.ranks, default=0)))

    def function(self, name: str) -> Any:
        """What makes a call of a function by its name; None if there is nothing."""
        if name not in self.namespace:
            return BUILTINS.get(name)
        f = self.namespace[name]
        return FUNCTIONS[f] if is_known(f, FUNCTIONS) else None

    def method(self, node: ast.Call, called: ast.Attribute) -> Piece:
        """A method of an array, by the function of that name."""
        owner, name, options = self.read(called.value), called.attr, options_of(node)
        args = [] if name == "copy" else [self.argument(arg) for arg in node.args]
        given = ", ".join([*[term_in_words(x.term) for x in args], *options])
        told = f"the method {name}({given}) of {term_in_words(owner.term)}"
        make = METHODS.get(name) or FUNCTIONS.get(getattr(np, name, None))
        if make is None or not owner.term.is_array:
            refuse(told)
        found = made(told, make, [owner, *args], options)
        found = replace(found, maybe=owner.maybe and name == "copy")
        return found if name in MOVES else self.noted(found)


def is_known(f: Any, table: dict[Any, Any]) -> bool:
    """Whether a function is in a table; it may not be hashable."""
    try:
        return f in table
    except TypeError:
        return False


def options_of(node: ast.Call) -> dict[str, Any]:
    """The keywords of a call, which generated code gives as literals."""
    try:
        return {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
    except ValueError:
        refuse("a call with other keywords than literals")


def made(told: str, make: Any, args: list[Piece], options: dict[str, Any]) -> Piece:
    """A call; where there is none, a refusal that names the call."""
    try:
        found: Piece = make(*args, **options)
    except Uncompiled as error:
        refuse(error.reason if told == OPERATION else f"{told}: {error.reason}")
    except TypeError:
        refuse(told)
    return found


def ufunc(op: type, *args: Piece) -> Piece:
    """A function of NumPy that is an operator."""
    return as_numpy(unary(op, *args) if len(args) == 1 else binary(op, *args))


def expression_in_words(node: ast.expr) -> str:
    """The kind of an expression of the program."""
    words: dict[type, str] = {ast.List: "a list", ast.Dict: "a dict"}
    return words.get(type(node)) or syntax_in_words(type(node))


def rank_in(term: Term) -> str:
    """The rank of a value by its type."""
    if term.name == "row":
        return as_row([rank_in(part) for part in term.parts])
    if len(term.ranks) > 1:
        refuse("a tuple with numbers of several classes")
    return str(max(term.ranks, default=PLAIN))


def rank_of(part: Piece) -> str:
    return part.rank if part.term.is_number or part.term.name == "row" else "0"
