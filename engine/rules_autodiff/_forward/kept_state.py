"""The arguments' arrays as they were, for a pass that has to be repeated."""

from typing import Any

__all__ = ["keep_state", "restore"]


def keep_state(run: Any, owner: Any) -> None:
    """Copy an array of the arguments before the program first writes to it."""
    if id(owner) in run.saved or not run.entered:
        return
    if any(inner is owner for _, inner, _ in run.entered[2]):
        run.saved[id(owner)] = owner, run.below.copied(owner, "strides")


def restore(run: Any) -> None:
    """Write the copies back."""
    for owner, copy in run.saved.values():
        run.below.store_item(copy, owner, ...)
