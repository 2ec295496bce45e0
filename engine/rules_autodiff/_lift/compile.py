"""Definitions compiled alone, with the variables of the original function."""

import ast
import re
from threading import RLock
from types import CodeType
from typing import Any

__all__ = ["PARSING", "compiled", "is_text_of", "without_defaults"]

# Held during parsing and compilation: CPython 3.11 counts the depth of both in one
# place for all threads, and raises SystemError if two threads do it at once.
PARSING = RLock()
FUTURE_FLAGS = 0x1FE0000  # the bits of co_flags that `from __future__` sets


def compiled(
    tree: Any, code: CodeType, *hooks: str, imports: frozenset[str] = frozenset()
) -> CodeType:
    """Compile a definition inside a factory whose arguments become its cells.

    Args:
        tree: The function's syntax.
        code: The function's own code.
        *hooks: Names of further cells.
        imports: Names that the file imports: their attributes are not methods to the
            compiler.
    """
    names = [*hooks, *code.co_freevars]
    if isinstance(tree, ast.Lambda):
        body: ast.stmt = ast.Expr(tree)
    else:
        # Under another name: its own may be global and must not change.
        body = ast.FunctionDef(f"{''.join(hooks)}_function", tree.args, tree.body, [])
        if isinstance(tree, ast.AsyncFunctionDef):
            body = ast.AsyncFunctionDef(body.name, tree.args, tree.body, [])
    args = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    body.type_params = []  # type: ignore[attr-defined]  # needed from Python 3.12 on
    ast.copy_location(body, tree)
    factory = ast.FunctionDef("_factory", args, [body], [])
    factory.type_params = []  # type: ignore[attr-defined]  # as above
    head = [ast.Import([ast.alias(name)]) for name in sorted(imports)]
    module = ast.Module([*head, ast.copy_location(factory, tree)], [])
    flags = code.co_flags & FUTURE_FLAGS
    text = ast.fix_missing_locations(module)
    with PARSING:
        outer = compile(text, code.co_filename, "exec", flags, dont_inherit=True)
    inner = first_code(first_code(outer))
    return inner.replace(co_name=code.co_name, co_qualname=code.co_qualname)


def first_code(code: CodeType) -> CodeType:
    """The code object among the constants of ``code``."""
    return next(c for c in code.co_consts if isinstance(c, CodeType))


def without_defaults(args: ast.arguments) -> ast.arguments:
    """The defaults are the original function's own objects, not computed again."""
    nothing = ast.Constant(None)
    args.defaults = [nothing for _ in args.defaults]
    args.kw_defaults = [d and nothing for d in args.kw_defaults]
    for arg in ast.walk(args):
        if isinstance(arg, ast.arg):
            arg.annotation = None
    return args


# Whether a code object was compiled from a definition


def is_text_of(tree: Any, code: CodeType, imports: frozenset[str] | None) -> bool:
    """Whether ``code`` was compiled from a definition, or from it and more.

    Args:
        tree: The definition, with private names mangled; its defaults are removed.
        code: The code object.
        imports: The names that its file imports; None if the file is unknown.
    """
    tree.args = without_defaults(tree.args)
    names = frozenset() if imports is None else imports & names_of(code)
    try:
        candidate = compiled(tree, code, imports=names)
        if not same_parameters(candidate, code):
            return False
        if agree(candidate, code) or (imports is None and contains(candidate, code)):
            return True
        # A notebook compiles each statement separately.
        return bool(names) and agree(compiled(tree, code), code)
    except SyntaxError:  # a `nonlocal` variable that the code lacks
        return False


def names_of(code: CodeType) -> set[str]:
    """The names that code and its nested code use."""
    own = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    nested = [c for c in code.co_consts if isinstance(c, CodeType)]
    return own.union(*map(names_of, nested))


def same_parameters(found: CodeType, code: CodeType) -> bool:
    number = argument_count(found)
    return (
        number == argument_count(code)
        and found.co_argcount == code.co_argcount
        and found.co_posonlyargcount == code.co_posonlyargcount
        and found.co_varnames[:number] == code.co_varnames[:number]
    )


def argument_count(code: CodeType) -> int:
    """The number of parameters, `*args` and `**kwargs` included."""
    stars = bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_argcount + code.co_kwonlyargcount + stars


def agree(found: CodeType, code: CodeType) -> bool:
    """Whether two code objects are equivalent, with equal constants and names."""
    return same(found, code) or (is_instrumented(code) and contains(found, code))


def same(found: CodeType, code: CodeType) -> bool:
    return (
        found.co_code == code.co_code
        and found.co_names == code.co_names
        and found.co_freevars == code.co_freevars
        and found.co_varnames == code.co_varnames
        and agree_in_constants(found, code)
    )


def agree_in_constants(found: CodeType, code: CodeType) -> bool:
    """Whether the constants are equal, code objects by equivalence."""
    if len(found.co_consts) != len(code.co_consts):
        return False
    ordered = "__static_attributes__" not in code.co_names  # of a class, from a set
    for mine, theirs in zip(found.co_consts, code.co_consts, strict=True):
        if isinstance(mine, CodeType) and isinstance(theirs, CodeType):
            if not agree(mine, theirs):
                return False
        elif written(mine, ordered) != written(theirs, ordered):
            return False
    return True


def written(constant: Any, ordered: bool = True) -> str:
    """A constant as text: `1`, `1.0` and `-0.0` differ, sets have no order.

    Names of classes contain their nesting, which the factory changes.
    """
    if isinstance(constant, tuple | frozenset):
        parts = [written(x, ordered) for x in constant]
        keep = ordered and isinstance(constant, tuple)
        return f"{type(constant)}{parts if keep else sorted(parts)}"
    return NESTING.sub("", repr(constant))


NESTING = re.compile(r"(?:[\w.]|<\w+>)*<locals>\.")


def is_instrumented(code: CodeType) -> bool:
    """Whether a tool has added code, as pytest does to ``assert``."""
    return any(name.startswith("@") for name in (*code.co_names, *code.co_varnames))


def contains(found: CodeType, code: CodeType) -> bool:
    """Whether all names and constants of a definition are in instrumented code."""
    names = {*found.co_names, *found.co_varnames} - {"AssertionError"}
    if not names <= {*code.co_names, *code.co_varnames, *code.co_cellvars}:
        return False
    constants = {written(c) for c in code.co_consts if not isinstance(c, CodeType)}
    own = [c for c in found.co_consts if not isinstance(c, CodeType)]
    return all(written(c) in constants for c in own if c is not None)
