"""The lift: a function's own source with each operation replaced by a hook.

``x * y`` becomes ``_ad.mul(x, y)`` and ``f(x)`` becomes ``_ad.call(f, x)``. Control
flow and names stay, so the lifted function computes equal values in equal order with
equal objects. The mode defines the hooks: one lifted form serves forward and reverse
mode.
"""

import ast
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from rules_autodiff._python.lifted_code import NESTED, ByIdentity
from rules_autodiff._python.names import free_name, module_names
from rules_autodiff._python.opaque import is_opaque_module

from .compile import compiled, without_defaults
from .source import FunctionNode, definition, own_tree
from .statements import Lifter

__all__ = [
    "Lifted",
    "lifted",
    "like",
    "rebind",
    "shown",
    "unlifted",
]

HOOKS = "_ad"


@dataclass(frozen=True)
class Lifted:
    """A lifted function: its code, and the name of the hooks in it.

    Attributes:
        places: For each cell of the code, the index of the original's cell; -1 for the
            cell of the hooks.
    """

    code: CodeType
    hooks: str
    places: tuple[int, ...]

    def bind(self, function: FunctionType, hooks: Any) -> FunctionType:
        """The lifted function over the globals and cells of the original one."""
        cells, own = function.__closure__ or (), CellType(hooks)
        closure = [own if i < 0 else cells[i] for i in self.places]
        return like(function, self.code, tuple(closure))


# By original code, then by its file (equal code of two files is one key). Unused
# functions are freed with their lifted form.
CACHE: WeakKeyDictionary[CodeType, dict[str, Lifted]] = WeakKeyDictionary()


FORMS = ByIdentity()  # original code → its lifted form: a fast `CACHE`


def lifted(function: FunctionType) -> Lifted:
    """The lifted form of a function's code, derived once.

    Raises:
        SourceNotFound: There is no source.
        UnsupportedProgram: A construct that the engine cannot differentiate.
    """
    code = function.__code__
    entry: Lifted | None = FORMS.get(code)
    if entry is None:
        forms = CACHE.setdefault(code, {})
        entry = forms.get(code.co_filename)
        if entry is None:
            tree, hooks = lifted_tree(code, function.__globals__)
            form = compiled(tree, code, hooks)
            places = tuple(
                -1 if name == hooks else code.co_freevars.index(name)
                for name in form.co_freevars
            )
            entry = forms[code.co_filename] = Lifted(form, hooks, places)
            register(form, hooks, code)
        FORMS.put(code, entry)
    return entry


def shown(function: FunctionType) -> str:
    """The text of the lifted form of a function; of a lifted one too."""
    function = unlifted(function) or function
    return ast.unparse(lifted_tree(function.__code__, function.__globals__)[0])


def rebind(function: FunctionType, hooks: Any) -> FunctionType:
    """A function from lifted code of an earlier run, for the run of ``hooks``."""
    code = function.__code__
    name = NESTED.get(code)
    if name not in code.co_freevars:
        return function
    place = code.co_freevars.index(name)
    closure = list(function.__closure__ or ())
    if closure[place].cell_contents is hooks:
        return function
    closure[place] = CellType(hooks)
    return like(function, code, tuple(closure))


def like(
    function: FunctionType, code: CodeType, closure: tuple[CellType, ...]
) -> FunctionType:
    """A function with the name, globals and defaults of another function."""
    name, defaults = function.__name__, function.__defaults__
    made = FunctionType(code, function.__globals__, name, defaults, closure)
    if function.__kwdefaults__:
        made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    if function.__dict__:
        made.__dict__.update(function.__dict__)
    return made


def lifted_tree(code: CodeType, namespace: dict[str, Any]) -> tuple[FunctionNode, str]:
    """Find the source of ``code`` and lift it; also return the name of the hooks."""
    found = definition(code)
    tree = own_tree(found)
    hooks = free_name(HOOKS, code)
    modules = module_names(code, namespace)
    opaque = {m for m in modules if is_opaque_module(namespace[m].__name__)}
    tree = Lifter(code, hooks, modules, opaque, found.stored).lift_function(tree)
    tree.args = without_defaults(tree.args)
    return tree, hooks


def register(code: CodeType, hooks: str, original: CodeType | None = None) -> None:
    """Record lifted code, so that it is never lifted again, and what it was made of."""
    NESTED.put(code, hooks)
    originals = inner_codes(original)
    own = inner_codes(code)
    for inner in own:
        same = [c for c in originals if is_form_of(inner, c, hooks)]
        alone = len(same) == 1 and sum(is_form_of(c, same[0], hooks) for c in own) == 1
        if alone:
            ORIGINALS.put(inner, same[0])
        register(inner, hooks, same[0] if alone else None)


ORIGINALS = ByIdentity()  # the code of a function in lifted code → as it was written


def inner_codes(code: CodeType | None) -> list[CodeType]:
    """The code of the functions that a function defines."""
    constants = () if code is None else code.co_consts
    return [x for x in constants if isinstance(x, CodeType)]


def is_form_of(code: CodeType, original: CodeType, hooks: str) -> bool:
    """Whether one is the lifted form of the other, by what lifting keeps."""
    ways = [
        (c.co_name, c.co_firstlineno, c.co_varnames[: c.co_argcount], c.co_argcount,
         c.co_kwonlyargcount, {*c.co_freevars} - {hooks})
        for c in (code, original)
    ]  # fmt: skip
    return ways[0] == ways[1]


def unlifted(function: FunctionType) -> FunctionType | None:
    """A function as its program defines it; None if that is not known.

    A function that a lifted program defines is lifted. It shares its variables with
    what is returned.
    """
    code = function.__code__
    if NESTED.get(code) is None:
        return function
    original = ORIGINALS.get(code)
    if original is None:
        return None
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    own = tuple([cells[name] for name in original.co_freevars])
    return like(function, original, own)
