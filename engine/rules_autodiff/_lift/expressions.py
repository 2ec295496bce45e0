"""The lift of expressions."""

import ast
from types import CodeType
from typing import Any, Never

from rules_autodiff._python.errors import UnsupportedProgram

from .decisions import decides

__all__ = ["ExpressionLifter", "names_only", "pattern", "skipping"]

BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul",
    ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "and_", ast.BitOr: "or_",
    ast.BitXor: "xor",
}  # fmt: skip
UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
COMPARE = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq",
    ast.NotEq: "ne",
}  # fmt: skip

# These inspect the frame of their caller; called by a hook they would see the hook's.
FRAME_READERS = {"locals", "vars", "eval", "exec", "dir"}


class ExpressionLifter:
    """Replaces each operation of an expression by a call of the hook with its name."""

    def __init__(
        self,
        code: CodeType,
        hooks: str,
        modules: set[str],
        opaque: set[str],
        stored: frozenset[str] = frozenset(),
    ):
        self.code = code
        self.hooks = hooks
        self.modules = modules
        self.opaque = opaque  # of these modules, those that are not lifted
        self.stored = stored  # variables that some function of the file stores to
        self.skips: dict[ast.AST, tuple[Any, ...]] = {}
        self.first_argument: list[str | None] = []  # for super(), innermost last
        self.temporaries = 0
        self.in_iterable = 0  # where Python forbids a walrus
        self.deciding_for = 0  # how many expressions whose values only decide

    def visit(self, node: Any) -> Any:
        """Lift one node: by the method for its class, otherwise its children."""
        method = getattr(self, f"visit_{type(node).__name__}", None)
        inner = decides(node)
        self.deciding_for += inner
        lifted = self.visit_parts(node) if method is None else method(node)
        self.deciding_for -= inner
        return lifted

    def visit_parts(self, node: Any) -> Any:
        """Lift the children of a node that stays unchanged."""
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
            elif isinstance(value, list):
                setattr(node, field, self.block(value))
        return node

    def block(self, parts: list[Any]) -> list[Any]:
        """A list of nodes, lifted in order; one statement may become several."""
        lifted: list[Any] = []
        for part in parts:
            result = self.visit(part) if isinstance(part, ast.AST) else part
            lifted.extend(result if isinstance(result, list) else [result])
        return lifted

    def hook(self, name: str, at: ast.AST, *args: ast.expr) -> Any:
        """``hooks.name(*args)``, at the source position of ``at``."""
        base = ast.Name(self.hooks, ast.Load())
        call = ast.Call(ast.Attribute(base, name, ast.Load()), list(args), [])
        return place(call, at)

    def temporary(self) -> str:
        """A name for a value that the lifted code needs twice."""
        self.temporaries += 1
        return f"{self.hooks}{self.temporaries}"

    def unsupported(self, node: ast.AST, what: str) -> Never:
        """Raise the error for a construct that is not differentiated."""
        line = getattr(node, "lineno", self.code.co_firstlineno)
        message = (
            f"{what} inside a differentiated function is not supported "
            f"({self.code.co_filename}, line {line}, in {self.code.co_qualname}). "
            "Move it out of the function, or write a rule for the function."
        )
        raise UnsupportedProgram(message)

    # operators

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.visit(node.left), self.visit(node.right)
        return self.hook(BINARY[type(node.op)], node, left, right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return place(ast.UnaryOp(node.op, self.test(node.operand)), node)
        operand = self.visit(node.operand)
        if isinstance(node.operand, ast.Constant):
            return node
        return self.hook(UNARY[type(node.op)], node, operand)

    def visit_Compare(self, node: ast.Compare) -> Any:
        """``a < b < c`` is ``a < (t := b) and t < c``: operands are computed once."""
        if len(node.ops) > 1 and self.in_iterable:
            return place(self.visit_parts(node), node)
        left, parts = self.visit(node.left), []
        for number, (op, item) in enumerate(
            zip(node.ops, node.comparators, strict=True)
        ):
            right = self.visit(item)
            last = number == len(node.ops) - 1
            simple = isinstance(item, ast.Name | ast.Constant)
            following = right
            if not (last or simple):
                name = self.temporary()
                right = ast.NamedExpr(ast.Name(name, ast.Store()), right)
                following = ast.Name(name, ast.Load())
            parts.append(self.comparison(op, left, right, node))
            left = following
        return (
            parts[0] if len(parts) == 1 else place(ast.BoolOp(ast.And(), parts), node)
        )

    def comparison(
        self, op: ast.cmpop, left: ast.expr, right: ast.expr, at: ast.AST
    ) -> Any:
        """One comparison; identity and membership give plain booleans.

        Constants such as None are no arguments.
        """
        if type(op) in COMPARE:
            name = COMPARE[type(op)]
            if name in ("eq", "ne") and (is_literal(left) or is_literal(right)):
                name = f"literal_{name}"
            return self.hook(name, at, left, right)
        if isinstance(op, ast.In | ast.NotIn):
            membership = self.hook("contains", at, left, right)
            return (
                membership
                if isinstance(op, ast.In)
                else place(ast.UnaryOp(ast.Not(), membership), at)
            )
        if isinstance(left, ast.Constant) or isinstance(right, ast.Constant):
            return place(ast.Compare(left, [op], [right]), at)
        same = self.hook("is_same", at, left, right)
        return (
            same if isinstance(op, ast.Is) else place(ast.UnaryOp(ast.Not(), same), at)
        )

    # tests

    def test(self, node: Any) -> Any:
        """An expression of which only the truth value is used."""
        if isinstance(node, ast.BoolOp):
            node.values = [skipping(self, v, self.test(v)) for v in node.values]
            return node
        truth = gives_truth(node)
        self.deciding_for += 1
        lifted = self.visit(node)
        self.deciding_for -= 1
        return lifted if truth else self.hook("truth", node, lifted)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """``a or b`` gives one of its operands: ``t if truth(t := a) else b``."""
        values = [(v, gives_truth(v), self.visit(v)) for v in node.values]
        result = values.pop()[2]
        for operand, boolean, value in reversed(values):
            if boolean:
                parts = [skipping(self, operand, value), result]
                result = place(ast.BoolOp(node.op, parts), node)
            else:
                result = self.decided(node, operand, value, result)
        return result

    def decided(self, node: ast.BoolOp, operand: Any, value: Any, other: Any) -> Any:
        """One ``and`` or ``or`` whose left operand decides by its own truth."""
        stops = isinstance(node.op, ast.Or)
        if self.in_iterable and not isinstance(value, ast.Name):
            later = ast.Lambda(ast.arguments([], [], None, [], [], None, []), other)
            return self.hook("either" if stops else "both_of", node, value, later)
        name = value.id if isinstance(value, ast.Name) else self.temporary()
        if not isinstance(value, ast.Name):
            value = ast.NamedExpr(ast.Name(name, ast.Store()), value)
        test, again = self.hook("truth", node, value), ast.Name(name, ast.Load())
        test = skipping(self, operand, test)
        parts = (again, other) if stops else (other, again)
        return place(ast.IfExp(test, *parts), node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        node.test = skipping(self, node, self.test(node.test))
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    # access

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id in self.modules:
            if self.deciding_for or node.value.id in self.opaque:
                return node
            return self.hook("getattr", node, node.value, ast.Constant(node.attr))
        owner = self.visit(node.value)
        name = "attribute_for_test" if self.deciding_for else "getattr"
        return self.hook(name, node, owner, ast.Constant(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        name = "item_for_test" if self.deciding_for else "getitem"
        return self.hook(name, node, self.visit(node.value), self.visit(node.slice))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        """Its variable may be used for more than the test that it stands in."""
        outer, self.deciding_for = self.deciding_for, 0
        lifted = self.visit_parts(node)
        self.deciding_for = outer
        return lifted

    def visit_Name(self, node: ast.Name) -> Any:
        """Variables that some function stores to as global or nonlocal ones."""
        stored = isinstance(node.ctx, ast.Load) and node.id in self.stored
        if not stored or self.deciding_for:
            return node
        return self.hook("outer", node, node, ast.Constant(node.id))

    def visit_Slice(self, node: ast.Slice) -> Any:
        bounds = (node.lower, node.upper, node.step)
        parts = [ast.Constant(None) if b is None else self.visit(b) for b in bounds]
        return self.hook("slice", node, *parts)

    def visit_Starred(self, node: ast.Starred) -> Any:
        value = self.hook("starred", node, self.visit(node.value))
        return place(ast.Starred(value, node.ctx), node)

    # texts

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """An f-string may be the key of a cache."""
        return self.hook("from_text", node, self.visit_parts(node))

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.FormattedValue:
        """``{value!r:spec}`` is ``format(repr(value), spec)``, in place."""
        spec = ast.Constant("") if node.format_spec is None else node.format_spec
        conversion = ast.Constant("" if node.conversion < 0 else chr(node.conversion))
        value = self.visit(node.value)
        node.value = self.hook("formatted", node, value, conversion, self.visit(spec))
        node.conversion, node.format_spec = -1, None
        return node

    # calls

    def visit_Call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name == "super" and not node.args:
            return self.full_super(node)
        if name in FRAME_READERS and not (name in {"vars", "dir"} and node.args):
            self.unsupported(node, f"{name}()")
        if name == "globals":
            return node
        args = [self.visit(arg) for arg in node.args]
        keywords = [ast.keyword(k.arg, self.entry(k.arg, k.value, node))
                    for k in node.keywords]  # fmt: skip
        if isinstance(node.func, ast.Attribute) and not self.of_module(node.func):
            owner = self.visit(node.func.value)
            attribute = ast.Constant(node.func.attr)
            call = self.hook("method", node, owner, attribute, *args)
        else:
            known = isinstance(node.func, ast.Attribute)  # of a module
            f = node.func if known else self.visit(node.func)
            call = self.hook("call", node, f, *args)
        call.keywords = keywords
        return place(call, node)

    def entry(self, key: Any, value: ast.expr, at: ast.AST) -> Any:
        """A value of a display or call; without a key it is a mapping to unpack."""
        lifted = self.visit(value)
        return self.hook("entries", at, lifted) if key is None else lifted

    def visit_Dict(self, node: ast.Dict) -> Any:
        keys = [key and self.visit(key) for key in node.keys]
        pairs = zip(node.keys, node.values, strict=True)
        values = [self.entry(key, value, node) for key, value in pairs]
        made = place(ast.Dict(keys, values), node)
        if all(key is None or isinstance(key, ast.Constant) for key in node.keys):
            return made
        count = ast.Constant(0 if None in node.keys else len(keys))
        return self.hook("display", node, made, count)

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        return self.hook("display", node, self.visit_parts(node))

    def of_module(self, node: ast.Attribute) -> bool:
        return isinstance(node.value, ast.Name) and node.value.id in self.modules

    def full_super(self, node: ast.Call) -> Any:
        """``super()`` looks at its caller's frame; with arguments it does not."""
        first = self.first_argument[-1] if self.first_argument else None
        if first is None:
            self.unsupported(node, "super() without a first argument")
        node.args = [ast.Name("__class__", ast.Load()), ast.Name(first, ast.Load())]
        return place(node, node)

    # functions and comprehensions

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        self.visit_defaults(node.args)
        self.first_argument.append(first_name(node.args))
        outer = self.in_iterable, self.deciding_for
        self.in_iterable = self.deciding_for = 0
        node.body = self.visit(node.body)
        self.in_iterable, self.deciding_for = outer
        self.first_argument.pop()
        return node

    def visit_defaults(self, args: ast.arguments) -> None:
        """Lift the default values, which belong to the function outside."""
        args.defaults = [self.visit(d) for d in args.defaults]
        args.kw_defaults = [d if d is None else self.visit(d) for d in args.kw_defaults]

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        if not names_only(node.target):
            self.unsupported(node.target, "A comprehension over attributes or items")
        self.in_iterable += 1
        iterable = self.visit(node.iter)
        self.in_iterable -= 1
        node.iter = self.iteration(iterable, node.target)
        node.ifs = [self.test(test) for test in node.ifs]
        if node.is_async:
            self.unsupported(node.target, "async")
        return node

    def iteration(self, iterable: ast.expr, target: ast.expr) -> Any:
        """The iterable of a loop: items that the engine can differentiate."""
        if isinstance(target, ast.Tuple | ast.List):
            return self.hook("unpacked", iterable, iterable, pattern(target))
        return self.hook("iter", iterable, iterable)

    def visit_Set(self, node: ast.Set) -> Any:
        node.elts = [self.set_entry(entry) for entry in node.elts]
        return node

    def set_entry(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Starred):
            return self.hook("hashed", node, self.visit(node))
        items = self.hook("hashed_items", node, self.visit(node.value))
        return place(ast.Starred(items, node.ctx), node)

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        node.generators = [self.visit(g) for g in node.generators]
        node.elt = self.hook("hashed", node.elt, self.visit(node.elt))
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        node.value = self.hook("iter", node, self.visit(node.value))
        return node

    def visit_Await(self, node: ast.Await) -> Any:
        self.unsupported(node, "await")


def skipping(lifter: ExpressionLifter, node: Any, test: Any) -> Any:
    """A test that decides; the hook knows what it leaves out."""
    if node not in lifter.skips:
        return test
    return lifter.hook("decided", node, test, *map(ast.Constant, lifter.skips[node]))


def place(node: Any, at: ast.AST) -> Any:
    """Give ``node`` the source position of ``at``, so that errors show the user's line.

    Children without a position inherit it at compilation.
    """
    return ast.copy_location(node, at)


def is_literal(node: ast.expr) -> bool:
    """Whether an operand is a literal constant."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant)


def gives_truth(node: ast.expr) -> bool:
    """Whether an expression gives a boolean, or a number with Python's truth value."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.BoolOp):
        return all(map(gives_truth, node.values))
    return isinstance(node, ast.Constant | ast.Compare)


def first_name(args: ast.arguments) -> str | None:
    """The name of the first positional argument."""
    named = [*args.posonlyargs, *args.args]
    return named[0].arg if named else None


def names_only(target: ast.expr) -> bool:
    """Whether an assignment target consists of plain names."""
    if isinstance(target, ast.Tuple | ast.List):
        return all(names_only(item) for item in target.elts)
    inner = target.value if isinstance(target, ast.Starred) else target
    return isinstance(inner, ast.Name)


def pattern(target: ast.expr) -> Any:
    """The shape of a target: ``a, (b, c)`` is ``(None, (None, None))``."""
    if isinstance(target, ast.Tuple | ast.List):
        return ast.Tuple([pattern(item) for item in target.elts], ast.Load())
    return ast.Constant("*" if isinstance(target, ast.Starred) else None)
