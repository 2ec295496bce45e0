"""The lift: a function's own source with each operation replaced by a hook.

``x * y`` becomes ``_ad.mul(x, y)`` and ``f(x)`` becomes ``_ad.call(f, x)``. Control
flow and names stay as they are, so the lifted function computes the same values in the
same order and with the same objects. What a hook does beside that is the mode's
business: one lifted form serves forward and reverse mode.
"""

import ast
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary, ref

from rules_autodiff._compiling import compiled, without_defaults
from rules_autodiff._names import free_name, module_names
from rules_autodiff._source import FunctionNode, definition, own_tree
from rules_autodiff._statements import Lifter

__all__ = [
    "ByIdentity",
    "Lifted",
    "is_lifted",
    "is_lifted_code",
    "lifted",
    "like",
    "rebind",
    "shown",
]

HOOKS = "_ad"


@dataclass(frozen=True)
class Lifted:
    """A lifted function: its code, and the name by which that calls the hooks.

    Attributes:
        places: For each cell of the code, which of the original one's it is; -1 for
            the cell of the hooks.
    """

    code: CodeType
    hooks: str
    places: tuple[int, ...]

    def bind(self, function: FunctionType, hooks: Any) -> FunctionType:
        """The lifted function over the globals and cells of the original one."""
        cells, own = function.__closure__ or (), CellType(hooks)
        closure = [own if i < 0 else cells[i] for i in self.places]
        return like(function, self.code, tuple(closure))


# By original code, then by its file (equal code of two files is one key). Functions
# that go out of use take their lifted form with them.
CACHE: WeakKeyDictionary[CodeType, dict[str, Lifted]] = WeakKeyDictionary()


class ByIdentity:
    """What is known of code objects, as long as they live.

    Asked at each call of an unknown function: a `WeakKeyDictionary` would compute the
    hash of all that the code holds.
    """

    def __init__(self) -> None:
        self.entries: dict[int, tuple[ref[CodeType], Any]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def get(self, code: CodeType) -> Any:
        """What was stored for this very object, or None."""
        found = self.entries.get(id(code))
        return None if found is None or found[0]() is not code else found[1]

    def put(self, code: CodeType, value: Any) -> None:
        key, entries = id(code), self.entries

        def forget(gone: ref[CodeType]) -> None:
            if entries.get(key, (None,))[0] is gone:
                del entries[key]

        entries[key] = ref(code, forget), value


FORMS = ByIdentity()  # of original code, its lifted form: a short way to `CACHE`
NESTED = ByIdentity()  # of lifted code, outer and inner, its name for the hooks


def lifted(function: FunctionType) -> Lifted:
    """The lifted form of a function's code, derived once.

    Raises:
        SourceNotFound: There is no source.
        UnsupportedProgram: A construct that the engine does not differentiate.
    """
    code = function.__code__
    found: Lifted | None = FORMS.get(code)
    if found is None:
        forms = CACHE.setdefault(code, {})
        found = forms.get(code.co_filename)
        if found is None:
            tree, hooks = lifted_tree(code, function.__globals__)
            form = compiled(tree, code, hooks)
            places = tuple(
                -1 if name == hooks else code.co_freevars.index(name)
                for name in form.co_freevars
            )
            found = forms[code.co_filename] = Lifted(form, hooks, places)
            register(form, hooks)
        FORMS.put(code, found)
    return found


def shown(function: FunctionType) -> str:
    """The text of the lifted form of a function."""
    return ast.unparse(lifted_tree(function.__code__, function.__globals__)[0])


def is_lifted(function: FunctionType) -> bool:
    """Whether ``function`` was made by lifted code: its body calls hooks already."""
    return is_lifted_code(function.__code__)


def is_lifted_code(code: CodeType) -> bool:
    """Whether a frame with this code is one of the user's, lifted."""
    return NESTED.get(code) is not None


def hooks_of(generator: Any) -> Any:
    """The run whose hooks a generator calls; None for code that is not lifted."""
    name = NESTED.get(generator.gi_code)
    return None if name is None else generator.gi_frame.f_locals.get(name)


def rebind(function: FunctionType, hooks: Any) -> FunctionType:
    """A function made by lifted code of an earlier run, for the run of ``hooks``."""
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
    """A function with the name, globals and defaults of another."""
    name, defaults = function.__name__, function.__defaults__
    made = FunctionType(code, function.__globals__, name, defaults, closure)
    if function.__kwdefaults__:
        made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    if function.__dict__:
        made.__dict__.update(function.__dict__)
    return made


def lifted_tree(code: CodeType, namespace: dict[str, Any]) -> tuple[FunctionNode, str]:
    """Find the source of ``code`` and lift it; with the name that the hooks go by."""
    tree = own_tree(definition(code))
    hooks = free_name(HOOKS, code)
    tree = Lifter(code, hooks, module_names(code, namespace)).lift_function(tree)
    tree.args = without_defaults(tree.args)
    return tree, hooks


def register(code: CodeType, hooks: str) -> None:
    """Remember lifted code, so that it is never lifted again."""
    NESTED.put(code, hooks)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            register(const, hooks)
