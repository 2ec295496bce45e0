"""Checks of a rule at its definition, before any call."""

from __future__ import annotations

import warnings
from typing import Any

from rules_core._base.errors import RuleDefinitionError
from rules_core._dispatch.configs import RuleConfig
from rules_core._dispatch.rule import Rule
from rules_core._dispatch.rule_signature import RuleSignature
from rules_core._dispatch.specificity import at_most
from rules_core._dispatch.table import Table

__all__ = ["check_arity", "check_config", "warn_if_hiding"]


def check_arity(
    table: Table, label: str, read: RuleSignature, leading: tuple[str, ...] = ()
) -> None:
    """Raise an error for a rule that cannot match any call of the function.

    Args:
        table: The function's table.
        label: The rule's name for messages.
        read: The rule's signature.
        leading: The parameters before its own arguments.

    Raises:
        RuleDefinitionError: It takes fewer or more arguments than the normal form has.
    """
    if read.variadic is not None and not read.required:
        return  # it takes any number; to ask the function takes time
    names = table.binder.names
    if names is None or table.binder.variadic:
        return
    count, required, most = len(names), read.required, len(read.types)
    if required <= count and (read.variadic is not None or count <= most):
        return
    takes = str(required) if required == most else f"{required} to {most}"
    plural = "" if required == most == 1 else "s"
    after = f" after {' and '.join(leading)}" if leading else ""
    first = _first(leading, count)
    message = (
        f"{label} takes {takes} argument{plural}{after}, but in normal form "
        f"{table.label} has {count}: ({', '.join(names)}). The rule must take all of "
        f"them, also those with a default.{first}{read.hint}"
    )
    raise RuleDefinitionError(message)


def _first(leading: tuple[str, ...], count: int) -> str:
    """The parameters before the arguments of an frule."""
    if "tangents" not in leading:
        return ""
    dxs = ", ".join(f"dx{i}" for i in range(1, min(count, 2) + 1))
    more = ", …" if count > 2 else ""
    return (
        f" An frule takes the tangents first, as one tuple (dself, {dxs}{more}): "
        f"def rule({', '.join(leading)}, …)."
    )


def check_config(config: Any, where: str) -> None:
    """Raise an error for a config that is not a config class.

    Raises:
        RuleDefinitionError: It is an instance, a trait, or something else.
    """
    if config is None or (isinstance(config, type) and issubclass(config, RuleConfig)):
        return
    message = (
        f"{where}: config must be a RuleConfig class or RuleConfig[traits], but "
        f"got {config!r}. Write config=RuleConfig[HasReverseMode] for a trait."
    )
    raise RuleDefinitionError(message)


def warn_if_hiding(rules: list[Rule], new: Rule) -> None:
    """Warn if a config rule hides a more specific rule without a config."""
    if new.config is None:
        return
    for old in rules:
        count = len(old.types)
        if old.config is not None or not _takes(new, count):
            continue
        if at_most(old, _without_config(new), count):
            if at_most(_without_config(new), old, count):
                continue
            warnings.warn(
                f"{new.kind} {new.name} for {new.target}({new.signature}) at "
                f"{new.location} hides the more specific {old.name}({old.signature}) "
                f"at {old.location} from every such config: a rule with a config "
                "wins over any rule without one.",
                stacklevel=5,
            )


def _takes(rule: Rule, count: int) -> bool:
    most = count if rule.variadic is not None else len(rule.types)
    return rule.required <= count <= most


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
