"""The short way: a host function on tensors that nothing differentiates or traces.

Most calls of a host function are of this kind, and on small tensors finding out which
mechanism a call needs costs more than the call. So this asks as little as can tell
that none is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import rules_core as rc

from ._compat import tracing_or_transforming
from ._host import PrimalJob
from ._leaves import flatten, unflatten

__all__ = ["set_shortcut"]

Shortcut = Callable[[tuple[Any, ...]], Any]

_VALUES = frozenset({bool, complex, float, int, str, type(None)})
_OWN = 0x0404  # NumPy's flags OWNDATA and WRITEABLE

_from_numpy = torch.from_numpy
_grad_enabled = torch.is_grad_enabled


def set_shortcut(primitive: rc.Primitive) -> None:
    """Let later calls of a host primitive try the short way, if they may."""
    policy = primitive.__dict__.get("_autocast_torch", "keep")
    if policy == "keep":
        primitive.keep_shortcut(lambda: _shortcut(primitive))


def _shortcut(primitive: rc.Primitive) -> Shortcut:
    """The short way of a function; on few elements each line of it counts.

    It holds until the rules change, which say whether the function needs copies.
    """
    import numpy as np

    copies = primitive.needs_copies
    fun, array_type = primitive.fun, np.ndarray
    # An elementwise function of integers has a floating result.
    floats, kept = tuple(map(np.dtype, "fdFD")), not primitive.elementwise
    # A new array of the arguments' dtype shares memory with nobody; ufuncs make one, if
    # they are given no more than their inputs.
    inputs = fun.nin if isinstance(fun, np.ufunc) else 0

    def of_one(args: tuple[Any, ...]) -> Any:
        if len(args) != 1:
            return of_several(args)
        x = args[0]
        if x.__class__ is not Tensor or x.requires_grad:
            return of_several(args)
        if tracing_or_transforming():
            return NotImplemented
        try:
            array = x.numpy()
        except (RuntimeError, TypeError):
            return NotImplemented
        if copies:
            array = array.copy()
        y = fun(array)
        if y.__class__ is array_type:
            dtype = y.dtype
            same = dtype is array.dtype and (kept or dtype in floats)
            if same and (inputs or y.flags.num & _OWN == _OWN):
                return _from_numpy(y.copy() if copies else y)
        elif y.__class__ is array.dtype.type and (kept or array.dtype in floats):
            return _from_numpy(y.__array__())
        return _read(primitive, y, (array,), args)

    def of_two(args: tuple[Any, ...]) -> Any:
        if len(args) != 2:
            return of_several(args)
        x, z = args
        if (
            x.__class__ is not Tensor
            or z.__class__ is not Tensor
            or x.requires_grad
            or z.requires_grad
        ):
            return of_several(args)
        if tracing_or_transforming():
            return NotImplemented
        try:
            a, b = x.numpy(), z.numpy()
        except (RuntimeError, TypeError):
            return NotImplemented
        dtype = a.dtype
        if dtype is not b.dtype or copies:
            return of_several(args)
        y = fun(a, b)
        same = y.__class__ is array_type and y.dtype is dtype
        same = same and (kept or dtype in floats)
        if same and (inputs or y.flags.num & _OWN == _OWN):
            return _from_numpy(y)
        return _read(primitive, y, (a, b), args)

    def of_several(args: tuple[Any, ...]) -> Any:
        if tracing_or_transforming():
            return NotImplemented
        try:
            arrays, one = _arrays_of(args)
        except (RuntimeError, TypeError):  # elsewhere, conjugate, bfloat16, …
            return NotImplemented
        if one is None:
            return NotImplemented
        if copies:
            arrays = [x if type(x) in _VALUES else x.copy() for x in arrays]
        y = fun(*arrays)
        same = y.__class__ is array_type and y.dtype is one.dtype
        same = same and (kept or y.dtype in floats)
        if same and (len(args) <= inputs or y.flags.num & _OWN == _OWN):
            return _from_numpy(y.copy() if copies else y)
        return _read(primitive, y, arrays, args)

    return of_two if (inputs or primitive.table.arity) == 2 else of_one


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
