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

__all__ = ["changing_flags", "flags_of"]


def flags_of(run: Hooks, a: Any) -> Any:
    """`a.flags`, which does not tell the array that it belongs to."""
    found = a.flags
    run.flags[id(found)] = found, a
    return found


def changing_flags(run: Hooks, flags: Any) -> None:
    """Called before a flag is set."""
    _, a = run.flags.get(id(flags), (None, None))
    run.changing(flags if a is None else a)


@handler(np.ndarray.setflags)
def handle_setflags(
    run: Any, a: Any, write: Any = None, align: Any = None, uic: Any = None
) -> None:
    run.changing(a)
    if write and a.flags.num & WRITEABLE:  # NumPy may refuse to say so again
        write = None
    a.setflags(write, align, uic)
