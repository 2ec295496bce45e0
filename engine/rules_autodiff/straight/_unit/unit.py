"""Generated programs: a function, the functions that it calls, and the guard.

`write` is the entry point. The generated functions are plain Python, compiled with the
line numbers of the user's file, so that warnings and profiles name its lines.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Any
from weakref import ref

from rules_autodiff._lift.compile import PARSING
from rules_autodiff.straight._guard.captures import ROOT, Captures, Place
from rules_autodiff.straight._guard.ruled import Ruled
from rules_autodiff.straight._program.blocks import Block
from rules_autodiff.straight._program.kinds import (
    REAL,
    TANGENT,
    VALUE,
    WITH_AUX,
    Kind,
    holds_objects,
    leaf_kinds,
    spread,
)
from rules_autodiff.straight._program.refused import Refused, Unlearned, refuse
from rules_autodiff.straight._program.values import Local
from rules_autodiff.straight._read.expressions import spoken
from rules_autodiff.straight._read.facts import Facts
from rules_autodiff.straight._read.reader import Reader
from rules_autodiff.straight._runtime import helpers
from rules_autodiff.straight._write.tangents import TangentWriter
from rules_autodiff.straight._write.writer import Writer

from .settled_reading import made_writer, read_settled
from .unpacked_arguments import active_leaves, unpacking

__all__ = ["Form", "Unit", "Writing", "write"]

# What a writing collects while it reads.
COLLECTED = (
    "relied", "ruled", "forms", "texts", "constants", "kept", "owning", "tapes",
)  # fmt: skip
WORTH = 8  # steps that a program must have for each call with a tape of its own
LOOPED = 10  # steps for which one in a loop counts
BETWEEN = "", "", 0  # the place of a line that belongs to no function
READINGS = 20  # of one program, until the kinds of results are stable


LOCATED = (ast.expr, ast.stmt, ast.arguments, ast.arg, ast.keyword, ast.comprehension)


class Restart(Exception):
    """A function returned another kind than assumed."""


@dataclass
class Form:
    """A function generated for certain kinds of arguments.

    Attributes:
        name: The name of the forward function; the reverse one is `name_back`.
        kind: The kind of its value.
        writer: Its text; None while it is being read.
        supposed: Whether a call of it was read while its kind was unknown.
    """

    name: str
    kind: Kind
    writer: Writer | TangentWriter | None = None
    supposed: bool = False


@dataclass(frozen=True)
class Unit:
    """A generated program.

    Attributes:
        guard: `guard(f)` gives the captured values, or None if the program's globals or
            captured values have changed.
        forward: `forward(*args, caps)` gives the value and the residuals. In forward
            mode `forward(*args, caps, *dots)` gives the value and its tangents.
        reverse: `reverse(kept, dy)` gives the cotangents of the active arguments; None
            in forward mode.
        result: The kind of the value.
        text: The generated code.
        functions: The library functions that the program calls.
        programs: The Python functions that it calls, by weak references.
        ruled: The functions called by their rules.
        writes: Whether the program writes into its arguments, of which it has copies.
        loops: Whether it has loops.
        name: The name of the forward function.
        sources: The texts of all forward functions.
        namespace: What generated code refers to.
        places: For each line of `text` the function of the program, its file and line.
    """

    guard: Any
    forward: Any
    reverse: Any
    result: Kind
    text: str
    functions: frozenset[Any]
    programs: tuple[ref[Any], ...]
    ruled: tuple[Ruled, ...]
    writes: bool
    loops: bool
    name: str
    sources: tuple[str, ...]
    namespace: dict[str, Any]
    places: list[tuple[str, str, int]]


class Writing:
    """The functions of one program during generation.

    Attributes:
        relied: The called functions.
        ruled: The functions called by their rules.
        guesses: The assumed results of recursive functions.
        inner: Local functions, identical in all readings.
        owning: Functions that copy their arguments before they write into them.
        refusals: Why functions are not written out, for certain kinds.
        patient: Whether to wait for results that are not known yet, in a branch.
        tapes: The number of calls that are run by a tape of their own.
        strict: Whether products of the backward pass ask for strong zeros.
        looping: In how many loops stands the call that is read.
        mode: `"reverse"`, `"forward"`, or `"lanes"` for several tangents at once.
        taping: Whether a call that is not written out may run on a tape of its own.
    """

    def __init__(
        self,
        function: FunctionType,
        guesses: dict[Any, Kind],
        inner: dict[Any, Local],
        *,
        patient: bool,
        mode: str = "reverse",
        strict: bool = False,
        taping: bool = True,
    ):
        self.mode, self.strict = mode, strict
        generated = function.__code__.co_filename.startswith(TANGENT)
        self.taping = taping and mode == "reverse" and not generated
        self.captures = Captures(function)
        self.relied: set[Any] = set()
        self.ruled: list[Ruled] = []
        self.guesses, self.inner = guesses, inner
        self.forms: dict[Any, Form] = {}
        self.texts: list[tuple[FunctionType, Writer | TangentWriter]] = []
        self.constants: dict[Any, str] = {}
        self.kept: list[Any] = []
        self.loops: dict[Any, ast.stmt] = {}
        self.owning: set[Any] = set()
        self.refusals: dict[Any, Refused] = {}
        self.patient = patient
        self.tapes = 0
        self.looping = 0

    def constant(self, name: str, value: Any) -> str:
        """The name of a function in generated code."""
        if id(value) not in self.constants:
            self.constants[id(value)] = self.captures.constant(name, value)
        return self.constants[id(value)]

    def fresh_constant(self, name: str, value: Any) -> str:
        """The name of an object for one place of generated code."""
        self.kept.append(value)
        return self.constant(name, value)

    def made_loop(
        self,
        node: ast.expr,
        parts: list[ast.comprehension],
        element: Any,
        made_of: Callable[[Any], ast.stmt],
    ) -> ast.stmt:
        """The loop of a comprehension; identical in each reading."""
        if node not in self.loops:
            parts, element = copy.deepcopy((parts, element))
            made = made_of(element)
            for part in reversed(parts):
                for test in reversed(part.ifs):
                    made = ast.If(test, [made], [])
                made = ast.For(part.target, part.iter, [made], [])
            for inner in ast.walk(made):
                if not hasattr(inner, "lineno"):
                    ast.copy_location(inner, node)
            hide(made, parts, f"__g{node.lineno}_{node.col_offset}")
            self.loops[node] = made
        return self.loops[node]

    def state(self) -> Any:
        """The functions so far."""
        own = {name: copy.copy(getattr(self, name)) for name in COLLECTED}
        return own, self.captures.state()

    def rewind(self, state: Any) -> None:
        """Forget what was collected since."""
        own, captured = state
        vars(self).update({name: copy.copy(value) for name, value in own.items()})
        self.captures.restore(captured)

    @contextmanager
    def called_in_loop(self, looping: bool) -> Iterator[None]:
        """The reading of a function that a loop calls."""
        self.looping += looping
        try:
            yield
        finally:
            self.looping -= looping

    def form(
        self,
        f: FunctionType,
        place: Place,
        kinds: tuple[Kind, ...],
        active: tuple[int, ...],
        closure: Kind | None = None,
        *,
        changing: bool = False,
    ) -> Form:
        """The form of a function for certain kinds.

        Args:
            f: The function.
            place: Its place for the guard.
            kinds: The kinds of its arguments.
            active: The active leaves of the arguments.
            closure: The kind of a local function, whose parts follow the arguments.
            changing: Whether it changes its first argument, and returns that too.
        """
        key = (f, kinds, active, closure, changing)
        earlier = self.forms.get(key)
        if earlier is not None:
            if f in self.owning:
                refuse("it calls itself and writes into its arguments")
            earlier.supposed |= earlier.writer is None
            return earlier
        if key in self.refusals:
            raise copy.copy(self.refusals[key])
        if closure is None:
            self.relied.add(f)
        guess = self.guesses.get(key, REAL)
        stem = f.__name__ if f.__name__.isidentifier() else "function"
        name = f"{stem}__p{len(self.forms)}"
        form = self.forms[key] = Form(name, guess)
        first = Reader(self, f, place, Facts())
        first.changing = f.__code__.co_varnames[0] if changing else ""
        try:
            reader = read_settled(first, kinds, active, closure)
        except Refused as refused:
            refused.within(f)
            if not isinstance(refused, Unlearned):
                # Without its traceback, whose frames hold the arrays of a call.
                self.refusals[key] = copy.copy(refused)
            raise
        form.writer = made_writer(name, active, reader)
        try:
            form.writer.write()
        except Refused as refused:
            raise refused.within(f) from None
        self.texts.append((f, form.writer))
        result = reader.result or REAL
        if result != guess and form.supposed:
            self.guesses[key] = result
            raise Restart
        form.kind = result
        return form


def hide(loop: ast.stmt, parts: list[ast.comprehension], prefix: str) -> None:
    """Give the variables of a comprehension unique names."""
    first = {id(n) for n in ast.walk(parts[0].iter)}
    inner = [n for n in ast.walk(loop) if id(n) not in first]
    targets = [n for part in parts for n in ast.walk(part.target)]
    names = {n.id for n in targets if isinstance(n, ast.Name)}
    if any(isinstance(n, ast.Lambda) for n in inner):
        return  # its code has the program's names
    for n in inner:
        if isinstance(n, ast.Name) and n.id in names:
            n.id = f"{prefix}_{n.id}"


def write(
    f: FunctionType,
    kinds: tuple[Kind, ...],
    active: tuple[int, ...],
    *,
    patient: bool = True,
    mode: str = "reverse",
    strict: bool = False,
    taping: bool = True,
) -> Unit:
    """Generate a function with its derivative in some of its arguments.

    Args:
        f: The function.
        kinds: The kinds of its arguments, one per parameter.
        active: The positions of the arguments to differentiate.
        patient: Whether to wait for results of rules that only some branch calls.
        mode: `"reverse"`, `"forward"`, `"lanes"`, `WITH_AUX`, for reverse mode of the
            first part of a pair, or `VALUE`, for code that has no other use than to
            show that a program can be written.
        strict: Whether products of the backward pass ask for strong zeros.
        taping: Whether calls that are not written out may run on tapes of their own.

    Raises:
        Refused: The straight-line tier does not support the program.
    """
    kinds = tuple(spread(k) if i in active else k for i, k in enumerate(kinds))
    leaves = active_leaves(kinds, active)
    guesses: dict[Any, Kind] = {}
    inner: dict[Any, Local] = {}
    aux = mode == WITH_AUX
    own = "reverse" if mode in (VALUE, WITH_AUX) else mode
    for _ in range(READINGS):
        writing = Writing(
            f, guesses, inner, patient=patient, mode=own, strict=strict, taping=taping
        )
        try:
            form = writing.form(f, ROOT, kinds, leaves)
        except Restart:
            continue
        if mode != VALUE:
            try:
                check_result(form.kind, aux=aux)
            except Refused as refused:
                raise refused.within(f) from None
        return made_unit(f, writing, form, kinds, active)
    reason = "the kind of what a function returns does not settle"
    raise Refused(reason)


def made_unit(
    f: FunctionType, writing: Writing, form: Form, kinds: Any, active: Any
) -> Unit:
    """Compile the text of all functions."""
    check_worth(writing)
    captures = writing.captures
    namespace = {**helpers.HELPERS, **captures.namespace}
    namespace["__name__"] = f.__module__
    texts = [captures.code()]
    places = [BETWEEN] * (len(texts[0].splitlines()) + 1)
    execute(texts[0], "<guard>", namespace)
    for function, writer in writing.texts:
        forward = "\n".join(text for text, _ in writer.forward)
        backward = "\n".join(text for text, _ in writer.backward)
        texts += [forward, backward] if backward else [forward]
        name, file = function.__qualname__, function.__code__.co_filename
        for part in (writer.forward, writer.backward):
            places += [(name, file, line) for _, line in part]
            places += [BETWEEN] * bool(part)
        first = function.__code__.co_firstlineno
        lines = [line or first for _, line in writer.forward]
        execute(forward, function.__code__.co_filename, namespace, lines)
        execute(backward, f"<derivative of {function.__qualname__}>", namespace)
    name = form.name
    containers = any(kind.dtype == "entries" for kind in kinds)
    if containers and not any(map(holds_objects, kinds)):
        name, text = unpacking(form.name, kinds, active)
        texts.append(text)
        execute(text, "<arguments>", namespace)
    return Unit(
        namespace["guard"],
        namespace[name],
        namespace.get(f"{name}_back"),
        form.kind,
        "\n\n".join(texts),
        frozenset(g for g in writing.relied if type(g) is not FunctionType),
        tuple([ref(g) for g in writing.relied if type(g) is FunctionType]),
        tuple(dict.fromkeys(writing.ruled)),  # a function is read several times
        bool(writing.owning),
        any(block.depth for block in blocks_of(writing)),
        form.name,
        tuple(["\n".join(text for text, _ in w.forward) for _, w in writing.texts]),
        namespace,
        places,
    )


def check_worth(writing: Writing) -> None:
    """Leave a program to one tape where it would be little beside those of its calls.

    A tape costs as much as some ten steps of another tape.
    """
    if not writing.tapes:
        return
    blocks = blocks_of(writing)
    steps = sum(
        (LOOPED if block.depth else 1) * sum(bool(step.out) for step in block.steps)
        for block in blocks
    )
    if steps < WORTH * writing.tapes:
        refuse("it does little but call functions that are left to a tape")


def blocks_of(writing: Writing) -> list[Block]:
    """The blocks of all functions."""
    items = [item for _, writer in writing.texts for item in writer.items]
    return [item for item in items if isinstance(item, Block)]


def check_result(kind: Kind, *, aux: bool) -> None:
    """Leave values of other kinds to the tape."""
    if aux and not is_pair(kind):
        needed = "a pair of a real number or array, and of plain values"
        refuse(f"its value is {spoken(kind)}, and not {needed}")
    if not (aux or is_returned(kind)):
        needed = "a real number, an array of float64 or a tuple of those"
        refuse(f"its value is {spoken(kind)}, and not {needed}")


def is_pair(kind: Kind) -> bool:
    """Whether a program's value is a number or an array, and constants beside it."""
    pair = kind.name == "row" and len(kind.parts) == len(("value", "aux"))
    return pair and kind.parts[0].is_real and is_plain(kind.parts[1])


def is_plain(kind: Kind) -> bool:
    """Whether a value is a number, array, text or None, or a container of those."""
    if not kind.has_parts:
        return kind.name in LEAVES
    return kind.name in CONTAINERS and all(map(is_plain, kind.parts))


LEAVES = frozenset({"real", "int", "bool", "none", "text", "array"})
CONTAINERS = frozenset({"row", "list", "dict"})


def is_returned(kind: Kind) -> bool:
    """Whether a program's value is a number, an array, or a tuple of those."""
    leaves = leaf_kinds(kind)
    rows = kind.name == "row" and not any(k.has_parts for k in kind.parts)
    return all(k.is_real for k in leaves) and (rows or not kind.has_parts)


def execute(
    text: str, filename: str, namespace: dict[str, Any], lines: list[int] | None = None
) -> None:
    """Define a generated function, with the line numbers of the user's file."""
    with PARSING:
        tree = ast.parse(text)
        if lines:
            relocate(tree, lines)
        code = compile(tree, filename, "exec")
    exec(code, namespace)


def relocate(tree: ast.AST, lines: list[int]) -> None:
    """Give nodes the user's line numbers, by their lines in the generated text.

    `ast.walk` would take as long as compiling does.
    """
    nodes: list[Any] = [tree]
    while nodes:
        node = nodes.pop()
        own = vars(node)
        if "lineno" in own:
            own["lineno"] = own["end_lineno"] = lines[own["lineno"] - 1]
            own["col_offset"] = own["end_col_offset"] = 0
        for value in own.values():
            if type(value) is list:
                nodes += value
            elif isinstance(value, LOCATED):
                nodes.append(value)
