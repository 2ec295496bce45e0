"""Redefined rules: in a notebook, by a reload, or by mistake."""

from __future__ import annotations

import warnings
from typing import Any

from .rule import Rule

__all__ = ["replaces", "same_signature", "warn_of_others"]


def same_signature(a: Rule, b: Rule) -> bool:
    def shape(rule: Rule) -> Any:
        rest = None if rule.variadic is None else frozenset(rule.variadic)
        return rule.config, rule.required, [set(t) for t in rule.types], rest

    return bool(shape(a) == shape(b))


def replaces(new: Rule, old: Rule) -> bool:
    """Whether a rule redefines the old one: in a notebook, or by a reload.

    One file may hold several rules of one name for different types, defined in a loop
    or named `_`. A notebook cell that runs again with other types has another file.
    """
    if (old.module, old.name) != (new.module, new.name):
        return False
    elsewhere = old.file != new.file or new.file == "<stdin>"
    return (new.where.own and elsewhere) or same_signature(old, new)


def warn_of_others(new: Rule, replaced: list[Rule]) -> None:
    """Warn if a name is reused for other types: a second rule may be intended."""
    for old in replaced:
        if not same_signature(old, new):
            warnings.warn(
                f"{new.kind} {new.name} for {new.target}({new.signature}) at "
                f"{new.location} replaces the rule of that name for ({old.signature}) "
                f"at {old.location}. If both are meant, give each a name of its own.",
                stacklevel=6,
            )
