"""The short way: a primitive on tensors alone, which nothing transforms or traces.

Training code calls primitives like this. On few elements finding out which mechanism a
call needs costs as much as running it, so this asks no more than can tell that plain
autograd will do, and leaves all other calls to the dispatcher.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import rules_core as rc

from ._compat import tracing_or_transforming, unwrap_dead
from ._eager import apply_eager
from ._lookup import rules_by_type
from ._residuals import ResidualCall

__all__ = ["set_direct"]

_KINDS = frozenset((Tensor, torch.nn.Parameter))

_grad_enabled = torch.is_grad_enabled


def set_direct(primitive: rc.Primitive) -> None:
    """Let later calls of a primitive try the short way, if they may."""
    policy = primitive.__dict__.get("_autocast_torch", "keep")
    methods = rules_by_type(primitive)
    if policy != "keep" or methods is None or primitive.host:
        return
    fun, arity = primitive.fun, primitive.table.arity

    def direct(args: tuple[Any, ...]) -> Any:
        types = tuple(map(type, args))
        alike = len(args) == arity and _KINDS.issuperset(types)
        if not alike or tracing_or_transforming():
            return NotImplemented
        for x in args:
            if x.requires_grad:
                break
        else:
            return fun(*args)
        if not _grad_enabled():
            return fun(*args)
        rule = methods[types]
        if rule is None or rule.needs:
            return NotImplemented
        call = ResidualCall(primitive, None, rule)
        return call.result_of(apply_eager(call, *map(unwrap_dead, args)))

    primitive.shortcut = direct
