"""Joins of the ways through a program, and the variables written on them."""

from typing import Any

from rules_autodiff.straight._program.blocks import Block, Return
from rules_autodiff.straight._program.kinds import MIXED, join

__all__ = ["joined", "settled_names", "writes_lines"]


def joined(states: list[Any]) -> Any:
    """Facts where several ways meet; None where none leads."""
    if not states:
        return None
    kinds, owned = dict(states[0][0]), set(states[0][1])
    for other, held in states[1:]:
        owned &= held
        for name in {**kinds, **other}:
            if name in kinds and name in other:
                kinds[name] = join(kinds[name], other[name]) or MIXED
            elif name in other:
                kinds[name] = other[name]
    return kinds, owned


def writes_lines(items: list[Any]) -> bool:
    """Whether some line of forward code comes of them, whatever is kept."""
    for item in items:
        if isinstance(item, Block):
            if item.is_active or any(step.text for step in item.steps):
                return True
        elif isinstance(item, Return) or item.text:
            return True
    return False


def settled_names(items: list[Any]) -> set[str]:
    """Variables that are assigned once, on every way and before any return."""
    found: set[str] = set()
    counts: dict[str, int] = {}
    early = True
    for item in items:
        early = early and not isinstance(item, Return)
        if isinstance(item, Block):
            for step in item.steps:
                for name in step.assigns:
                    counts[name] = counts.get(name, 0) + 1
                    if early and item.indent == 1:
                        found.add(name)
    return {name for name in found if counts[name] == 1}
