"""`a.shape = …`: another shape for an active array, in place.

Earlier tape entries index the array and its shadow in the old shape, so the reverse
pass restores both.
"""

from typing import Any

import numpy as np

from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._refusals import refused

from .memory import Memory

__all__ = ["FormEntry", "check_form", "reform"]


def check_form(run: Any, a: Any, name: str) -> None:
    """Raise an error for a change of shape that cannot be differentiated."""
    memory_view = isinstance(
        a.base, memoryview
    )  # the user's own array would keep its shape
    if name != "shape" or memory_view or not run.plain:
        refused("reshaped", name)


def reform(memory: Memory, owner: Any, below: Any = PLAIN) -> None:
    """Give the shadow of an owner of memory the owner's new shape."""
    data = memory.data
    memory.pin(owner)
    if data is not None:
        memory.data = below.call(np.ndarray.reshape, data, owner.shape)


class FormEntry:
    """An array with a new shape.

    Attributes:
        target: The array.
        other: The shape on the other side.
        shadow: Its shadow, if the array owns its memory; windows have their own.
    """

    __slots__ = ("other", "shadow", "target")

    def __init__(self, target: Any, shadow: Any):
        self.target, self.shadow, self.other = target, shadow, target.shape

    def reverse(self, below: Any) -> None:
        self.undo(below)

    def undo(self, below: Any) -> None:
        here = self.target.shape
        below.reshape_in_place(self.target, self.other)  # which notes it as well
        self.other = here
        if self.shadow is not None:
            reform(self.shadow, self.target, below)

    redo = undo
