"""The syntax tree of a code object.

The whole file is parsed once and its functions are indexed by name and first line.
`inspect.getsource` is not enough: it follows ``__wrapped__`` to another function, and
for a lambda it returns a fragment of a statement that need not parse.
"""

import ast
import linecache
import pickle
import re
import sys
import textwrap
from collections import OrderedDict
from dataclasses import dataclass
from types import CodeType

from rules_autodiff._python.errors import SourceNotFound
from rules_autodiff._python.generated_source import generated_lines
from rules_autodiff._python.lifted_code import ByIdentity
from rules_autodiff._python.names import mangle

from .compile import PARSING, is_text_of
from .doctest_source import example_lines

__all__ = ["Definition", "FunctionNode", "definition", "own_tree"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Key = tuple[str, int]  # name and first line, decorators included

PROMPT = re.compile(r"^(\s*)(>>> |\.\.\. |>>>$|\.\.\.$)")


@dataclass(frozen=True)
class Definition:
    """The syntax of one function.

    Attributes:
        node: Its tree.
        owner: The enclosing class, or None.
        imports: The names that its file imports; None for a part of a document.
        stored: The variables that functions of its file store to as global or
            nonlocal ones.
    """

    node: FunctionNode
    owner: str | None
    imports: frozenset[str] | None
    stored: frozenset[str] = frozenset()


FOUND = ByIdentity()  # of code, its definition


def definition(code: CodeType) -> Definition:
    """The syntax tree of ``code``, which callers leave as it is.

    Raises:
        SourceNotFound: There is no source, or it does not match the code.
    """
    found: Definition | None = FOUND.get(code)
    if found is None:
        found = in_source(code)
        FOUND.put(code, found)
    return found


def in_source(code: CodeType) -> Definition:
    """The definition in the file of ``code``, or in its cached lines."""
    definitions = matching(code, example_lines(code) or source_lines(code))
    if not definitions:  # the cache may be older than the code
        linecache.checkcache(file_of(code))
        definitions = matching(code, source_lines(code))
    if len(definitions) > 1:
        definitions = [d for d in definitions if spans(d.node, code)]
    if not definitions:
        raise SourceNotFound(no_match(code))
    return min(definitions, key=extent)


def matching(code: CodeType, lines: list[str]) -> list[Definition]:
    """The definitions that ``code`` was compiled from, or an equal definition."""
    return [
        d for d in candidates(code, lines) if is_text_of(own_tree(d), code, d.imports)
    ]


def own_tree(found: Definition) -> FunctionNode:
    """A copy of a definition's tree, with private names mangled as by the compiler."""
    # The index keeps the original. `copy.deepcopy` takes three times as long.
    tree: FunctionNode = pickle.loads(pickle.dumps(found.node))
    if found.owner:
        mangle(tree, found.owner)
    return tree


def source_lines(code: CodeType) -> list[str]:
    """The lines of the file of ``code``, as registered or on disk."""
    file = file_of(code)
    lines = linecache.getlines(file) or generated_lines(file)
    if not lines:
        raise SourceNotFound(no_source(code))
    return lines


def file_of(code: CodeType) -> str:
    """The file of ``code``, for frozen modules of the standard library too."""
    name = code.co_filename
    if name.startswith("<frozen "):
        module = sys.modules.get(name[len("<frozen ") : -1])
        return getattr(module, "__file__", None) or name
    return name


class Index:
    """The functions of one file, by name and first line."""

    def __init__(self, lines: list[str]):
        self.lines = lines
        self.table: dict[Key, list[Definition]] = {}
        survey = Survey(ast.parse("".join(lines)))
        names = frozenset(survey.imports), frozenset(survey.stored)
        for node, owner in survey.functions:
            entry = Definition(node, owner, *names)
            self.table.setdefault(key(node), []).append(entry)


INDEXES: OrderedDict[str, Index] = OrderedDict()  # of the most recent files
FILES = 64  # a thousand lines take one megabyte


def candidates(code: CodeType, lines: list[str]) -> list[Definition]:
    """The definitions on the first line of ``code`` with its name."""
    with PARSING:
        try:
            index = indexed(code.co_filename, lines)
        except SyntaxError:  # a document with code, not a Python file
            return fragment(code, lines)
        position = (code.co_name, code.co_firstlineno)
        return index.table.get(position) or fragment(code, lines)


def indexed(filename: str, lines: list[str]) -> Index:
    """The index of a file, cached."""
    index = INDEXES.get(filename)
    if index is None or index.lines != lines:
        index = INDEXES[filename] = Index(lines)
        while len(INDEXES) > FILES:
            INDEXES.popitem(last=False)
    INDEXES.move_to_end(filename)
    return index


class Survey:
    """What a file defines, in one walk through its tree.

    Attributes:
        functions: Every function, and the class that mangles its names.
        imports: The names that the module imports.
        stored: The variables that functions store to as global or nonlocal ones.
    """

    def __init__(self, tree: ast.AST):
        self.functions: list[tuple[FunctionNode, str | None]] = []
        self.imports: set[str] = set()
        self.stored: set[str] = set()
        self.below(tree, None, module=True)

    def below(self, node: ast.AST, owner: str | None, *, module: bool) -> None:
        """Look at what is inside of a node; `module` if it runs with the module."""
        for child in ast.iter_child_nodes(node):
            inside, outer = owner, False
            if isinstance(child, FunctionNode):
                self.functions.append((child, owner))
            elif isinstance(child, ast.ClassDef):
                inside = child.name
            elif isinstance(child, ast.expr):
                self.stored.update(filter(None, [global_name(child)]))
            else:
                outer = module
                self.statement(child, module=module)
            if child._fields:
                self.below(child, inside, module=outer)

    def statement(self, node: ast.AST, *, module: bool) -> None:
        """Note the names that a simple statement imports or declares."""
        if isinstance(node, ast.Global | ast.Nonlocal):
            self.stored.update(node.names)
        elif module and isinstance(node, ast.Import | ast.ImportFrom):
            names = (a.asname or a.name.partition(".")[0] for a in node.names)
            self.imports.update(names)


def global_name(node: ast.AST) -> str | None:
    """The name of `globals()["name"]`."""
    if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call)):
        return None
    f, key = node.value.func, node.slice
    named = isinstance(f, ast.Name) and f.id == "globals"
    return str(key.value) if named and isinstance(key, ast.Constant) else None


def key(node: FunctionNode) -> Key:
    """Name and first line as the compiler records them."""
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    return node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])


def fragment(code: CodeType, lines: list[str]) -> list[Definition]:
    """The definitions in the lines of ``code`` alone, for code inside a document."""
    first = code.co_firstlineno
    last = max((line for *_, line in code.co_lines() if line), default=first)
    for end in range(last, min(last + 40, len(lines)) + 1):
        text = textwrap.dedent("".join(map(unprompted, lines[first - 1 : end])))
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        ast.increment_lineno(tree, first - 1)
        position = (code.co_name, first)
        survey = Survey(tree)
        stored = frozenset(survey.stored)
        found = [(node, o) for node, o in survey.functions if key(node) == position]
        return [Definition(node, owner, None, stored) for node, owner in found]
    return []


def unprompted(line: str) -> str:
    """The line without a doctest prompt."""
    return PROMPT.sub(r"\1", line)


def spans(node: FunctionNode, code: CodeType) -> bool:
    """Whether every instruction of ``code`` lies inside the body of ``node``."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    start = (body[0].lineno, body[0].col_offset)
    stop = (body[-1].end_lineno or 0, body[-1].end_col_offset or 0)
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or not (column or end_column):
            continue  # the prologue has no position
        if (line, column) < start or (end_line, end_column) > stop:
            return False
    return True


def extent(found: Definition) -> tuple[int, int]:
    """The size of a definition, to select the innermost of nested ones."""
    node = found.node
    lines = (node.end_lineno or 0) - node.lineno
    return lines, (node.end_col_offset or 0) - node.col_offset


def no_source(code: CodeType) -> str:
    return (
        f"{code.co_qualname} must have source code to be differentiated, but none was "
        f"found for it ({code.co_filename}, line {code.co_firstlineno}). Define it in "
        "a file, register its text in linecache, or write a rule for it."
    )


def no_match(code: CodeType) -> str:
    return (
        f"The source of {code.co_qualname} must be at line {code.co_firstlineno} of "
        f"{code.co_filename}, but what stands there is not this function. Was the file "
        "edited after it was loaded? Load it again."
    )
