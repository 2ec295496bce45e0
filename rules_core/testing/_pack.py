"""`check_pack`: a lint over all rules that a pack registers."""

from __future__ import annotations

import importlib
import itertools
import os
import pickle
import warnings
from collections.abc import Iterator
from types import FunctionType
from typing import Any, final

from rules_core import AmbiguousRulesError, Rule, rules
from rules_core._dispatch.registry import PACKS, all_tables
from rules_core._dispatch.rule_key import describe

from ._checks import Spec, execute
from ._leaf import describe as describe_value
from ._misuse import CheckCallError
from ._report import Failure, Report

__all__ = ["check_pack", "owned_by"]


def check_pack(name: str, /) -> Report:
    """Check everything that a rule pack registers, without running a rule.

    It imports and has rules; no two rules match a call equally well; each rule has a
    location and pickles by name; each host primitive has a shape rule. Host primitives
    without a batch rule, which frameworks call in a loop, are listed.

    Args:
        name: The name of the pack's entry point (`"scipy"`), or of a module
            (`"rules_scipy"`): the rules written in it and below it are checked.

    Returns:
        The report; it prints as a table.

    Raises:
        CheckFailed: A check failed.
        CheckCallError: `name` is unknown.

    >>> from rules_core.testing import check_pack
    >>> print(check_pack("scipy"))
    pack scipy: 5 passed
      passed  pack.imports      ... frules, ... rrules
      passed  pack.locations
      passed  pack.ambiguities
      passed  pack.pickles
      passed  pack.side-rules   ...
    """
    if not _is_name(name):
        message = (
            "check_pack(name): name must be that of a pack or of a module, such as "
            f"'scipy' or 'rules_scipy', but got {describe_value(name)}."
        )
        raise CheckCallError(message)
    report = Report(f"pack {name}")
    execute(CHECKS, _Pack(name), report)
    return report.raise_if_failed()


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and all(map(str.isidentifier, name.split(".")))


def owned_by(name: str, rule: Rule) -> bool:
    """Whether a rule was written in the pack of a name, or in the module."""
    return any(
        rule.module == module or rule.module.startswith(f"{module}.")
        for module in PACKS.modules(name) or [name]
    )


@final
class _Pack:
    """A pack by name, with what it registered."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.modules = PACKS.modules(name) or [name]

    def owns(self, rule: Rule) -> bool:
        """Whether a rule was written in the pack."""
        return owned_by(self.name, rule)

    @property
    def rules(self) -> list[Rule]:
        """Rules and opt-outs of the pack."""
        return [rule for rule in rules() if self.owns(rule)]

    @property
    def tables(self) -> list[Any]:
        """Tables that hold a rule of the pack."""
        return [
            table for table in all_tables() if any(self.owns(r) for r in table.rules())
        ]


def _imports(pack: _Pack) -> str:
    PACKS.load(pack.name)
    for module in pack.modules:
        importlib.import_module(module)
    if not pack.rules:
        message = (
            f"no rule is written in {' or '.join(pack.modules)}, or below. Name the "
            "pack's entry point, or the module in which its rules are written."
        )
        raise Failure(message)
    kinds = [rule.kind for rule in pack.rules]
    return f"{kinds.count('frule')} frules, {kinds.count('rrule')} rrules"


def _locations(pack: _Pack) -> None:
    """Every rule has a file and a line."""
    for rule in pack.rules:
        if rule.line <= 0 or not os.path.exists(rule.file):
            message = f"{rule!r} does not say where it was written"
            raise Failure(message)


def _ambiguities(pack: _Pack) -> None:
    """Every call has one best rule."""
    problems = {str(e) for table in pack.tables for e in _clashes(table)}
    if problems:
        raise Failure("\n".join(sorted(problems)))


def _clashes(table: Any) -> Iterator[AmbiguousRulesError]:
    for ruleset in (table.frule, table.rrule):
        for a, b in itertools.combinations(ruleset.rules, 2):
            for config, types in _common_calls(a, b):
                try:
                    ruleset.select(config, types)
                except AmbiguousRulesError as error:
                    yield error


def _common_calls(a: Rule, b: Rule) -> Iterator[tuple[type, tuple[type, ...]]]:
    """Types of arguments that both rules accept."""
    count = max(len(a.types), len(b.types))
    config = _narrower(a.config or type(None), b.config or type(None))
    if config is None:
        return
    places = [_meets(_at(a, i), _at(b, i)) for i in range(count)]
    for types in itertools.product(*places):
        yield config, types


def _at(rule: Rule, i: int) -> tuple[type, ...]:
    return rule.types[i] if i < len(rule.types) else (rule.variadic or ())


def _meets(first: tuple[type, ...], second: tuple[type, ...]) -> list[type]:
    pairs = (_narrower(a, b) for a, b in itertools.product(first, second))
    return list(dict.fromkeys(cls for cls in pairs if cls is not None))


def _narrower(a: type, b: type) -> type | None:
    """The one of two classes that is a subclass of the other, or None."""
    if issubclass(a, b):
        return a
    return b if issubclass(b, a) else None


def _pickles(pack: _Pack) -> None:
    """Every rule unpickles as itself, if its function pickles at all."""
    for rule in pack.rules:
        try:
            again = pickle.loads(_pickled(rule))
        except Exception as error:
            if not _may_pickle(rule.key):
                continue
            message = f"{rule!r} does not pickle: {error}"
            raise Failure(message) from error
        if (again.name, again.location) != (rule.name, rule.location):
            message = f"{rule!r} unpickles as {again!r}"
            raise Failure(message)


def _pickled(x: Any) -> bytes:
    """A pickle, without the warnings of modules that Python searches for a name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pickle.dumps(x)


def _may_pickle(key: Any) -> bool:
    """Whether a function may be asked to pickle, as what is found by its name.

    Not one whose name another object has, as in `array_api_compat`, and no object of a
    library that does not pickle, as SciPy's `MultiUFunc`.
    """
    if isinstance(key, FunctionType) and getattr(key, "__wrapped__", None) is None:
        return True
    try:
        _pickled(key)
    except pickle.PicklingError:
        return False
    return True


def _side_rules(pack: _Pack) -> str:
    """Shape rules exist; host primitives without a batch rule are listed.

    For a solver or a quadrature a batch rule could only loop too.
    """
    looped = []
    for table in pack.tables:
        handle = table.primitive
        if handle is None or not handle.host:
            continue
        if handle.shape_rule is None:
            message = (
                f"host primitive {describe(table.key)} has no shape_rule: define one, "
                "or declare it elementwise"
            )
            raise Failure(message)
        if handle.batch_rule is None:
            looped.append(describe(table.key))
    return f"no batch_rule, so a loop: {', '.join(looped)}" if looped else ""


CHECKS: list[Spec[_Pack]] = [
    Spec("pack.imports", _imports),
    Spec("pack.locations", _locations, ("pack.imports",)),
    Spec("pack.ambiguities", _ambiguities, ("pack.imports",)),
    Spec("pack.pickles", _pickles, ("pack.imports", "pack.locations")),
    Spec("pack.side-rules", _side_rules, ("pack.imports",)),
]
