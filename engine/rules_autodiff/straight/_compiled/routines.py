"""One function of generated code, as a function of compiled code."""

import ast
from typing import Any, TypeGuard

from .expressions import Expressions, as_row
from .statements import Statements
from .terms import NOTHING, Term, join, refuse
from .unbound import flag_of, unbound_names
from .words import name_in_words, stem_of

__all__ = ["Routine"]

REUSED = ("__dz", "__new")
RAISING = (ast.Call, ast.Pow)


class Routine:
    """A function with the types of its variables.

    Attributes:
        node: Its definition.
        name: Its name.
        back: Whether it is a backward function.
        terms: The types of its variables, as far as they are known.
        maybe: Its variables that may be an array that was never made.
        value: The type of its value; of a backward function, of all cotangents.
        trail: The types of residuals, by the number of their block.
        header: The types of residuals that do not change.
        dots: The type of the tangents, in forward mode.
        lines: Its text.
        reading: Whether it is being read.
        unbound: The places where a variable may have no value.
        flagged: These variables.
    """

    def __init__(self, program: Any, node: ast.FunctionDef):
        self.program, self.node, self.name = program, Versions().visit(node), node.name
        self.parameters = [arg.arg for arg in node.args.args]
        self.back = node.name.endswith("_back")
        self.terms: dict[str, Term] = {}
        self.maybe: set[str] = set()
        self.value: Term | None = None
        self.dots: Term | None = None
        self.trail: dict[int, Term] = {}
        self.header: tuple[Term, ...] = ()
        self.lines: list[str] = []
        self.reading = False
        self.blocks = numbers_of_blocks(node)
        self.nothings: set[int] = set()
        if self.back:
            make_at_once(self.node)
        else:
            check_used(self.node)
        self.unbound = unbound_names(self.node)
        self.flagged = {name.id for name in self.unbound}

    @property
    def forward(self) -> "Routine":
        """The forward function of a backward one."""
        found: Routine = self.program.routines[self.name.removesuffix("_back")]
        return found

    @property
    def has_pair(self) -> bool:
        """Whether it returns residuals or tangents beside its value."""
        if not self.program.tangents:
            return True
        return self.parameters[-1] != "caps"

    @property
    def ordered(self) -> bool:
        """Whether the order of blocks must be recorded: there are several."""
        return len(self.trail) != 1 or len(self.blocks) != 1

    def note(self, name: str, term: Term) -> None:
        """A value that is given to a variable."""
        found = join(self.terms.get(name), term)
        if found != self.terms.get(name):
            self.terms[name] = found
            self.program.changed = True
        if term == NOTHING and name not in self.maybe:
            self.maybe.add(name)
            self.program.changed = True

    def note_value(self, term: Term) -> None:
        found = join(self.value, term)
        self.program.changed |= found != self.value
        self.value = found

    def several(self, name: str) -> bool:
        """Whether a number has a class that is known while the code runs."""
        return not self.back and len(self.terms[name].ranks) > 1

    def ranked(self) -> list[str]:
        """The parameters whose classes are handed over."""
        return [name for name in self.parameters
                if name in self.terms and self.several(name)]  # fmt: skip

    def expressions(self) -> Expressions:
        return Expressions(self.program, self.terms, self.maybe, self.unbound)

    def read(self) -> None:
        """Fill `lines`, and note types."""
        if self.reading:
            refuse(f"{stem_of(self.name)}, which calls itself", self.node.lineno)
        self.reading = True
        body = Statements(self, self.expressions()).body(self.node.body)
        self.reading = False
        names = [*self.parameters, *[f"{name}__rank" for name in self.ranked()]]
        self.lines = [f"def {self.name}({', '.join(names)}):", *self.prologue(), *body]

    def prologue(self) -> list[str]:
        lines = [
            f"    __nothing{n} = np.empty({as_row(['0'] * n)})"
            for n in sorted(self.nothings)
        ]
        lines += [f"    {flag_of(name)} = False" for name in sorted(self.flagged)]
        if self.back or not self.blocks:
            return lines
        lines += [f"    __trail{number} = []" for number in sorted(self.trail)]
        return [*lines, "    __order = []"] if self.ordered else lines

    def kept(self) -> list[str]:
        """The names of the trails, in residuals."""
        if not self.blocks:
            return []
        order = ["__order"] if self.ordered else []
        return order + [f"__trail{number}" for number in sorted(self.trail)]

    def nothing_text(self, name: str) -> str:
        """The text of an argument that is an array that was never made."""
        return f"np.empty({as_row(['0'] * (self.terms[name].ndim or 1))})"

    def nothing(self, name: str) -> str:
        """The text of an array that was never made."""
        ndim = self.terms[name].ndim or 1
        self.nothings.add(ndim)
        return f"__nothing{ndim}"


class Versions(ast.NodeTransformer):
    """Gives names that generated code uses again, for other types, one name each."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        node.value = self.visit(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id in REUSED:
                self.counts[target.id] = self.counts.get(target.id, 0) + 1
        node.targets = [self.visit(target) for target in node.targets]
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in REUSED:
            return ast.Name(f"{node.id}_{self.counts.get(node.id, 0)}", node.ctx)
        return node


def make_at_once(node: ast.FunctionDef) -> None:
    """Make arrays of zeros before the records are read, if their shape is known there.

    Then the loop over the records need not ask whether they were made.
    """
    kept = [n.targets[0] for n in node.body if is_kept(n)]
    known = {name for target in kept for name in names_in(target)}
    made = shapes_of(node)
    for start in [n for n in node.body if isinstance(n, ast.Assign)]:
        texts = made.get(ast.unparse(start.targets[0]), set())
        if len(texts) == 1 and ast.unparse(start.value) == "0.0":
            (text,) = texts
            value = ast.parse(text, mode="eval").body
            if known.issuperset({*names_in(value)} - {"np_zeros"}):
                start.value = value
                own = ast.unparse(start.targets[0])
                LeftOut(f"if type({own}) is float:").visit(node)


class LeftOut(ast.NodeTransformer):
    """Leaves out branches for an array that was not made."""

    def __init__(self, head: str):
        self.head = head

    def visit_If(self, node: ast.If) -> Any:
        if ast.unparse(node).startswith(self.head):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)


def is_kept(node: ast.stmt) -> TypeGuard[ast.Assign]:
    """Whether a statement names what does not change."""
    return isinstance(node, ast.Assign) and ast.unparse(node.value) == "__kept"


def shapes_of(node: ast.FunctionDef) -> dict[str, set[str]]:
    """By name, the texts that make an array of zeros; nothing where others do too."""
    made: dict[str, set[str]] = {}
    counts: dict[str, int] = {}
    for part in ast.walk(node):
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            name, text = part.targets[0].id, ast.unparse(part.value)
            counts[name] = counts.get(name, 0) + 1
            if text.startswith("np_zeros("):
                made.setdefault(name, set()).add(text)
            elif not (text == "0.0" and counts[name] == 1):
                made.setdefault(name, set()).add("")
    return {name: texts for name, texts in made.items() if "" not in texts}


def check_used(node: ast.FunctionDef) -> None:
    """Refuse results that nothing uses: LLVM would not compute them.

    Python does, and may raise an error. (Divisions raise theirs in compiled code too.)
    """
    made: dict[str, list[ast.expr]] = {}
    used: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            made.setdefault(part.targets[0].id, []).append(part.value)
        elif isinstance(part, ast.stmt):
            own = [x for x in ast.iter_child_nodes(part) if isinstance(x, ast.expr)]
            used |= {name for x in own for name in names_in(x)}
    waiting = [*used]
    while waiting:
        for value in made.pop(waiting.pop(), []):
            waiting += names_in(value)
    for name, values in made.items():
        raising = [
            v for v in values if any(isinstance(x, RAISING) for x in ast.walk(v))
        ]
        if raising:
            reason = f"the computation of {name_in_words(name)}, which is not used"
            refuse(reason, raising[0].lineno)


def names_in(node: ast.AST) -> list[str]:
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


def numbers_of_blocks(node: ast.FunctionDef) -> list[int]:
    """The numbers of blocks that record residuals."""
    found = []
    for part in ast.walk(node):
        called = part.func if isinstance(part, ast.Call) else None
        if isinstance(called, ast.Name) and called.id == "__push":
            note: Any = part.args[0]  # type: ignore[attr-defined]
            found.append(int(note.elts[0].value))
    return sorted(found)
