"""`with_rules`: a library's namespace in which functions with rules are primitives."""

from __future__ import annotations

from types import ModuleType
from typing import Any, TypeVar, cast, final

from rules_core._dispatch.registry import PACKS, find_table, load_pack

from .primitive import Primitive

__all__ = ["with_rules"]

M = TypeVar("M")


def with_rules(module: M, /, *, host: bool = True) -> M:
    """A library as it is, but each function that has rules is a primitive.

    Attributes, classes, constants and functions without rules are the library's own;
    its submodules are such namespaces too. The library itself is not changed. Its rule
    packs are imported first, and a function that a pack declares has that declaration.

    Args:
        module: The module.
        host: For functions that have rules, but that no `primitive` declares: whether
            they need NumPy arrays. The shapes of ufuncs are known; of any other
            function JAX asks for a shape rule when it compiles a call.

    Returns:
        The namespace, one for each module.

    Raises:
        TypeError: `module` is no module.
        PackImportError: A pack of the library cannot be imported.

    >>> import jax, scipy
    >>> import rules_core as rc
    >>> sp = rc.with_rules(scipy)
    >>> bool(abs(jax.grad(lambda x: sp.special.kv(0, x))(1.0) + 0.6019072) < 1e-6)
    True
    >>> sp
    <module 'scipy' with rules>
    """
    if isinstance(module, Namespace):
        return cast("M", module)
    if not isinstance(module, ModuleType):
        message = f"with_rules(module): it must be a module, but got {module!r}."
        raise TypeError(message)
    key = module.__name__, host
    found = _NAMESPACES.get(key)
    if found is None or vars(found)[_OWN] is not module:
        PACKS.ensure_module(module.__name__)
        found = _NAMESPACES[key] = Namespace(module, host=host)
    return cast("M", found)


_OWN = "_rules_core_module"
_HOST = "_rules_core_host"


@final
class Namespace(ModuleType):
    """The result of `with_rules`."""

    def __init__(self, module: ModuleType, *, host: bool) -> None:
        super().__init__(module.__name__, module.__doc__)
        vars(self).clear()  # all names are the module's
        vars(self).update({_OWN: module, _HOST: host, "__doc__": module.__doc__})

    def __getattr__(self, name: str) -> Any:
        module, host = vars(self)[_OWN], vars(self)[_HOST]
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            root = module.__name__.partition(".")[0]
            own = value.__name__.startswith(f"{root}.")
            return with_rules(value, host=host) if own else value
        if not callable(value) or isinstance(value, (type, Primitive)):
            return value
        return _served(value, host=host)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(vars(self)[_OWN], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(vars(self)[_OWN], name)

    def __dir__(self) -> list[str]:
        return dir(vars(self)[_OWN])

    def __repr__(self) -> str:
        return f"<module {vars(self)[_OWN].__name__!r} with rules>"

    def __reduce__(self) -> Any:
        return _imported, (vars(self)[_OWN].__name__, vars(self)[_HOST])


_NAMESPACES: dict[tuple[str, bool], Namespace] = {}
# Primitives of functions that have rules without a declaration, one for each function.
_HANDLES: dict[tuple[Any, bool], Primitive] = {}


def _imported(name: str, host: bool) -> Any:
    import importlib

    return with_rules(importlib.import_module(name), host=host)


def _served(f: Any, *, host: bool) -> Any:
    """The primitive of a function that has rules, any other function itself."""
    load_pack(f)
    table = find_table(f)
    if table is None:
        return f
    if table.primitive is not None:
        return table.primitive
    if all(rule.opted_out for rule in (*table.rrule.rules, *table.frule.rules)):
        return f
    if (f, host) not in _HANDLES:
        _HANDLES[f, host] = Primitive(f, host=host)
    return _HANDLES[f, host]
