"""Shortcut for a primitive on tensors alone, which nothing transforms or traces.

Training code calls primitives like this. On few elements finding out which mechanism a
call needs costs as much as running it, so this asks no more than can tell that plain
autograd will do, and leaves all other calls to the dispatcher.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import rules_core as rc
from rules_core.extend import is_watching
from rules_torch._closures.convert import TENSORS
from rules_torch._compat import (
    autocast_active,
    older_vmap_active,
    tracing_or_transforming,
    unwrap_dead,
)
from rules_torch._rules.lookup import rules_by_type
from rules_torch._rules.outside_tensors import Outside, outside_of

from .repeated_call import Slot, Unlike, apply_quick

__all__ = ["recorder", "set_direct"]

Recorder = Callable[[tuple[type, ...], tuple[Any, ...]], Any]

_grad_enabled = torch.is_grad_enabled


def set_direct(primitive: rc.Primitive) -> None:
    """Let later calls of a primitive try the shortcut, if they may."""
    policy = primitive.__dict__.get("_autocast_torch", "keep")
    methods = rules_by_type(primitive)
    if policy == "keep" and methods is not None and not primitive.host:
        direct, outside = _shortcut(primitive, methods), outside_of(primitive)
        if outside is None:
            primitive.shortcut = direct
        else:
            primitive.shortcut = _unless_active(outside, direct)


def _unless_active(outside: Outside, direct: Callable[..., Any]) -> Callable[..., Any]:
    """The shortcut of a function that reads something besides its arguments."""

    def guarded(args: tuple[Any, ...]) -> Any:
        if _grad_enabled() and not tracing_or_transforming() and outside.active():
            return NotImplemented
        return direct(args)

    return guarded


def _shortcut(primitive: rc.Primitive, methods: Any) -> Callable[..., Any]:
    """The shortcut of a function; on few elements each line of it counts."""
    fun, arity = primitive.fun, primitive.table.arity
    recorded = recorder(primitive, methods)

    def of_one(args: tuple[Any, ...]) -> Any:
        if len(args) != 1:
            return NotImplemented
        x = args[0]
        if type(x) not in TENSORS or tracing_or_transforming():
            return NotImplemented
        if not _grad_enabled():
            return fun(x)
        if x.requires_grad:
            return recorded((type(x),), args)
        return NotImplemented if older_vmap_active() else fun(x)

    def of_several(args: tuple[Any, ...]) -> Any:
        types = tuple(map(type, args))
        alike = len(args) == arity and TENSORS.issuperset(types)
        if not alike or tracing_or_transforming():
            return NotImplemented
        if not _grad_enabled():
            return fun(*args)
        if older_vmap_active():
            return NotImplemented
        for x in args:
            if x.requires_grad:
                return recorded(types, args)
        return fun(*args)

    return of_one if arity == 1 else of_several


def recorder(primitive: rc.Primitive, methods: Any) -> Recorder:
    """Records a call for the backward pass, with the rule of its types.

    The arguments are tensors, as many as the function has, and none is traced or
    transformed; it returns NotImplemented where the dispatcher has to see to the call.
    """
    slots: dict[tuple[type, ...], Slot] = {}

    def recorded(types: tuple[type, ...], args: tuple[Any, ...]) -> Any:
        slot, rule = slots.get(types), methods[types]
        if rule is None or rule.needs or autocast_active() or is_watching():
            return NotImplemented
        if slot is None or slot.rule is not rule:
            slot = slots[types] = Slot(primitive, rule)
        if slot.reads:
            return NotImplemented
        pair = None
        if slot.quick:
            try:
                return apply_quick(slot, *map(unwrap_dead, args))
            except Unlike as unlike:
                pair = unlike.pair
        return slot.take_apart(args, pair)

    return recorded
