"""Functions that a pullback calls again: what they read must be what they read before.

A function that is an argument of a call, as a solver's, may read globals, attributes
and entries of containers that the program changes before it calls `backward()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import rules_core as rc
from rules_core.extend import Reads, reads_of
from rules_torch._closures.reads import INERT

__all__ = ["as_before", "opaque_parts", "reads_in"]

_SAME = nullcontext()


def reads_in(primitive: rc.Primitive, layout: Any) -> Reads | None:
    """What functions read that are arguments, or that the rules call; None for none.

    Args:
        primitive: The primitive.
        layout: That of `(args, kwargs)`, None where these are tensors.
    """
    if layout is None and not primitive.helpers:
        return None
    given = () if layout is None else opaque_parts(layout)
    return reads_of((*primitive.helpers, *given))


def as_before(reads: Reads | None, primitive: rc.Primitive) -> Any:
    """While a pullback runs, which may call the functions.

    Raises:
        UnsupportedError: What they read was changed.
    """
    return _SAME if reads is None else reads.held(primitive.table.label)


def opaque_parts(layout: Any) -> Iterator[Any]:
    """Parts of an argument that are no tensors, constants or containers of them.

    An instance stands there as a copy without the tensors that were taken out of it.
    """
    kind = layout[0]
    if kind == "leaf":
        return
    if kind == "static":
        if type(layout[1]) not in INERT:
            yield layout[1]
        return
    if kind == "struct" and (layout[1].keyed != "position" or _is_pullback(layout[1])):
        yield layout[1].rebuild(layout[1].values)
        return
    if kind == "struct":
        yield layout[1].primal
    elif kind == "mapping":
        yield from (key for key in layout[2] if type(key) not in INERT)
    for part in layout[3]:
        if part[0] != "leaf":
            yield from opaque_parts(part)


def _is_pullback(level: rc.Structure) -> bool:
    return level.primal is rc.Pullback
