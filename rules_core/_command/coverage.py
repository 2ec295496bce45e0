"""`rules-core coverage`: which functions of a module have rules."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from rules_core._dispatch.registry import find_table, load_pack
from rules_core._dispatch.rule import Rule
from rules_core._primitives.primitive import Primitive

__all__ = ["coverage"]


def coverage(module: Any) -> list[dict[str, Any]]:
    """One entry per public function of a module, with what serves it.

    `reverse` and `forward` are `"rule"`, `"constant"` (`non_differentiable`), `"no"`
    (opted out) or None; `pack` is the module in which the rules are written; `calls` is
    how a primitive runs in frameworks: `"traced"` or `"host"`.

    >>> import math
    >>> from rules_core._command.coverage import coverage
    >>> next(row for row in coverage(math) if row["name"] == "sin")
    {'name': 'sin', 'reverse': 'rule', 'forward': 'rule', 'pack': 'rules_numpy', ...}
    """
    return [_entry(name, f) for name, f in _functions(module)]


def _functions(module: Any) -> Iterator[tuple[str, Any]]:
    names = getattr(module, "__all__", None) or dir(module)
    for name in sorted(set(names)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that are going away
            value = getattr(module, name, None)
        is_function = callable(value) and not isinstance(value, type)
        if is_function and not name.startswith("_"):
            yield name, value


def _entry(name: str, f: Any) -> dict[str, Any]:
    key = f.fun if isinstance(f, Primitive) else f
    load_pack(key)
    table = find_table(key)
    rrules = [] if table is None else table.rrule.rules
    frules = [] if table is None else table.frule.rules
    handle = None if table is None else table.primitive
    packs = sorted({rule.module.partition(".")[0] for rule in (*rrules, *frules)})
    return {
        "name": name,
        "reverse": _state(rrules),
        "forward": _state(frules),
        "pack": ", ".join(packs) or None,
        "calls": None if handle is None else "host" if handle.host else "traced",
    }


def _state(rules: list[Rule]) -> str | None:
    if not rules:
        return None
    if all(rule.opted_out for rule in rules):
        return "no"
    return "constant" if all(rule.constant for rule in rules) else "rule"
