"""The short way: a host function on tensors that nothing differentiates or traces.

Most calls of a host function are of this kind, and on small tensors finding out which
mechanism a call needs costs more than the call. So this asks as little as can tell
that none is needed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import rules_core as rc

from ._compat import tracing_or_transforming
from ._host import PrimalJob
from ._leaves import flatten, unflatten

__all__ = ["SHORT", "call_plain", "mark_short"]

# In the attributes of a host primitive whose calls may try the short way: whether they
# must copy.
SHORT = "_short_torch"

_VALUES = frozenset({bool, complex, float, int, str, type(None)})
_FLOATS = frozenset("fdFD")
_OWN = 0x0404  # NumPy's flags OWNDATA and WRITEABLE

_from_numpy = torch.from_numpy
_grad_enabled = torch.is_grad_enabled


def mark_short(primitive: rc.Primitive) -> None:
    """Let later calls of a host primitive try the short way, if they may."""
    policy = primitive.__dict__.get("_autocast_torch", "keep")
    if policy == "keep" and rc.Foreign.of(primitive) is None:
        primitive.__dict__[SHORT] = primitive.needs_copies


def call_plain(primitive: rc.Primitive, args: tuple[Any, ...], copies: bool) -> Any:
    """The result, or `NotImplemented` where more is needed; nothing is called then."""
    if tracing_or_transforming():
        return NotImplemented
    x = args[0]
    try:
        if len(args) == 1 and x.__class__ is Tensor and not x.requires_grad:
            one = x.numpy()
            arrays: Any = (one,)
        else:
            arrays, one = _arrays_of(args)
    except (RuntimeError, TypeError):  # elsewhere, conjugate, bfloat16, …
        return NotImplemented
    if one is None:
        return NotImplemented
    if copies:
        arrays = [x if type(x) in _VALUES else x.copy() for x in arrays]
    y = primitive.fun(*arrays)
    cls, dtype = y.__class__, one.dtype
    if cls is one.__class__ and y.dtype is dtype and dtype.char in _FLOATS:
        # A new array of the arguments' dtype shares memory with nobody.
        if y.flags.num & _OWN == _OWN:
            return _from_numpy(y.copy() if copies else y)
    elif cls is dtype.type and dtype.char in _FLOATS:
        return _from_numpy(y.__array__())
    return _read(primitive, y, arrays, args)


def _arrays_of(args: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """What the function is to be called with, and an array of it.

    None in place of the array where the arguments are not numbers and tensors of one
    dtype without derivatives; torch itself raises for tensors without data at hand.
    """
    arrays: list[Any] = []
    one: Any = None
    for x in args:
        cls = x.__class__
        if cls is Tensor:
            if not x.requires_grad:
                array = x.numpy()
            elif _grad_enabled():
                return arrays, None
            else:
                array = x.detach().numpy()
            if one is None:
                one = array
            elif array.dtype is not one.dtype:
                return arrays, None
            arrays.append(array)
        elif cls in _VALUES:
            arrays.append(x)
        else:
            return arrays, None
    return arrays, one


def _read(primitive: rc.Primitive, y: Any, arrays: Any, args: tuple[Any, ...]) -> Any:
    """A NumPy result in the general way."""
    tensors: list[Tensor] = []
    job = PrimalJob(primitive, flatten((args, {}), tensors))
    own = [a for a in arrays if type(a) not in _VALUES]
    outputs = job.read(y, own, tensors)
    return outputs[0] if job.result is None else unflatten(job.result, outputs)
