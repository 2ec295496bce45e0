"""Variables that may have no value yet where they are read.

Python raises an error there; in compiled code such a variable holds zeros. So compiled
code asks, at each such place, whether the variable has been given a value.
"""

import ast
from functools import reduce

__all__ = ["flag_of", "names_deleted", "names_stored", "unbound_names"]

State = frozenset[str] | None  # the variables with a value; None where nothing runs


def unbound_names(function: ast.FunctionDef) -> set[ast.Name]:
    """The places where a function may read a variable without a value."""
    return Flow(function).unbound


def flag_of(name: str) -> str:
    """The name of the variable that tells whether another one has a value."""
    return f"{name}__bound"


def names_stored(target: ast.AST) -> list[str]:
    """The names that an assignment, or the head of a loop, gives values."""
    return [
        part.id
        for part in ast.walk(target)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    ]


class Flow:
    """The variables that have values for certain, from statement to statement."""

    def __init__(self, function: ast.FunctionDef):
        self.unbound: set[ast.Name] = set()
        self.own = frozenset(names_stored(function))
        self.loops: list[tuple[list[State], list[State]]] = []
        self.body(function.body, frozenset(arg.arg for arg in function.args.args))

    def body(self, nodes: list[ast.stmt], state: State) -> State:
        for node in nodes:
            if state is not None:
                state = self.statement(node, state)
        return state

    def statement(self, node: ast.stmt, state: frozenset[str]) -> State:
        if isinstance(node, ast.If):
            self.read(node.test, state)
            return met(self.body(node.body, state), self.body(node.orelse, state))
        if isinstance(node, ast.For | ast.While):
            return self.loop(node, state)
        if isinstance(node, ast.Break | ast.Continue):
            self.loops[-1][isinstance(node, ast.Break)].append(state)
            return None
        if isinstance(node, ast.Delete):
            return state - names_deleted(node)
        if isinstance(node, ast.AugAssign):
            self.read(node, state, ast.expr_context)
        else:
            self.read(node, state)
        if isinstance(node, ast.Return | ast.Raise):
            return None
        return state.union(names_stored(node))

    def loop(self, node: ast.For | ast.While, state: frozenset[str]) -> State:
        """A loop, which may make no steps."""
        if isinstance(node, ast.For):
            self.read(node.iter, state)
        head = state
        while True:
            on, out = self.turn(node, head)
            if on is None or head <= on:
                break
            head &= on
        endless = isinstance(node, ast.While) and is_true(node.test)
        end = None if endless else self.body(node.orelse, head)
        return met(end, out)

    def turn(
        self, node: ast.For | ast.While, head: frozenset[str]
    ) -> tuple[State, State]:
        """One step of a loop: what has a value before the next, and after a break."""
        on: list[State] = []
        out: list[State] = []
        self.loops.append((on, out))
        if isinstance(node, ast.For):
            head = head.union(names_stored(node.target))
        else:
            self.read(node.test, head)
        end = self.body(node.body, head)
        self.loops.pop()
        return reduce(met, on, end), reduce(met, out, None)

    def read(
        self, node: ast.AST, state: frozenset[str], context: type = ast.Load
    ) -> None:
        """Note the variables that are read without a value."""
        names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        read = [name for name in names if isinstance(name.ctx, context)]
        self.unbound.update(name for name in read if name.id in self.own - state)


def met(one: State, other: State) -> State:
    """What has a value whichever way was taken."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def is_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def names_deleted(node: ast.Delete) -> set[str]:
    return {target.id for target in node.targets if isinstance(target, ast.Name)}
