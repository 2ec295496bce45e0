"""`a.shape = …`: an array that carries a derivative in another form, where it lies.

Entries of the tape from before name entries of the array as it was, and of its shadow,
so both get their old form on the way back.
"""

from typing import Any

import numpy as np

from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._refusals import refused

from .memory import Memory

__all__ = ["FormEntry", "check_form", "reform"]


def check_form(run: Any, a: Any, name: str) -> None:
    """Refuse a change of form that nobody could follow."""
    given = isinstance(a.base, memoryview)  # the user's own array would keep its form
    if name != "shape" or given or not run.plain:
        refused("reshaped", name)


def reform(memory: Memory, owner: Any, below: Any = PLAIN) -> None:
    """Give the shadow of an owner of memory the owner's new form."""
    data = memory.data
    memory.pin(owner)
    if data is not None:
        memory.data = below.call(np.ndarray.reshape, data, owner.shape)


class FormEntry:
    """An array that was given another form.

    Attributes:
        target: The array.
        other: Its form on the other side.
        shadow: Its shadow, if it is the owner of its memory; windows have their own.
    """

    __slots__ = ("other", "shadow", "target")

    def __init__(self, target: Any, shadow: Any):
        self.target, self.shadow, self.other = target, shadow, target.shape

    def reverse(self, below: Any) -> None:
        self.undo(below)

    def undo(self, below: Any) -> None:
        here = self.target.shape
        self.target.shape = self.other
        self.other = here
        if self.shadow is not None:
            reform(self.shadow, self.target, below)

    redo = undo
