"""Shortcuts for a host function on tensors that nothing transforms or traces.

Most calls of a host function are of this kind, and on small tensors finding out which
mechanism a call needs costs more than the call. So this asks as little as can tell
that none is needed, or plain autograd.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import unflatten
from rules_torch._closures.convert import TENSORS
from rules_torch._compat import (
    is_of_parameter,
    older_vmap_active,
    tracing_or_transforming,
)
from rules_torch._host.jobs import PrimalJob
from rules_torch._host.lent_arrays import REFUSALS, is_refused_write, needs_copies
from rules_torch._rules.lookup import rules_by_type
from rules_torch._rules.outside_tensors import outside_of
from rules_torch._values.leaves import flatten
from rules_torch._values.numpy_arrays import ALONE

from .tensor_shortcut import recorder

__all__ = ["set_shortcut"]

Shortcut = Callable[[tuple[Any, ...]], Any]

_VALUES = frozenset({bool, complex, float, int, str, type(None)})
_OWN = 0x0404  # NumPy's flags OWNDATA and WRITEABLE

_from_numpy = torch.from_numpy
_grad_enabled = torch.is_grad_enabled


def set_shortcut(primitive: rc.Primitive) -> None:
    """Let later calls of a host primitive try the shortcut, if they may."""
    policy = primitive.__dict__.get("_autocast_torch", "keep")
    reads = primitive.helpers and outside_of(primitive) is not None
    if policy == "keep" and not reads:
        primitive.keep_shortcut(lambda: _shortcut(primitive))


def _recorded(primitive: rc.Primitive) -> Shortcut:
    """The shortcut of calls that autograd records."""
    methods, arity = rules_by_type(primitive), primitive.table.arity
    if methods is None or outside_of(primitive) is not None:
        return lambda _: NotImplemented
    recorded = recorder(primitive, methods)

    def of_tensors(args: tuple[Any, ...]) -> Any:
        types = tuple(map(type, args))
        if len(args) != arity or not TENSORS.issuperset(types):
            return NotImplemented
        if tracing_or_transforming() or older_vmap_active():
            return NotImplemented
        for x in args:
            if x.requires_grad:
                return recorded(types, args)
        return NotImplemented

    return of_tensors


def _shortcut(primitive: rc.Primitive) -> Shortcut:
    """The shortcut of a function; on few elements each line of it counts.

    It holds until the rules change, which say whether the function needs copies.
    """
    import numpy as np

    copies, recorded = needs_copies(primitive), _recorded(primitive)
    fun, array_type, count = primitive.checked, np.ndarray, getrefcount
    # An elementwise function of integers has a floating result.
    floats, kept = tuple(map(np.dtype, "fdFD")), not primitive.elementwise
    double = floats[1]
    # An array that only `y` refers to shares its memory with no other; ufuncs make one,
    # if they are given no more than their inputs, and leave those alone.
    inputs = fun.nin if isinstance(fun, np.ufunc) else 0

    def of_one(args: tuple[Any, ...]) -> Any:
        if len(args) != 1:
            return of_several(args)
        x = args[0]
        if x.__class__ is not Tensor:
            return of_several(args)
        if x.requires_grad:
            return recorded(args) if _grad_enabled() else of_several(args)
        if tracing_or_transforming():
            return NotImplemented
        try:
            array: Any = x.numpy()
        except (RuntimeError, TypeError):
            return NotImplemented
        if copies:
            array = array.copy()
        elif not inputs:
            array.setflags(False)
        try:
            y = fun(array)
        except REFUSALS as error:
            if is_refused_write(error):
                return NotImplemented
            raise
        if y.__class__ is array_type:
            dtype = array.dtype
            same = y.dtype is dtype and (kept or dtype is double or dtype in floats)
            if same and (inputs or (count(y) == ALONE and y.flags.num & _OWN == _OWN)):
                return _from_numpy(y)
        elif y.__class__ is array.dtype.type and (kept or array.dtype in floats):
            return _from_numpy(y.__array__())
        found = [y]
        del y
        return _read(primitive, found, args)

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
        if not inputs:
            a.setflags(False)
            b.setflags(False)
        try:
            y = fun(a, b)
        except REFUSALS as error:
            if is_refused_write(error):
                return NotImplemented
            raise
        if (
            y.__class__ is array_type
            and y.dtype is dtype
            and (kept or dtype is double or dtype in floats)
            and (inputs or (count(y) == ALONE and y.flags.num & _OWN == _OWN))
        ):
            return _from_numpy(y)
        found = [y]
        del y
        return _read(primitive, found, args)

    def of_several(args: tuple[Any, ...]) -> Any:
        if tracing_or_transforming():
            return NotImplemented
        try:
            arrays, one = _arrays_of(args)
        except (RuntimeError, TypeError):  # elsewhere, conjugate, bfloat16, …
            return NotImplemented
        if one is None:
            return recorded(args) if _grad_enabled() else NotImplemented
        if copies:
            arrays = [x if type(x) in _VALUES else x.copy() for x in arrays]
        elif not inputs:
            for array in arrays:
                if type(array) not in _VALUES:
                    array.setflags(False)
        try:
            y = fun(*arrays)
        except REFUSALS as error:
            if is_refused_write(error):
                return NotImplemented
            raise
        same = y.__class__ is array_type and y.dtype is one.dtype
        same = same and (kept or y.dtype in floats)
        if same and (
            len(args) <= inputs or (count(y) == ALONE and y.flags.num & _OWN == _OWN)
        ):
            return _from_numpy(y)
        found = [y]
        del y
        return _read(primitive, found, args)

    return of_two if (inputs or primitive.table.arity) == 2 else of_one


def _arrays_of(args: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """NumPy arguments of the function, and one array of them.

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
            elif _grad_enabled() or is_of_parameter(x):  # whose memory may be resized
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


def _read(primitive: rc.Primitive, found: list[Any], args: tuple[Any, ...]) -> Any:
    """A NumPy result, alone in a list, in the general way."""
    tensors: list[Tensor] = []
    job = PrimalJob(primitive, flatten((args, {}), tensors))
    outputs = job.read(found, tensors)
    return outputs[0] if job.result is None else unflatten(job.result, outputs)
