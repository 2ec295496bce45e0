"""Stores of a branch on the way that is not taken, read from the program's text.

    if not np.allclose(self.x, x):
        self.x, self.value = x.copy(), f(x)
    return self.value

Where the branch is skipped, `self.value` may be the result of an earlier call. Which
places a branch would have stored to, and what the values depend on, stands in the
lifted code as constants:

- a *chain* is a name and the steps from there: ``("self", "cache", (0,))`` is
  ``self.cache[0]``;
- a *place* is ``("attribute", chain, name)``, ``("item", chain, key)``, ``("items",
  chain)`` for an item that is not known here, ``("name", name)`` for a global or
  captured variable, or ``("call", chain, chains of the arguments)`` for a function
  that may store; for one that is called elsewhere, None in place of the arguments.
"""

import ast
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .decisions import EXACT, names_used
from .source import Definition, global_name, own_tree

__all__ = ["WRITING", "SkippedStores", "Skips", "places_in", "places_of"]

Chain = tuple[Any, ...]
Place = tuple[Any, ...]
SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
EXITS = ast.Return | ast.Raise | ast.Continue | ast.Break
REPEATED = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Dict
LOOPS = ast.For | ast.While
SETTERS = frozenset({"setattr", "__setattr__"})

# Functions and methods that write into what they are given first, or belong to.
WRITING = frozenset({
    "copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal", "fill",
    "sort", "partition", "setfield", "resize", "at", "setitem", "__setitem__",
    "heappush", "heapreplace", "heappushpop", "insort", "insort_left", "insort_right",
})  # fmt: skip
# Methods whose results are views.
VIEWS = frozenset({
    "reshape", "ravel", "view", "transpose", "swapaxes", "squeeze", "diagonal",
})  # fmt: skip

# What a value is asked for without its numbers.
FACTS = frozenset({"shape", "size", "ndim", "dtype"})
FACT_FUNCTIONS = EXACT | {
    "len", "isinstance", "hasattr", "type", "callable", "id", "stop_gradient",
}  # fmt: skip


class Skips(NamedTuple):
    """Places that a decision may leave without a store.

    Attributes:
        if_true: The places that are not stored to if the test is true.
        if_false: Those that are not if it is false.
        sources: What the stored values are computed from.
        names: The local variables that are used for more than decisions.
    """

    if_true: tuple[Place, ...]
    if_false: tuple[Place, ...]
    sources: tuple[Chain, ...]
    names: frozenset[str]


class SkippedStores:
    """The stores that each decision of a function leaves out, on either way.

    Args:
        tree: The function.
        quiet: Modules whose functions store nothing.
        outer: Captured variables of the outermost function.
    """

    def __init__(self, tree: Any, quiet: Iterable[str], outer: Iterable[str] = ()):
        body = body_of(tree)
        self.outer = outer_names(body, frozenset(outer))
        self.quiet = frozenset(quiet)
        self.sources = sources(body)
        self.names = names_used(body)
        self.found: dict[ast.AST, Skips] = {}
        self.block(body, [])

    def block(self, body: list[ast.stmt], after: list[ast.stmt]) -> None:
        """Look at statements and at what is inside of them."""
        for number, node in enumerate(body):
            rest = body[number + 1 :] + after
            if isinstance(node, ast.While):
                self.note(node, [], node.body)
            elif isinstance(node, ast.If):
                taken = self.way(node.body, node.orelse, rest)
                self.note(node, taken, self.way(node.orelse, node.body, rest))
            elif isinstance(node, ast.Try | ast.With | ast.Match):
                self.note(node, self.inside(node, rest), [])
            elif isinstance(node, SCOPES):
                continue
            elif isinstance(node, ast.For):
                self.note(node, node.body, [])
            elif hidden := [p for p in walk(node) if isinstance(p, REPEATED)]:
                self.note(node, hidden, [])
            for part in own_expressions(node):
                self.expression(part)
            later = node.orelse if isinstance(node, LOOPS | ast.Try) else []
            for inner in blocks(node):
                self.block(inner, [*later, *rest])

    def way(self, nodes: list[Any], others: list[Any], rest: list[Any]) -> list[Any]:
        """Stores that are not run on the way through `nodes`."""
        ends = bool(nodes) and isinstance(nodes[-1], EXITS)
        return [*others, *rest] if ends else others

    def inside(self, node: Any, rest: list[Any]) -> list[Any]:
        """Stores that a statement with several ends may leave out."""
        leaves = any(isinstance(part, EXITS) for part in walk(node))
        parts = getattr(node, "handlers", ()), getattr(node, "cases", ())
        return [*parts[0], *parts[1], *(rest if leaves else ())]

    def expression(self, node: ast.AST) -> None:
        for part in walk(node):
            if isinstance(part, ast.IfExp):
                taken, other = ([ast.Return(x)] for x in (part.orelse, part.body))
                self.note(part, taken, other)
            elif isinstance(part, ast.BoolOp):
                for number, value in enumerate(part.values[:-1], 1):
                    later = part.values[number:]
                    ends = isinstance(part.op, ast.Or)
                    self.note(value, later if ends else [], [] if ends else later)

    def note(self, node: ast.AST, taken: list[Any], other: list[Any]) -> None:
        """Note what is not run if a test is true, and what is not if it is false."""
        if_true, if_false = self.places(taken), self.places(other)
        if if_true or if_false:
            chains = self.closed(used_in([*taken, *other]))
            self.found[node] = Skips(if_true, if_false, chains, self.names)

    def places(self, nodes: list[Any]) -> tuple[Place, ...]:
        return tuple(dict.fromkeys(places_in(nodes, self.outer, self.quiet)))

    def closed(self, chains: Iterable[Chain]) -> tuple[Chain, ...]:
        """Chains, and those that their local variables are computed from."""
        found = dict.fromkeys(chains)
        ends = list(found)
        while ends:
            for chain in self.sources.get(ends.pop()[0], ()):
                if chain not in found:
                    found[chain] = None
                    ends.append(chain)
        return tuple(found)


def used_in(nodes: list[Any]) -> Iterator[Chain]:
    """The chains that assignments and calls in statements depend on."""
    for part in (part for node in nodes for part in walk(node)):
        value = getattr(part, "iter", None) or getattr(part, "value", None)
        if isinstance(part, ast.Call):
            yield from chains_read(part)
        elif isinstance(part, ASSIGNMENTS) and value is not None:
            yield from chains_read(value)


ASSIGNMENTS = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr | ast.For


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
            elif stored and (name := global_name(part)):
                yield "name", name
            elif isinstance(part, ast.Attribute | ast.Subscript) and stored:
                owner = chain_of(part.value)
                if owner is not None:
                    yield stored_place(part, owner)
            elif isinstance(part, ast.Call):
                called = chain_of(part.func)
                yield from (("items", chain) for chain in outputs(part))
                if called is not None and called[-1] in SETTERS and part.args:
                    yield place_set(part, called)
                elif called is not None and called[0] not in quiet:
                    yield "call", called, tuple(map(chain_of, part.args))
            for reference in references(part):
                if reference[0] not in quiet:
                    yield "call", reference, None


def place_set(node: ast.Call, called: Chain) -> Place:
    """The place to which `setattr(owner, name, value)` stores."""
    owner = chain_of(node.args[0]) or called
    name = node.args[1] if len(node.args) > 1 else None
    if isinstance(name, ast.Constant):
        return "attribute", owner, name.value
    return "items", owner


def outputs(node: ast.Call) -> Iterator[Chain]:
    """The arrays and lists that a function of C code writes into."""
    name = name_called(node)
    given = [k.value for k in node.keywords if k.arg == "out"]
    if name in WRITING and node.args:
        given.append(node.args[0])
    ufunc = vars(np).get(name or "")
    if isinstance(ufunc, np.ufunc):
        given += node.args[ufunc.nin :]
    for value in given:
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        yield from (chain for chain in map(chain_of, parts) if chain is not None)


def name_called(node: ast.Call) -> str | None:
    f = node.func
    return f.id if isinstance(f, ast.Name) else getattr(f, "attr", None)


def references(node: ast.AST) -> Iterator[Chain]:
    """The chains in an expression that may name a function to be called elsewhere."""
    values: list[Any] = []
    if isinstance(node, ast.Assign | ast.Return):
        values = [node.value]
    elif isinstance(node, ast.IfExp):
        values = [node.body, node.orelse]
    elif isinstance(node, ast.Dict):
        values = node.values
    for value in values:
        chain = chain_of(value) if isinstance(value, ast.Name | ast.Attribute) else None
        if chain is not None:
            yield chain


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
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return chain_of(node.func.value) if node.func.attr in VIEWS else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        owner = chain_of(node.args[0]) if len(node.args) == 1 else None
        step = OF_OBJECT.get(node.func.id)
        return (*owner, step) if owner and step else None
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return None
    owner = chain_of(node.value)
    if owner is None:
        return None
    if isinstance(node, ast.Attribute):
        return (*owner, node.attr)
    constant = isinstance(node.slice, ast.Constant)
    return (*owner, (node.slice.value,)) if constant else owner  # type: ignore[attr-defined]


OF_OBJECT = {"type": "__class__", "vars": "__dict__"}


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
    if isinstance(node, ast.Lambda):
        yield from chains_read(node.body)
    elif not isinstance(node, SCOPES):
        for child in ast.iter_child_nodes(node):
            yield from chains_read(child)


def is_fact(node: ast.AST) -> bool:
    """Whether an expression does not depend on numbers: shapes, types, identity."""
    if isinstance(node, ast.Attribute):
        return node.attr in FACTS
    if isinstance(node, ast.Compare):
        return all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
    if isinstance(node, ast.Call):
        return name_called(node) in FACT_FUNCTIONS
    return False


def sources(body: list[Any]) -> dict[str, list[Chain]]:
    """Sources of each local variable, anywhere in the function."""
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


def outer_names(
    body: list[Any], captured: frozenset[str] | None = None
) -> frozenset[str]:
    """Global variables that a function assigns, and captured ones, all if None."""
    parts = [part for statement in body for part in walk(statement)]
    found = {n for p in parts if isinstance(p, ast.Global) for n in p.names}
    inner = {n for p in parts if isinstance(p, ast.Nonlocal) for n in p.names}
    return frozenset(found | (inner if captured is None else inner & captured))


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
