"""Rules that are defined again: in a notebook, by a reload, or by mistake."""

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
    """Whether a rule is the old one, defined again: in a notebook, or by a reload.

    One file may hold several rules of one name for different types, made by a loop or
    called `_`. A cell that is run again with other types has another file.
    """
    if (old.module, old.name) != (new.module, new.name):
        return False
    elsewhere = old.file != new.file or new.file == "<stdin>"
    return (new.where.own and elsewhere) or same_signature(old, new)


def warn_of_others(new: Rule, replaced: list[Rule]) -> None:
    """A name that is used again for other types may be meant for a second rule."""
    for old in replaced:
        if not same_signature(old, new):
            warnings.warn(
                f"{new.kind} {new.name} for {new.target}({new.signature}) at "
                f"{new.location} replaces the rule of that name for ({old.signature}) "
                f"at {old.location}. If both are meant, give each a name of its own.",
                stacklevel=6,
            )
