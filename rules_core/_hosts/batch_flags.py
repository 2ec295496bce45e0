"""Which leaves of a value have a batch axis, from the flags that a batch rule is given.

A host gives one flag for a whole argument, or a container like the argument itself with
a flag in place of each array.
"""

from __future__ import annotations

from typing import Any

from rules_core._tangents.structure import structure

from .layouts import count_leaves

__all__ = ["leaf_flags"]


def leaf_flags(layout: Any, flags: Any) -> list[bool]:
    """One flag per leaf.

    Args:
        layout: Of the value.
        flags: A bool for all leaves, or a container with one in place of each leaf.

    >>> from rules_core.extend import Opener, flatten, leaf_flags
    >>> layout = flatten({"b": 1.0, "a": (2.0, None)}, [], Opener(float))
    >>> leaf_flags(layout, True)
    [True, True]
    >>> leaf_flags(layout, {"a": (False, None), "b": True})
    [True, False]
    """
    if layout[0] == "static":
        return []
    if isinstance(flags, bool):
        return [flags] * count_leaves(layout)
    given = _entries(flags)
    pairs = zip(layout[2], layout[3], strict=True)
    return [flag for name, child in pairs for flag in leaf_flags(child, given[name])]


def _entries(flags: Any) -> dict[Any, Any]:
    level = structure(flags)
    assert level is not None, flags
    return dict(zip(level.names, level.values, strict=True))
