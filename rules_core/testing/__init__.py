"""Tests of rules: `check_rule` and similar functions.

Not imported by `rules_core`. Names are loaded at first use, so that importing this
package does not import NumPy; running a check does.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rules_core._dispatch.registry import isolated_rules

    from ._adapters.check import check_adapter
    from ._cells import Cell
    from ._config import FiniteDifferenceConfig
    from ._differences import Estimate, differentiate
    from ._host_cells import FlatFunction, HostArrays
    from ._misuse import CheckCallError
    from ._pack import check_pack
    from ._pack_cases import PackCase, pack_cases
    from ._report import Check, CheckFailed, Report
    from ._rule import check_frule, check_rrule, check_rule
    from ._scalar import check_scalar
    from ._seeded import Seeded
    from ._space import Space
    from ._tangent import check_tangent

__all__ = [
    "Cell",
    "Check",
    "CheckCallError",
    "CheckFailed",
    "Estimate",
    "FiniteDifferenceConfig",
    "FlatFunction",
    "HostArrays",
    "PackCase",
    "Report",
    "Seeded",
    "Space",
    "check_adapter",
    "check_frule",
    "check_pack",
    "check_rrule",
    "check_rule",
    "check_scalar",
    "check_tangent",
    "differentiate",
    "isolated_rules",
    "pack_cases",
]

_HOMES = {
    "_adapters.check": ("check_adapter",),
    "_cells": ("Cell",),
    "_config": ("FiniteDifferenceConfig",),
    "_differences": ("Estimate", "differentiate"),
    "_host_cells": ("FlatFunction", "HostArrays"),
    "_misuse": ("CheckCallError",),
    "_pack": ("check_pack",),
    "_pack_cases": ("PackCase", "pack_cases"),
    "_report": ("Check", "CheckFailed", "Report"),
    "_rule": ("check_frule", "check_rrule", "check_rule"),
    "_scalar": ("check_scalar",),
    "_seeded": ("Seeded",),
    "_space": ("Space",),
    "_tangent": ("check_tangent",),
}
_MODULES = {
    "isolated_rules": "rules_core._dispatch.registry",
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
