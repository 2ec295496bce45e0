"""Tensors that a body reads from outside: a rule has no cotangent for them.

PyTorch would differentiate the body with respect to a parameter that it closes over; a
rule, which takes the place of the body, does not know of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CellType, FunctionType
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import unflatten
from rules_torch._compat import Levels, functorch_active
from rules_torch._values.leaves import flatten

__all__ = ["reads_tensors", "refuse_outside"]

# Under this attribute a primitive keeps the names of what its body reads.
_READS = "_reads_torch"


def reads_tensors(primitive: rc.Primitive) -> tuple[str, ...]:
    """The variables and globals of a generic body that held tensors or modules."""
    known = primitive.__dict__.get(_READS)
    if known is None:
        known = tuple(name for name, _ in _read(primitive))
        primitive.__dict__[_READS] = known
    names: tuple[str, ...] = known
    return names


def _read(primitive: rc.Primitive) -> Iterator[tuple[str, Any]]:
    fun = primitive.fun
    if primitive.host or not isinstance(fun, FunctionType):
        return
    for name, cell in zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True):
        if cell != CellType() and isinstance(cell.cell_contents, _KINDS):
            yield name, cell.cell_contents
    for name in fun.__code__.co_names:
        if isinstance(value := fun.__globals__.get(name), _KINDS):
            yield name, value


_KINDS = (Tensor, torch.nn.Module)


def refuse_outside(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Refuse a call whose body depends on a tensor outside that requires a gradient.

    Raises:
        rc.UnsupportedError: It does.
    """
    found = [name for name, value in _read(primitive) if _is_active(value)]
    if found and (functorch_active() or _depends(primitive, args, kwargs)):
        message = (
            f"{primitive.table.label}: its body reads {found[0]!r} from outside, which "
            "requires a gradient, but rules have cotangents for arguments only. Pass "
            f"it as an argument, or read {found[0]}.detach()."
        )
        raise rc.UnsupportedError(message)


def _is_active(value: Any) -> bool:
    tensors = [value] if isinstance(value, Tensor) else value.parameters()
    levels = Levels()
    return any(True in levels.tracking(x) for x in tensors)


def _depends(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    """Whether the result requires a gradient though no argument does."""
    tensors: list[Tensor] = []
    layout = flatten((args, kwargs), tensors)
    args, kwargs = unflatten(layout, [x.detach() for x in tensors])
    outputs: list[Tensor] = []
    with torch.enable_grad():
        flatten(primitive.fun(*args, **kwargs), outputs)
    return any(y.requires_grad for y in outputs)
