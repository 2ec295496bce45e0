"""Testing rules: `check_rule` and its relatives.

Not imported by `rules_core`. Names are loaded at first use, so that importing this
package needs no NumPy; running a check does.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rules_core._registry import isolated_rules

    from ._cells import Cell
    from ._config import FiniteDifferenceConfig
    from ._differences import Estimate, differentiate
    from ._report import Check, CheckFailed, Report
    from ._rule import check_frule, check_rrule, check_rule
    from ._seeded import Seeded
    from ._space import Space

__all__ = [
    "Cell",
    "Check",
    "CheckFailed",
    "Estimate",
    "FiniteDifferenceConfig",
    "Report",
    "Seeded",
    "Space",
    "check_frule",
    "check_rrule",
    "check_rule",
    "differentiate",
    "isolated_rules",
]

_HOMES = {
    "_cells": ("Cell",),
    "_config": ("FiniteDifferenceConfig",),
    "_differences": ("Estimate", "differentiate"),
    "_report": ("Check", "CheckFailed", "Report"),
    "_rule": ("check_frule", "check_rrule", "check_rule"),
    "_seeded": ("Seeded",),
    "_space": ("Space",),
}
_MODULES = {
    "isolated_rules": "rules_core._registry",
    **{name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names},
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
