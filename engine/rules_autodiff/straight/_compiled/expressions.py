"""Expressions of generated code, as expressions of compiled code with their types."""

import ast
from dataclasses import replace
from typing import Any

from .functions import BUILTINS, FUNCTIONS, axes_of, dot, higher, ranks_of
from .terms import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    NOTHING,
    NUMPY,
    PLAIN,
    Piece,
    Term,
    array,
    item_of,
    join,
    number,
    refuse,
    row,
)
from .unbound import flag_of

__all__ = ["Expressions", "as_row"]

OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//",
    ast.Mod: "%", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
CHECKED: dict[type, str] = {
    ast.Add: "add_int", ast.Sub: "sub_int", ast.Mult: "mul_int",
    ast.FloorDiv: "div_int", ast.Mod: "mod_int",
}  # fmt: skip
PRODUCTS = frozenset({2, 3})  # exponents of powers that are products


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
            refuse(f"the expression {ast.unparse(node)}")
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
        if term is None:
            refuse(f"the variable {node.id}, which has no value before")
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
        if type(node.op) is ast.Pow:
            return self.power(x, y)
        if type(node.op) is ast.MatMult:
            return dot(x, y)
        sign = OPERATORS.get(type(node.op))
        if sign is None:
            refuse(f"the operator in {ast.unparse(node)}")
        if x.term.is_array or y.term.is_array or NOTHING in (x.term, y.term):
            return self.of_arrays(x, y, sign)
        if not (x.term.is_number and y.term.is_number):
            refuse(f"an operator of other values than numbers: {ast.unparse(node)}")
        if x.term.is_whole and y.term.is_whole:
            return self.of_whole(x, y, type(node.op), sign)
        if sign != "/":
            self.check_whole(x, y)
        least = FLOAT if sign == "/" else PLAIN
        ranks, rank = ranks_of(x, y, least=least), higher(x, y, least=least)
        text = f"({x.text} {sign} {y.text})"
        if PLAIN in ranks:  # in Python it may be a whole number, which is not rounded
            text = f"digits{text}"
        return Piece(text, Term("real", ranks), rank)

    def check_whole(self, x: Piece, y: Piece) -> None:
        """Refuse arithmetic of what may be whole numbers, which are not rounded."""
        literal = x.literal or y.literal
        if PLAIN in x.term.ranks and PLAIN in y.term.ranks and not literal:
            refuse(f"{x.text} and {y.text}, which may be whole numbers, are combined")

    def of_whole(self, x: Piece, y: Piece, op: type, sign: str) -> Piece:
        """Whole numbers, in Python without a limit."""
        ranks, rank = ranks_of(x, y), higher(x, y)
        if sign == "/":
            text = f"(exact({x.text}) / exact({y.text}))"
            ranks, rank = ranks_of(x, y, least=FLOAT), higher(x, y, least=FLOAT)
            return Piece(text, Term("real", ranks), rank)
        if x.term.name == y.term.name == "bool" and NUMPY in ranks:
            refuse("an operator of truth values of NumPy's, which are no numbers")
        both = [f"int({p.text})" if p.term.name == "bool" else p.text for p in (x, y)]
        return Piece(f"{CHECKED[op]}({', '.join(both)})", Term("int", ranks), rank)

    def of_arrays(self, x: Piece, y: Piece, sign: str) -> Piece:
        self.program.whole_arrays = True
        if sign not in ("+", "-", "*", "/"):
            refuse(f"the operator {sign} of arrays")
        floats = [p.term.dtype == "d" or p.term.name == "real" for p in (x, y)]
        others = [p.term.is_array or p.term.is_number or p.term == NOTHING
                  for p in (x, y)]  # fmt: skip
        if not all(others):
            refuse("an operator of an array and something else")
        if x.term == NOTHING:
            return Piece(y.text, y.term) if y.term.is_array else x
        if y.term == NOTHING:
            refuse("a cotangent that was never made is used")
        if not any(floats):
            refuse("arithmetic of arrays of whole numbers")
        term = array(max(x.term.ndim, y.term.ndim))
        if x.maybe and sign == "+" and y.term.is_array:
            return Piece(f"joined({x.text}, {y.text})", term)
        return Piece(f"({x.text} {sign} {y.text})", term, maybe=x.maybe)

    def power(self, x: Piece, p: Piece) -> Piece:
        exponent = int(p.text.strip("(+)")) if p.literal and p.term == INT else None
        if x.term.is_array:
            if x.term.dtype != "d" or exponent not in PRODUCTS:
                refuse("a power of an array other than a square or a cube")
            return Piece(f"({x.text} ** {p.text})", x.term)
        if not (x.term.is_number and p.term.is_number):
            refuse("a power of something else than numbers")
        if x.term.is_whole and p.term.is_whole:
            if exponent != 2 or x.term.name != "int":
                refuse("a power of whole numbers")
            return Piece(f"mul_int({x.text}, {x.text})", x.term, x.rank)
        if PLAIN in x.term.ranks and PLAIN in p.term.ranks:
            refuse("a power of what may be a whole number")
        product = f"finite({x.text} ** {p.text})"
        text = product if exponent in PRODUCTS else f"power({x.text}, {p.text})"
        ranks, rank = ranks_of(x, p, least=FLOAT), higher(x, p, least=FLOAT)
        return Piece(text, Term("real", ranks), rank)

    def read_unary_op(self, node: ast.UnaryOp) -> Piece:
        x = self.read(node.operand)
        if type(node.op) is ast.Not:
            self.check_test(x)
            return Piece(f"(not {x.text})", BOOL)
        if type(node.op) not in (ast.USub, ast.UAdd) or x.term.name == "bool":
            refuse(f"the operator in {ast.unparse(node)}")
        if not (x.term.is_number or x.term.dtype == "d"):
            refuse("the negative of something else than numbers")
        sign = "-" if type(node.op) is ast.USub else "+"
        checked = sign == "-" and x.term.is_whole and not x.literal
        text = f"neg_int({x.text})" if checked else f"({sign}{x.text})"
        return Piece(text, x.term, x.rank, x.literal, x.maybe)

    def read_compare(self, node: ast.Compare) -> Piece:
        x = self.read(node.left)
        if len(node.ops) != 1:
            refuse("a chain of comparisons")
        y, sign = self.read(node.comparators[0]), OPERATORS.get(type(node.ops[0]))
        if sign is None or not (x.term.is_number and y.term.is_number):
            refuse(f"the comparison {ast.unparse(node)}")
        texts = [x.text, y.text]
        if x.term.is_whole != y.term.is_whole:
            texts = [as_float(p) for p in (x, y)]
        ranks = {NUMPY if rank == NUMPY else PLAIN for rank in ranks_of(x, y)}
        term, rank = Term("bool", frozenset(ranks)), str(max(ranks))
        if len(ranks) > 1:
            rank = f"({NUMPY} if {higher(x, y)} == {NUMPY} else {PLAIN})"
        return Piece(f"({texts[0]} {sign} {texts[1]})", term, rank)

    def read_bool_op(self, node: ast.BoolOp) -> Piece:
        parts = [self.read(part) for part in node.values]
        if any(part.term.name != "bool" for part in parts):
            return self.first_of(node, parts)
        found = parts[0]
        for part in parts[1:]:
            found = self.either(found, part, both=type(node.op) is ast.And)
        return found

    def either(self, x: Piece, y: Piece, *, both: bool) -> Piece:
        """`x and y` or `x or y` of truth values, of which Python gives one."""
        ranks = (y.rank, x.rank) if both else (x.rank, y.rank)
        rank = x.rank
        if x.rank != y.rank:
            rank = f"({ranks[0]} if {x.text} else {ranks[1]})"
        text = f"({x.text} {'and' if both else 'or'} {y.text})"
        return Piece(text, join(x.term, y.term), rank)

    def first_of(self, node: ast.BoolOp, parts: list[Piece]) -> Piece:
        """`x or y` of two numbers."""
        numbers = all(part.term.name == "real" for part in parts)
        if type(node.op) is not ast.Or or len(parts) != 2 or not numbers:
            refuse("and, or of other values than truth values")
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
            refuse("a test of something else than a number")

    def read_if_exp(self, node: ast.IfExp) -> Piece:
        test, x, y = self.test(node.test), self.read(node.body), self.read(node.orelse)
        if not (x.term.is_number and y.term.is_number):
            refuse("a choice between other values than numbers")
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
        if owner.term.name == "row":
            return self.entry(owner, node)
        text, ndim = self.key(node, owner.term)
        term = array(ndim, owner.term.dtype) if ndim else item_of(owner.term.dtype)
        rank = str(max(term.ranks)) if term.ranks else "0"
        return Piece(f"{owner.text}[{text}]", term, rank)

    def entry(self, owner: Piece, node: ast.Subscript) -> Piece:
        """An entry of a tuple."""
        place: Any = getattr(node.slice, "value", None)
        if type(place) is not int or not 0 <= place < len(owner.term.parts):
            refuse(f"the entry {ast.unparse(node)} of a tuple")
        term = owner.term.parts[place]
        if len(term.ranks) > 1:
            refuse("an entry of a tuple with numbers of several classes")
        return Piece(f"{owner.text}[{place}]", term, str(max(term.ranks, default=0)))

    def key(self, node: ast.Subscript, term: Term) -> tuple[str, int]:
        """The key of a part of an array, and how many axes the part has."""
        if not term.is_array:
            refuse(f"the part {ast.unparse(node)} of a value that is {term.name}")
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
            refuse(f"the index {ast.unparse(node)}")
        return found.text

    def read_attribute(self, node: ast.Attribute) -> Piece:
        owner = self.read(node.value)
        if not owner.term.is_array:
            refuse(f"the attribute {ast.unparse(node)}")
        if node.attr == "shape":
            return Piece(f"{owner.text}.shape", row(*[INT] * owner.term.ndim))
        if node.attr == "size":
            return Piece(f"{owner.text}.size", INT)
        if node.attr == "T":
            return Piece(f"{owner.text}.T", owner.term)
        return refuse(f"the attribute {ast.unparse(node)}")

    # calls

    def read_call(self, node: ast.Call) -> Piece:
        if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
            refuse(f"the call {ast.unparse(node)}")
        if isinstance(node.func, ast.Attribute):
            return self.method(node, node.func)
        if not isinstance(node.func, ast.Name):
            refuse(f"the call {ast.unparse(node)}")
        if self.program.is_called(node):
            return self.inner_call(node)
        make = self.function(node.func.id)
        if make is None:
            refuse(f"a call of {node.func.id.partition('__')[0]}")
        args = [self.read(arg) for arg in node.args]
        try:
            found: Piece = make(*args)
        except TypeError:
            refuse(f"the call {ast.unparse(node)}")
        return found

    def inner_call(self, node: Any) -> Piece:
        """A call of a function of the program, whose value alone is used."""
        text, routine = self.program.call(self, node)
        term = routine.value
        if len(term.ranks) > 1 or term.name == "row":
            refuse(f"a test asks for {ast.unparse(node)}")
        return Piece(f"{text}[0]", term, str(max(term.ranks, default=0)))

    def function(self, name: str) -> Any:
        """What makes a call of a function by its name; None if there is nothing."""
        if name not in self.namespace:
            return BUILTINS.get(name)
        try:
            return FUNCTIONS.get(self.namespace[name])
        except TypeError:  # it is not hashable
            return None

    def method(self, node: ast.Call, called: ast.Attribute) -> Piece:
        owner, name = self.read(called.value), called.attr
        args = [] if name == "copy" else [self.read(arg) for arg in node.args]
        if owner.term.is_array and owner.term.dtype == "d":
            if name == "copy":
                return Piece(f"{owner.text}.copy()", owner.term, maybe=owner.maybe)
            if name == "dot" and len(args) == 1:
                return dot(owner, args[0])
            if name == "reshape" and len(args) == 1 and axes_of(args[0]) == 1:
                flat = f"np.ascontiguousarray({owner.text})"
                return Piece(f"{flat}.reshape({args[0].text})", array(1))
        return refuse(f"the call {ast.unparse(node)}")


def rank_in(term: Term) -> str:
    """The rank of a value by its type."""
    if term.name == "row":
        return as_row([rank_in(part) for part in term.parts])
    if len(term.ranks) > 1:
        refuse("a tuple with numbers of several classes is a variable")
    return str(max(term.ranks, default=PLAIN))


def rank_of(part: Piece) -> str:
    return part.rank if part.term.is_number or part.term.name == "row" else "0"


def as_float(x: Piece) -> str:
    """A number that is compared with a float, exactly."""
    if x.literal or not x.term.is_whole:
        return x.text
    return f"exact({x.text})"
