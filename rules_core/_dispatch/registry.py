"""All rule tables: their place, their listing, and isolated copies for tests.

A table is an attribute of its key, a function or class, so that unused functions are
freed together with their rules; builtins and ufuncs, which accept no attributes, live
as long as the process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from types import FrameType, FunctionType
from typing import Any
from weakref import WeakSet

from rules_core._base.errors import RuleDefinitionError, RulesCoreError
from rules_core._base.shown import html_of_table, lines_of_table

from .packs import Packs
from .rule import Rule
from .rule_key import describe
from .table import LOCK, Table

__all__ = [
    "ATTRIBUTE",
    "DECORATORS",
    "HOOKS",
    "PACKS",
    "RuleList",
    "find_again",
    "find_table",
    "is_permanent",
    "isolated_rules",
    "load_pack",
    "rules",
    "table_for",
]

ATTRIBUTE = "__rules_core__"
PACKS = Packs()

# Wrappers that look-ups put around a rule (debug_mode adds its checks here).
DECORATORS: list[Callable[[Rule], Rule]] = []

_fixed: dict[Any, Table] = {}  # keys without attributes
_tables: WeakSet[Table] = WeakSet()


def _decorate(rule: Rule) -> Rule:
    for decorate in DECORATORS:
        rule = decorate(rule)
    return rule


# Table look-ups for keys without attributes, by the type of the key: for warm look-ups.
HOOKS: dict[type, Callable[[Any], Table | None]] = {}


def _hangs_on(key: Any) -> bool:
    return isinstance(key, (FunctionType, type))


def find_table(key: Any) -> Table | None:
    """The table of a key, or None; `functools.wraps` copies do not count."""
    if _hangs_on(key):
        table: object = getattr(key, ATTRIBUTE, None)
        # The `__getattr__` of a metaclass may answer any name.
        if isinstance(table, Table) and table.key is key:
            return table
        if type(key) is FunctionType:  # classes may reject attributes
            return None
    try:
        return _fixed.get(key)
    except TypeError:  # unhashable: cannot have been registered
        return None


def table_for(key: Any, what: str) -> Table:
    """The table of a key, made if there is none.

    Raises:
        RuleDefinitionError: The key is not callable, or not hashable.
    """
    if not callable(key):
        message = f"{what}: a rule key must be callable, but got {key!r}."
        raise RuleDefinitionError(message)
    with LOCK:
        table = find_table(key)
        if table is None:
            table = Table(key, PACKS.ensure, _decorate)
            _attach(key, table, what)
            _tables.add(table)
        return table


def _attach(key: Any, table: Table, what: str) -> None:
    if _hangs_on(key):
        try:
            setattr(key, ATTRIBUTE, table)
        except (AttributeError, TypeError):  # builtin classes are immutable
            pass
        else:
            return
    try:
        _fixed[key] = table
        HOOKS.setdefault(type(key), _fixed.get)
    except TypeError as error:
        message = (
            f"{what}: a rule key must be hashable, but got an instance of "
            f"{type(key).__qualname__}, which is not. Define the rule for "
            f"{type(key).__qualname__}.__call__ instead."
        )
        raise RuleDefinitionError(message) from error


def all_tables() -> list[Table]:
    """Every table that is alive."""
    with LOCK:
        return list(_tables)


class RuleList(list[Rule]):
    """Rules, shown as a table of kind, function, types and place."""

    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table."""
        return [
            (
                f"opt-out ({rule.kind})" if rule.opted_out else rule.kind,
                rule.target,
                rule.signature,
                f"{rule.module}, {rule.location}",
            )
            for rule in self
        ]

    def __repr__(self) -> str:
        return "\n".join((*lines_of_table(self.rows()), f"{len(self)} rules"))

    def _repr_html_(self) -> str:
        head = ("kind", "function", "types", "place")
        return html_of_table(self.rows(), head)


def rules() -> RuleList:
    """Every registered rule and opt-out, sorted by target and place.

    The list prints as a table. Each entry has `kind`, `target`, `signature`, `file`,
    `line`, `name` and `module`.

    >>> from rules_core import rrule, rules, NoTangent
    >>> def cube(x):
    ...     return x**3
    >>> @rrule.define(cube)
    ... def cube_rrule(x):
    ...     def cube_pullback(dy):
    ...         return NoTangent(), 3 * x**2 * dy
    ...
    ...     return cube(x), cube_pullback
    >>> [rule.kind for rule in rules() if rule.key is cube]
    ['rrule']
    """
    entries = [rule for table in all_tables() for rule in table.rules()]
    entries.sort(key=lambda r: (r.target, r.kind, r.file, r.line))
    return RuleList(entries)


def being_imported(module: str) -> bool:
    """Whether a module's body is running, so that its registrations are permanent.

    The body of an enclosing package counts too: it may register a rule of its
        submodule.
    """
    names = accumulate(module.split("."), "{}.{}".format)
    specs = (getattr(sys.modules.get(name), "__spec__", None) for name in names)
    return any(getattr(spec, "_initializing", False) for spec in specs)


def is_permanent(module: str) -> bool:
    """Whether a registration from a module outlives `isolated_rules`.

    A module's body is running and will not run again: that of the module, of a pack, or
    of one that calls a helper which registers.
    """
    return PACKS.is_importing or being_imported(module) or _within_an_import()


def _within_an_import() -> bool:
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  as call_site
    while frame is not None:
        spec = frame.f_globals.get("__spec__")
        if frame.f_code.co_name == "<module>" and getattr(spec, "_initializing", False):
            return True
        frame = frame.f_back
    return False


def load_pack(key: Any) -> None:
    """Import the packs of a callable, which may declare it a primitive.

    Not during the import of its own module: its own declarations come first, and its
    pack may need them.
    """
    module = getattr(key, "__module__", None)
    if callable(key) and not (isinstance(module, str) and being_imported(module)):
        PACKS.ensure(key)


def find_again(kind: str, key: Any, module: str, name: str, signature: str) -> Rule:
    """The registered rule of a key with this description."""
    PACKS.ensure(key)
    table = find_table(key)
    description = kind, module, name, signature
    for rule in () if table is None else table.rules():
        if (rule.kind, rule.module, rule.name, rule.signature) == description:
            return rule
    message = f"{kind} {name} for {describe(key)}({signature}) is not registered here."
    raise RulesCoreError(message)


@contextmanager
def isolated_rules() -> Iterator[None]:
    """A test's own copy of all tables; definitions inside are undone at the end.

    Rules of modules that are imported inside stay: their module will not run again. The
    tables belong to the process; other threads see these tables too.

    >>> from rules_core import rrule
    >>> from rules_core.testing import isolated_rules
    >>> def f(x):
    ...     return x
    >>> with isolated_rules():
    ...     _ = rrule.define(f)(lambda x: (x, lambda dy: (None, dy)))
    >>> rrule(f, 1.0) is None
    True
    """
    with LOCK:
        before = {table: _contents(table) for table in _tables}
    try:
        yield
    finally:
        with LOCK:
            for table in list(_tables):
                _restore(table, before.get(table, _EMPTY))


_Contents = tuple[list[Rule], list[Rule], Any, Any, Any]
_EMPTY: _Contents = ([], [], None, None, None)


def _contents(table: Table) -> _Contents:
    frules, rrules = list(table.frule.rules), list(table.rrule.rules)
    return frules, rrules, table.shapes, table.batches, table.primitive


def _restore(table: Table, contents: _Contents) -> None:
    if not table.told and _contents(table) == contents:  # true of nearly all
        return
    frules, rrules, shapes, batches, primitive = contents
    for ruleset, earlier in ((table.frule, frules), (table.rrule, rrules)):
        late = [r for r in ruleset.rules if r.persistent and r not in earlier]
        ruleset.restore([*earlier, *late])
    table.shapes, table.batches = (
        _kept(shapes, table.shapes),
        _kept(batches, table.batches),
    )
    if primitive is not None or not getattr(table.primitive, "persistent", False):
        table.primitive = primitive


def _kept(before: Any, now: Any) -> Any:
    """The side rule from before a test, or one that an imported module defined."""
    stays = before is None and getattr(now, "persistent", False)
    return now if stays else before
