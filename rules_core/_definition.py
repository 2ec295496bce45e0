"""What is checked when a rule is defined, before anybody calls it."""

from __future__ import annotations

import warnings
from typing import Any

from ._config import RuleConfig
from ._errors import RuleDefinitionError
from ._rule import Rule
from ._table import Table, at_most

__all__ = ["check_arity", "check_config", "warn_if_hiding"]


def check_arity(
    table: Table, label: str, required: int, most: int, variadic: Any = None
) -> None:
    """Refuse a rule that cannot fit any call of the function.

    Raises:
        RuleDefinitionError: It takes fewer or more arguments than the normal form has.
    """
    names = table.binder.names
    if names is None or table.binder.variadic:
        return
    count = len(names)
    if required <= count and (variadic is not None or count <= most):
        return
    takes = str(required) if required == most else f"{required} to {most}"
    message = (
        f"{label} takes {takes} arguments, but in normal form {table.label} has {count}"
        f": ({', '.join(names)}). The rule must take all of them, also those with a "
        "default."
    )
    raise RuleDefinitionError(message)


def check_config(config: Any, kind: str) -> None:
    if config is None or (isinstance(config, type) and issubclass(config, RuleConfig)):
        return
    message = (
        f"{kind}.define: config must be a RuleConfig class or RuleConfig[traits], but "
        f"got {config!r}. Write config=RuleConfig[HasReverseMode] for a trait."
    )
    raise RuleDefinitionError(message)


def warn_if_hiding(rules: list[Rule], new: Rule) -> None:
    """A config rule wins over any rule without one, however specific that is."""
    if new.config is None:
        return
    for old in rules:
        fits = old.config is None and len(old.types) == len(new.types)
        if fits and at_most(old, _without_config(new), len(new.types)):
            if at_most(_without_config(new), old, len(new.types)):
                continue
            warnings.warn(
                f"{new.kind} {new.name} for {new.target}({new.signature}) at "
                f"{new.location} hides the more specific {old.name}({old.signature}) "
                f"at {old.location} from every such config: a rule with a config "
                "wins over any rule without one.",
                stacklevel=5,
            )


def _without_config(rule: Rule) -> Rule:
    return Rule(
        rule.kind,
        rule.key,
        rule.function,
        rule.where,
        rule.types,
        required=rule.required,
        variadic=rule.variadic,
    )
