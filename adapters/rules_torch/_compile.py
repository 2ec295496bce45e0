"""`torch.compile` and `torch.export`: one opaque entry that keeps the rules.

Dynamo would trace an `autograd.Function` and, inside a transform, silently drop its
backward. So the frame that it traces does nothing but flatten the arguments and call
an entry that Dynamo puts into its graph as it is; AOTAutograd then runs the same code
as eager does, whose operations it sees, differentiates and fuses.

An entry receives constants and tensors only: the call itself is kept in a table here
and named by a key.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import torch
from torch import Tensor

import rules_core as rc

from ._leaves import flatten, unflatten

__all__ = ["call_traced"]


class _Traced:
    """A primitive with the layout of its arguments, and of its result once it ran."""

    __slots__ = ("layout", "primitive", "result")

    def __init__(self, primitive: rc.Primitive, layout: Any) -> None:
        self.primitive, self.layout = primitive, layout
        self.result: Any = None


_CALLS: dict[str, _Traced] = {}
_KEYS: dict[Any, str] = {}
_numbers = count()


def call_traced(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a primitive in a frame that Dynamo traces."""
    tensors: list[Tensor] = []
    key = _key_of(primitive, flatten((args, kwargs), tensors))
    outputs = _entry(key, *tensors)
    return unflatten(_result_of(key), outputs)


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _key_of(primitive: rc.Primitive, layout: Any) -> str:
    try:
        known = _KEYS.get((primitive, layout))
    except TypeError:  # a static argument is not hashable
        known = None
    if known is not None:
        return known
    key = f"{primitive.table.label}#{next(_numbers)}"
    _CALLS[key] = _Traced(primitive, layout)
    try:
        _KEYS[primitive, layout] = key
    except TypeError:
        pass
    return key


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _result_of(key: str) -> Any:
    return _CALLS[key].result


@torch.compiler.allow_in_graph  # type: ignore[untyped-decorator]
def _entry(key: str, *tensors: Tensor) -> tuple[Tensor, ...]:
    """What Dynamo's graph calls; runs on fake tensors first, then as eager code does."""
    from ._adapter import dispatch

    call = _CALLS[key]
    args, kwargs = unflatten(call.layout, tensors)
    y = dispatch(call.primitive, args, kwargs)
    outputs: list[Tensor] = []
    call.result = flatten(y, outputs)
    return tuple(outputs)
