"""The lift of statements: assignments, loops, ``with`` and nested functions."""

import ast
from typing import Any

from .expressions import (
    ExpressionLifter,
    first_name,
    names_only,
    pattern,
    place,
    skipping,
)
from .skipped_stores import SkippedStores

__all__ = ["Lifter"]

INPLACE = {
    ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.Div: "itruediv",
    ast.FloorDiv: "ifloordiv", ast.Mod: "imod", ast.Pow: "ipow",
    ast.MatMult: "imatmul", ast.LShift: "ilshift", ast.RShift: "irshift",
    ast.BitAnd: "iand", ast.BitOr: "ior", ast.BitXor: "ixor",
}  # fmt: skip
# Statements that may end before their end, or leave parts of an expression out.
ENDING = (
    ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Try
    | ast.With | ast.Match
)  # fmt: skip
Statements = list[ast.stmt]


class Lifter(ExpressionLifter):
    """Lifts a whole function; a statement becomes one statement or several."""

    def lift_function(self, node: Any) -> Any:
        """The definition itself; its context handles decorators and defaults."""
        self.first_argument.append(first_name(node.args))
        self.skips |= SkippedStores(node, self.opaque, self.code.co_freevars).found
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        elif isinstance(node, ast.AsyncFunctionDef):
            self.unsupported(node, "async def")
        else:
            node.decorator_list = []
            node.body = self.block(node.body)
        self.first_argument.pop()
        return node

    def visit(self, node: Any) -> Any:
        """Lift one node; the hook comes before a statement that may skip parts."""
        before = passing(self, node) if isinstance(node, ENDING) else []
        lifted = super().visit(node)
        if not before:
            return lifted
        return [*before, *(lifted if isinstance(lifted, list) else [lifted])]

    # assignment

    def visit_Assign(self, node: ast.Assign) -> Any:
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return self.assign(node.targets[0], value, node)
        name = self.temporary()
        lifted = [self.store(name, value, node)]
        for target in node.targets:
            lifted += self.assign(target, load(name), node)
        return lifted

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return node
        return self.assign(node.target, self.visit(node.value), node)

    def assign(self, target: ast.expr, value: ast.expr, at: ast.AST) -> Statements:
        """Statements that store ``value`` in one target."""
        if isinstance(target, ast.Name):
            return [place(ast.Assign([target], value), at)]
        if isinstance(target, ast.Attribute):
            owner, name = self.visit(target.value), ast.Constant(target.attr)
            return [self.effect("store_attr", at, value, owner, name)]
        if isinstance(target, ast.Subscript):
            owner, index = self.visit(target.value), self.visit(target.slice)
            return [self.effect("store_item", at, value, owner, index)]
        return self.destructure(target, value, at)

    def destructure(self, target: Any, value: ast.expr, at: ast.AST) -> Statements:
        """``a, b[i] = value``: through temporaries if a target is not a name."""
        parts = self.hook("unpack", at, value, pattern(target))
        if names_only(target):
            return [place(ast.Assign([target], parts), at)]
        later: list[tuple[ast.expr, str]] = []
        stand_in = self.stand_in(target, later)
        lifted: Statements = [place(ast.Assign([stand_in], parts), at)]
        for inner, name in later:
            lifted += self.assign(inner, load(name), at)
        return lifted

    def stand_in(self, target: Any, later: list[tuple[ast.expr, str]]) -> ast.expr:
        """This pattern with a temporary instead of every leaf."""
        if isinstance(target, ast.Tuple | ast.List):
            items = [self.stand_in(item, later) for item in target.elts]
            return ast.Tuple(items, ast.Store())
        if isinstance(target, ast.Starred):
            return ast.Starred(self.stand_in(target.value, later), ast.Store())
        name = self.temporary()
        later.append((target, name))
        return ast.Name(name, ast.Store())

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target, name = node.target, INPLACE[type(node.op)]
        if isinstance(target, ast.Name):
            old: Any = ast.Name(target.id, ast.Load())
            value = self.hook(name, node, old, self.visit(node.value))
            return place(ast.Assign([target], value), node)
        owner = self.temporary()
        lifted: Statements = [self.store(owner, self.visit(target.value), node)]
        if isinstance(target, ast.Attribute):
            key: ast.expr = ast.Constant(target.attr)
            read, write = "getattr", "store_attr"
        else:
            index = self.temporary()
            lifted.append(self.store(index, self.visit(target.slice), node))
            key = load(index)
            read, write = "getitem", "store_item"
        old = self.hook(read, node, load(owner), key)
        value = self.hook(name, node, old, self.visit(node.value))
        return [*lifted, self.effect(write, node, value, load(owner), key)]

    def visit_Delete(self, node: ast.Delete) -> Any:
        return [self.delete(target, node) for target in node.targets]

    def delete(self, target: ast.expr, at: ast.AST) -> Any:
        if isinstance(target, ast.Attribute):
            name = ast.Constant(target.attr)
            return self.effect("delattr", at, self.visit(target.value), name)
        if isinstance(target, ast.Subscript):
            owner, index = self.visit(target.value), self.visit(target.slice)
            return self.effect("delitem", at, owner, index)
        return place(ast.Delete([target]), at)

    # compound statements

    def visit_For(self, node: ast.For) -> Any:
        iterable, opening = self.visit(node.iter), Statements()
        if not names_only(node.target):
            name = self.temporary()
            opening = self.assign(node.target, load(name), node)
            node.target = place(ast.Name(name, ast.Store()), node.target)
        node.iter = self.iteration(iterable, node.target)
        node.body = opening + self.block(node.body)
        node.orelse = [*passing(self, node, "passed"), *self.block(node.orelse)]
        return node

    def visit_If(self, node: Any) -> Any:
        """``if`` and ``while``: tests, which may call a ``__bool__``."""
        node.test = skipping(self, node, self.test(node.test))
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    visit_While = visit_If  # noqa: N815  (the name is of Python)

    def visit_Assert(self, node: ast.Assert) -> Any:
        node.test = self.test(node.test)
        node.msg = node.msg and self.visit(node.msg)
        return node

    def visit_With(self, node: ast.With) -> Any:
        opening: Statements = []
        for item in node.items:
            manager = self.visit(item.context_expr)
            item.context_expr = self.hook("context", item.context_expr, manager)
            target = item.optional_vars
            if target is not None and not isinstance(target, ast.Name):
                name = self.temporary()
                opening += self.assign(target, load(name), node)
                item.optional_vars = place(ast.Name(name, ast.Store()), target)
        node.body = opening + self.block(node.body)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.visit_defaults(node.args)
        decorators = [(self.temporary(), self.visit(d)) for d in node.decorator_list]
        lifted: Statements = [self.store(n, d, d) for n, d in decorators]
        lifted.append(self.lift_function(node))
        for name, decorator in reversed(decorators):
            call = self.hook("call", decorator, load(name), load(node.name))
            lifted.append(self.store(node.name, call, decorator))
        return lifted

    def visit_Match(self, node: ast.Match) -> Any:
        """Class patterns read attributes natively, so properties are an error."""
        checks = [
            self.effect("check_pattern", part, part.cls, *pattern_names(part))
            for part in ast.walk(node)
            if isinstance(part, ast.MatchClass) and (part.kwd_attrs or part.patterns)
        ]
        return [*checks, self.visit_parts(node)]

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        """Patterns stay unchanged: they only read attributes and items."""
        node.guard = node.guard and self.test(node.guard)
        node.body = self.block(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        self.unsupported(node, "A class statement")

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        self.unsupported(node, "async def")

    def visit_AsyncFor(self, node: ast.AsyncFor) -> Any:
        self.unsupported(node, "async for")

    def visit_AsyncWith(self, node: ast.AsyncWith) -> Any:
        self.unsupported(node, "async with")

    # pieces

    def store(self, name: str, value: ast.expr, at: ast.AST) -> Any:
        """``name = value``."""
        return place(ast.Assign([ast.Name(name, ast.Store())], value), at)

    def effect(self, name: str, at: ast.AST, *args: ast.expr) -> Any:
        """A hook call as a statement."""
        return place(ast.Expr(self.hook(name, at, *args)), at)


def passing(lifter: Lifter, node: ast.stmt, name: str = "passing") -> Statements:
    """The hook before a statement that may end where it will, or after a loop."""
    if node not in lifter.skips:
        return []
    places, _, *others = map(ast.Constant, lifter.skips[node])
    return [lifter.effect(name, node, places, *others)]


def pattern_names(part: ast.MatchClass) -> list[ast.expr]:
    """The named attributes of a class pattern, and the number of positional ones."""
    names = ast.Tuple([ast.Constant(n) for n in part.kwd_attrs], ast.Load())
    return [names, ast.Constant(len(part.patterns))]


def load(name: str) -> ast.expr:
    """A name, read."""
    return ast.Name(name, ast.Load())
