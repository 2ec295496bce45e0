"""Arrays that a program makes read-only, or writeable again.

    a.setflags(write=False)
    a.flags.writeable = False

The reverse pass puts back what was overwritten, so a lock is a change like any other:
undone on the way back, before the writes that came before it.
"""

from typing import Any

import numpy as np

from rules_autodiff._python.handlers import handler
from rules_autodiff._shadows.memory import WRITEABLE

from .interface import Hooks

__all__ = ["Locks"]


class Locks(Hooks):
    """Hooks of the flags of arrays.

    Attributes:
        flags: By its id, each object that was given out as `a.flags`, and the array.
    """

    flags: dict[int, tuple[Any, Any]]

    def flags_of(self, a: Any) -> Any:
        """`a.flags`, which does not tell the array that it belongs to."""
        found = a.flags
        self.flags[id(found)] = found, a
        return found

    def changing_flags(self, flags: Any) -> None:
        """Called before a flag is set."""
        _, a = self.flags.get(id(flags), (None, None))
        self.changing(flags if a is None else a)


@handler(np.ndarray.setflags)
def handle_setflags(
    run: Any, a: Any, write: Any = None, align: Any = None, uic: Any = None
) -> None:
    run.changing(a)
    if write and a.flags.num & WRITEABLE:  # NumPy may refuse to say so again
        write = None
    a.setflags(write, align, uic)
