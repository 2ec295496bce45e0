"""The rules of a primitive that JAX and PyTorch would run, without importing either."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from rules_core._base.arrays import is_array_type
from rules_core._base.errors import AmbiguousRulesError
from rules_core._dispatch.configs import HasForwardsMode, HasReverseMode, RuleConfig
from rules_core._dispatch.fitting import reasons
from rules_core._dispatch.rule import Rule
from rules_core._dispatch.table import Table

from .skipped import skipped_rules

__all__ = ["NAMES", "in_hosts"]

_NUMBERS = (float, complex)


class _BothModes(RuleConfig, HasReverseMode, HasForwardsMode):
    """The config of an adapter that is not imported: no rule can name its class."""


class _Host:
    """A framework: its name for readers, its array class, its configuration.

    Both convert NumPy's arrays; JAX also converts scalars that are Python numbers too.
    """

    def __init__(
        self, name: str, module: str, shown: str, traced: str, *, scalars: bool
    ) -> None:
        self.name, self.module, self.path = name, module, traced
        self.scalars = scalars
        # If the framework is not imported, no rule can name its classes.
        self.absent = type(shown, (), {"__module__": module})

    @property
    def traced(self) -> type:
        entry: Any = sys.modules.get(self.module)
        if entry is None:
            return self.absent
        for part in self.path.split("."):
            entry = getattr(entry, part)
        cls: type = entry
        return cls

    @property
    def config(self) -> type:
        adapter = sys.modules.get(f"rules_{self.module}")
        cls: type = getattr(adapter, f"{self.module.title()}Config", _BothModes)
        return cls

    def types(self, types: tuple[type, ...]) -> tuple[type, ...]:
        """The classes of the arguments when the framework differentiates a call.

        Numbers are constants if there is an array.
        """
        arrays = [self.makes_array(cls) for cls in types]
        if not any(arrays):
            arrays = [issubclass(cls, _NUMBERS) for cls in types]
        pairs = zip(types, arrays, strict=True)
        return tuple(self.traced if array else cls for cls, array in pairs)

    def makes_array(self, cls: type) -> bool:
        return is_array_type(cls) and (self.scalars or not issubclass(cls, _NUMBERS))

    def owns(self, cls: type) -> bool:
        roots = {base.__module__.partition(".")[0] for base in cls.__mro__}
        return self.module in roots or f"{self.module}lib" in roots


_HOSTS = (
    _Host("JAX", "jax", "Array", "core.Tracer", scalars=True),
    _Host("PyTorch", "torch", "Tensor", "Tensor", scalars=False),
)


# Module of a framework → its name for readers.
NAMES = {host.module: host.name for host in _HOSTS}


def in_hosts(table: Table, types: tuple[type, ...]) -> Iterator[str]:
    """A line per framework, or one for both: the rules that run, or why none does."""
    owners = [host for host in _HOSTS if any(map(host.owns, types))]
    said: dict[str, list[str]] = {}
    for host in owners or _HOSTS:
        verdict = _verdict(table, host.config, host.types(types))
        said.setdefault(verdict, []).append(host.name)
    for verdict, names in said.items():
        yield f"In {' and '.join(names)} {verdict}."


def _verdict(table: Table, config: type, types: tuple[type, ...]) -> str:
    try:
        chosen = [k.select(config, types) for k in (table.rrule, table.frule)]
    except AmbiguousRulesError as error:
        return f"the call is ambiguous: {error}".removesuffix(".")
    runs = [f"{r.kind} {r.name}" for r in chosen if r is not None and not r.opted_out]
    if runs:
        return f"{' and '.join(runs)} {'run' if len(runs) > 1 else 'runs'}"
    if any(rule is not None for rule in chosen):
        return "the call is opted out"
    skipped = skipped_rules(table, config, types)
    return _why(skipped[0], config, types, table) if skipped else "no rule applies"


def _why(rule: Rule, config: type, types: tuple[type, ...], table: Table) -> str:
    why = "; ".join(reasons(rule, config, types, table.binder.names or ()))
    return f"no rule applies (RuleSkippedWarning): {why} in {rule.kind} {rule.name}"
