"""`rules-core rules` and `rules-core explain`."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatch
from typing import Any

from rules_core._dispatch.registry import PACKS, RuleList, rules
from rules_core._dispatch.rule import Rule
from rules_core._dispatch.rule_key import describe
from rules_core._rules.explain import explain
from rules_core._rules.lookup import unwrap

from .subject import CommandError, find_module

__all__ = ["chosen_rules", "explanation", "load_all", "rules_of"]


def chosen_rules(
    listed: Iterable[Rule], pattern: str | None, module: str | None, mode: str | None
) -> RuleList:
    """The rules that a pattern, the module of their function and a mode choose.

    Args:
        listed: Rules.
        pattern: Text of the function's name, or a pattern with `*` and `?`.
        module: The function's module, or one above it.
        mode: `"rrule"` or `"frule"`.
    """
    return RuleList(
        rule
        for rule in listed
        if _matches(rule.target, pattern)
        and (module is None or _is_in(rule.key, module))
        and mode in (None, rule.kind)
    )


def _matches(target: str, pattern: str | None) -> bool:
    if pattern is None:
        return True
    wild = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
    return fnmatch(target, wild)


def _is_in(key: Any, module: str) -> bool:
    """Whether a function is defined in a module, or found there by users."""
    own = getattr(key, "__module__", None) or ""
    if own == module or own.startswith(f"{module}."):
        return True
    found = getattr(find_module(module), getattr(key, "__name__", ""), None)
    return getattr(found, "fun", found) is key


def load_all() -> None:
    """Import every installed pack.

    Raises:
        CommandError: One does not import.
    """
    for name in PACKS.names():
        try:
            PACKS.load(name)
        except ImportError as error:
            raise CommandError(str(error)) from error


def rules_of(f: Any) -> RuleList:
    """All rules of one function."""
    key = unwrap(f)[0].key
    PACKS.ensure(key)
    return RuleList(rule for rule in rules() if rule.key is key)


def explanation(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The text of `explain` for a call.

    Raises:
        CommandError: The function does not take these arguments.
    """
    try:
        return explain(f, *args, **kwargs)
    except TypeError as error:
        name = describe(unwrap(f)[0].key)
        message = f"{name} does not take these arguments: {error}."
        raise CommandError(message) from error
