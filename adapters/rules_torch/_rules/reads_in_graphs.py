"""What functions read, in compiled programs: noted at the call, asked at the pullback.

A compiled program runs its operators alone. So three of them stand in the graph beside
a call: one notes what the functions read before it, one leaves out what they changed
themselves, and one, in the backward pass, raises an error if something else changed. A
number that is saved with the residuals tells the calls apart.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import count
from typing import Any, final

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import ConstantReads, Reads
from rules_torch._compat import is_wrapped, lacks_data, without_wrappers
from rules_torch._host.kernels import define_noting

__all__ = ["GraphReads", "in_graph"]

# Calls whose backward pass may come; those before them are forgotten.
_MOST = 4096
_numbers, _names = count(1), count()


def in_graph(
    reads: Reads | ConstantReads | None,
    primitive: rc.Primitive,
    tensors: Sequence[Tensor],
) -> GraphReads | None:
    """What stands in the graph beside a call; None where none is written down."""
    if not isinstance(reads, Reads) or any(map(is_wrapped, tensors)):
        return None
    traced = [x for x in tensors if lacks_data(x)]
    return GraphReads(reads, primitive, traced[0]) if traced else None


@final
class GraphReads:
    """The operators of one call in a graph.

    Args:
        reads: What was read when the graph was written down.
        primitive: The function.
        example: A tensor on the graph.
    """

    def __init__(self, reads: Reads, primitive: rc.Primitive, example: Tensor) -> None:
        self.known: OrderedDict[int, Reads] = OrderedDict()
        self.given = reads.functions, reads.objects, reads.own
        self.label = primitive.table.label
        name = f"reads_{next(_names)}"
        self.begin = define_noting(f"{name}_begin", "(Tensor x)", self._begin, _number)
        self.settle = define_noting(
            f"{name}_settle", "(Tensor n, Tensor y)", self._settle, _number
        )
        self.check = define_noting(
            f"{name}_check", "(Tensor n, Tensor d)", self._check, _zero
        )
        self.number: Any = self.begin(example.detach())

    def settled(self, outputs: Sequence[Tensor]) -> Tensor:
        """The number of the call, after it."""
        number, self.number = self.number, None  # operators live for ever
        settled: Tensor = self.settle(number, outputs[0].detach())
        return settled

    def checked(
        self, number: Tensor, seeds: Sequence[Tensor | None]
    ) -> list[Tensor | None]:
        """The cotangents of a call, whose functions read what they read then."""
        found = list(seeds)
        for i, dy in enumerate(found):
            if dy is not None:
                # What depends on no cotangent is a part of the forward pass, and what
                # nothing depends on is left out.
                found[i] = dy + self.check(number, without_wrappers(dy).detach())
                break
        return found

    def _begin(self, x: Tensor) -> Tensor:
        functions, objects, own = self.given
        number = next(_numbers)
        self.known[number] = Reads(functions, objects=objects, own=own)
        if len(self.known) > _MOST:
            self.known.popitem(last=False)
        return torch.tensor(number, device=x.device)

    def _settle(self, number: Tensor, _y: Tensor) -> Tensor:
        self.known[int(number)].settle()
        return number.clone()

    def _check(self, number: Tensor, _dy: Tensor) -> Tensor:
        reads = self.known.get(int(number))
        if reads is None:
            message = (
                f"{self.label}: more than {_MOST} calls were made in a compiled "
                "program before the backward pass of this one, so that what its "
                "functions read is not known any more. Call backward() earlier."
            )
            raise rc.UnsupportedError(message)
        reads.refuse_changes(self.label)
        return _zero(number)


def _number(x: Tensor, *_: Any) -> Tensor:
    return torch.empty((), dtype=torch.int64, device=x.device)


def _zero(number: Tensor, *_: Any) -> Tensor:
    return torch.zeros((), device=number.device)
