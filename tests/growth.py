"""What repeated work leaves in memory."""

from __future__ import annotations

import gc
import itertools
import tracemalloc
from collections.abc import Callable


def growth(work: Callable[[], object], rounds: int, windows: int = 4) -> int:
    """Bytes that `rounds` calls leave behind: the least of `windows` such counts.

    A leak grows in every window. A cache that fills, a free list or a table that
    doubles grows in some, and in which of them depends on what ran before.
    """
    for _ in range(rounds):
        work()
    gc.collect()
    tracemalloc.start()
    try:
        levels = [_level_after(work, rounds) for _ in range(windows + 1)]
    finally:
        tracemalloc.stop()
    return min(after - before for before, after in itertools.pairwise(levels))


def _level_after(work: Callable[[], object], rounds: int) -> int:
    for _ in range(rounds):
        work()
    gc.collect()
    return tracemalloc.get_traced_memory()[0]
