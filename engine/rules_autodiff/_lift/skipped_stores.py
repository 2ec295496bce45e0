"""What an `if` stores on the way that is not taken, read from the program's text.

    if not np.allclose(self.x, x):
        self.x, self.value = x.copy(), f(x)
    return self.value

Where the test depends on an argument and the branch is skipped, `self.value` may be the
result of an earlier call. Which places a branch would have stored to, and what its test
reads, stands in the lifted code as constants:

- a *chain* is a name and the steps from there: ``("self", "cache", (0,))`` is
  ``self.cache[0]``;
- a *place* is ``("attribute", chain, name)``, ``("item", chain, key)``, ``("items",
  chain)`` for an item that is not known here, ``("name", name)`` for a global or
  nonlocal variable that the function also reads, or ``("call", chain, chains of the
  arguments)`` for a function that may store.
"""

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from .source import Definition, own_tree

__all__ = ["SkippedStores", "places_in", "places_of"]

Chain = tuple[Any, ...]
Place = tuple[Any, ...]
SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
EXITS = ast.Return | ast.Raise | ast.Continue | ast.Break

# What a value is asked for without its numbers.
FACTS = frozenset({"shape", "size", "ndim", "dtype"})
FACT_FUNCTIONS = frozenset({
    "len", "isinstance", "hasattr", "type", "callable", "id", "stop_gradient",
})  # fmt: skip


class SkippedStores:
    """The stores that each `if` of a function leaves out, on either way."""

    def __init__(self, tree: Any, quiet: Iterable[str]):
        body = body_of(tree)
        self.outer = outer_names(body)
        self.quiet = frozenset(quiet)  # modules whose functions store nothing
        self.sources = sources(body)
        self.found: dict[ast.AST, tuple[Any, ...]] = {}
        self.block(body, [])

    def block(self, body: list[ast.stmt], after: list[ast.stmt]) -> None:
        """Look at statements and at what is inside of them."""
        for number, node in enumerate(body):
            rest = body[number + 1 :] + after
            if isinstance(node, ast.While):
                self.note(node, node.test, (), self.places(node.body))
            if isinstance(node, ast.If):
                taken = self.way(node.body, node.orelse, rest)
                other = self.way(node.orelse, node.body, rest)
                self.note(node, node.test, taken, other)
            if isinstance(node, SCOPES):
                continue
            for part in own_expressions(node):
                self.expression(part)
            for inner in blocks(node):
                self.block(inner, rest)

    def way(
        self, nodes: list[Any], others: list[Any], rest: list[Any]
    ) -> tuple[Place, ...]:
        """What is not stored on the way through `nodes`."""
        ends = bool(nodes) and isinstance(nodes[-1], EXITS)
        return self.places([*others, *rest] if ends else others)

    def expression(self, node: ast.AST) -> None:
        for part in walk(node):
            if isinstance(part, ast.IfExp):
                taken, other = self.places([part.orelse]), self.places([part.body])
                self.note(part, part.test, taken, other)

    def places(self, nodes: list[Any]) -> tuple[Place, ...]:
        return tuple(dict.fromkeys(places_in(nodes, self.outer, self.quiet)))

    def note(self, node: ast.AST, test: ast.expr, taken: Any, other: Any) -> None:
        reads = self.reads(test)
        if reads and (taken or other):
            self.found[node] = (reads, taken, other)

    def reads(self, test: ast.expr) -> tuple[Chain, ...]:
        """What a test depends on, also by way of local variables."""
        found = dict.fromkeys(chains_read(test))
        ends = list(found)
        while ends:
            for chain in self.sources.get(ends.pop()[0], ()):
                if chain not in found:
                    found[chain] = None
                    ends.append(chain)
        return tuple(found)


def body_of(tree: Any) -> list[Any]:
    return [ast.Expr(tree.body)] if isinstance(tree, ast.Lambda) else list(tree.body)


def places_of(found: Definition) -> tuple[Place, ...]:
    """The places that a whole function stores to."""
    body = body_of(own_tree(found))
    return tuple(dict.fromkeys(places_in(body, outer_names(body))))


def places_in(
    nodes: Iterable[ast.AST], outer: Any, quiet: Any = frozenset()
) -> Iterator[Place]:
    """The places that statements or expressions store to, if they are reached."""
    for node in nodes:
        for part in walk(node):
            stored = isinstance(getattr(part, "ctx", None), ast.Store | ast.Del)
            if isinstance(part, ast.Name) and stored and part.id in outer:
                yield "name", part.id
            elif isinstance(part, ast.Attribute | ast.Subscript) and stored:
                owner = chain_of(part.value)
                if owner is not None:
                    yield stored_place(part, owner)
            elif isinstance(part, ast.Call):
                called = chain_of(part.func)
                if called is not None and called[0] not in quiet:
                    yield "call", called, tuple(map(chain_of, part.args))


def stored_place(node: ast.Attribute | ast.Subscript, owner: Chain) -> Place:
    if isinstance(node, ast.Attribute):
        return "attribute", owner, node.attr
    if isinstance(node.slice, ast.Constant):
        return "item", owner, node.slice.value
    return "items", owner


def chain_of(node: ast.AST) -> Chain | None:
    """A name and the attributes and constant items that are read of it."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return None
    owner = chain_of(node.value)
    if owner is None:
        return None
    if isinstance(node, ast.Attribute):
        return (*owner, node.attr)
    constant = isinstance(node.slice, ast.Constant)
    return (*owner, (node.slice.value,)) if constant else owner  # type: ignore[attr-defined]


def chains_read(node: ast.AST) -> Iterator[Chain]:
    """The chains that an expression reads the numbers of."""
    if is_fact(node):
        return
    chain = chain_of(node)
    if chain is not None:
        yield chain
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield from chains_read(node.func.value)
        for part in (*node.args, *(k.value for k in node.keywords)):
            yield from chains_read(part)
        return
    if not isinstance(node, SCOPES):
        for child in ast.iter_child_nodes(node):
            yield from chains_read(child)


def is_fact(node: ast.AST) -> bool:
    """Whether an expression does not depend on numbers: shapes, types, identity."""
    if isinstance(node, ast.Attribute):
        return node.attr in FACTS
    if isinstance(node, ast.Compare):
        return all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
    if isinstance(node, ast.Call):
        f = node.func
        name = f.id if isinstance(f, ast.Name) else getattr(f, "attr", None)
        return name in FACT_FUNCTIONS
    return False


def sources(body: list[Any]) -> dict[str, list[Chain]]:
    """What each local variable is computed from, anywhere in the function."""
    found: dict[str, list[Chain]] = {}
    for node in (part for statement in body for part in walk(statement)):
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        value = getattr(node, "iter", None) or getattr(node, "value", None)
        if not isinstance(value, ast.AST) or isinstance(node, ast.Delete):
            continue
        parts = [part for t in targets if t for part in ast.walk(t)]
        stored = [p for p in parts if isinstance(getattr(p, "ctx", None), ast.Store)]
        names = {p.id for p in stored if isinstance(p, ast.Name)}
        for name in names:
            found.setdefault(name, []).extend(chains_read(value))
    return found


def outer_names(body: list[Any]) -> frozenset[str]:
    """Global and nonlocal variables that a function assigns."""
    parts = [part for statement in body for part in walk(statement)]
    kinds = ast.Global | ast.Nonlocal
    return frozenset(n for p in parts if isinstance(p, kinds) for n in p.names)


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is inside of it, without the functions defined there."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, SCOPES):
            yield from walk(child)


def own_expressions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a statement, without those of the statements inside."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child


def blocks(node: Any) -> Iterator[list[ast.stmt]]:
    """The blocks of statements of a compound statement."""
    for field in ("body", "orelse", "finalbody"):
        inner = getattr(node, field, None)
        if isinstance(inner, list):
            yield inner
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body
