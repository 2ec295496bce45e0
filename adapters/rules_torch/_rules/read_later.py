"""Functions that a pullback calls again: what they read must be what they read before.

A function that is an argument of a call, as a solver's, may read globals, attributes
and entries of containers that the program changes before it calls `backward()`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import ConstantReads, Reads, reads_of, reads_of_rule
from rules_torch._closures.reads import INERT
from rules_torch._compat import lacks_data
from rules_torch._framework import FRAMEWORK
from rules_torch._values.numpy_arrays import to_numpy

__all__ = ["as_before", "note_value", "opaque_parts", "reads_in"]

_SAME = nullcontext()


def reads_in(
    primitive: rc.Primitive, layout: Any, rule: Any, tensors: Sequence[Tensor]
) -> Reads | ConstantReads | None:
    """What the rule reads, functions that it calls, and arguments; None for none.

    Args:
        primitive: The primitive.
        layout: That of `(args, kwargs)`, None where these are tensors.
        rule: The rrule, or None.
        tensors: Those of the call.
    """
    again = () if rule is None else rule.again
    own_code = None if rule is None else reads_of_rule(rule)
    in_graph = own_code is not None and any(map(lacks_data, tensors))
    if in_graph and not rule.host:
        own_code = None  # the graph has what its pullback read
    if layout is None and not primitive.helpers and not again and not in_graph:
        return None if own_code is None else own_code.then()
    given = () if layout is None else tuple(opaque_parts(layout))
    functions: list[Any] = [*primitive.helpers, *again, *given]
    without: tuple[Any, ...] = ()
    if own_code is not None:
        functions.append(own_code.function)
        without = () if again else own_code.without
    return reads_of(functions, objects=given, own=bool(again), without=without)


def as_before(reads: Reads | ConstantReads | None, primitive: rc.Primitive) -> Any:
    """While a pullback runs, which may call the functions.

    Raises:
        UnsupportedError: What they read was changed.
    """
    return _SAME if reads is None else reads.held(primitive.table.label)


def note_value(reads: Reads, outputs: Sequence[Tensor]) -> None:
    """Keep the value for a pullback that computes it again, where there are numbers."""
    if all(_has_numbers(x) for x in outputs):
        reads.note(map(to_numpy, outputs))


def _has_numbers(x: Tensor) -> bool:
    plain = FRAMEWORK.is_concrete(x) and x.device.type == "cpu"
    return plain and x.dtype in _NUMPY and not lacks_data(x)


_NUMPY = (torch.float32, torch.float64, torch.complex64, torch.complex128)


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
