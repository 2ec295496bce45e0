"""The mechanism that runs a call of a primitive on torch tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import unflatten
from rules_torch._autograd.eager import apply_eager
from rules_torch._autograd.host_shortcut import set_shortcut
from rules_torch._autograd.tensor_shortcut import set_direct
from rules_torch._autograd.transforms import RuleFunction, TransformCall
from rules_torch._export.calls import call_exported, stays_whole
from rules_torch._host.run import run_primal
from rules_torch._rules.autocast import cast_arguments
from rules_torch._rules.lookup import find_rrule, has_frule
from rules_torch._rules.outside_tensors import refuse_in_arguments, refuse_in_body
from rules_torch._rules.read_later import reads_in
from rules_torch._rules.residuals import ResidualCall
from rules_torch._values.leaves import flatten, in_own_memory
from rules_torch._values.older_vmap import run_whole_batch

from ._compat import (
    NO_FUNCTIONALIZE,
    Levels,
    autocast_active,
    forward_mode_active,
    functorch_active,
    is_legacy_batched,
    is_wrapped,
    older_vmap_active,
    tracing_or_transforming,
    unwrap_dead,
)
from ._config import CONFIG
from ._errors import FunctionalizeError, HiddenTensorsError
from ._from_torch import native_of

__all__ = ["dispatch"]

_grad_enabled = torch.is_grad_enabled


def dispatch(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a primitive by the cheapest mechanism that is right here."""
    if primitive.host:
        native = native_of(primitive)
        if native is not None:  # PyTorch knows the derivatives of its own
            return native(*args, **kwargs)
        if primitive.shortcut is None:
            set_shortcut(primitive)
    if (
        autocast_active()
        and primitive.__dict__.get("_autocast_torch", "keep") != "keep"
    ):
        return _cast(primitive, args, kwargs)
    if kwargs or len(args) != primitive.table.arity:
        args, kwargs = primitive.bind(args, kwargs)
    shared: list[Tensor] = []
    tensors, layout = _flatten_call(primitive, args, kwargs, shared)
    if layout is not None:
        args, kwargs = unflatten(layout, tensors)
    elif primitive.shortcut is None:
        set_direct(primitive)
    if older_vmap_active() and True in map(is_legacy_batched, tensors):
        return _batched_before(primitive, tensors, args, kwargs)
    refuse_in_body(primitive, args, kwargs, tensors, _has_rules)
    if tracing_or_transforming():
        if stays_whole(tensors) and _has_rules(primitive, args, kwargs):
            return call_exported(primitive, args, kwargs)
        if functorch_active() or forward_mode_active():
            own = in_own_memory(tensors, shared)
            return _transformed(primitive, args, kwargs, own, layout)
    if not _grad_enabled():
        return run_primal(primitive, args, kwargs)
    wanted = [x.requires_grad for x in tensors]
    if True not in wanted:
        return run_primal(primitive, args, kwargs)
    rule = find_rrule(primitive, args, kwargs)
    if rule is None and not primitive.host and not has_frule(primitive, args, kwargs):
        rc.warn_if_skipped(primitive.fun, args, kwargs, CONFIG)
        return run_primal(primitive, args, kwargs)
    if layout is not None:
        refuse_in_arguments(primitive, layout, tensors)
        tensors = in_own_memory(tensors, shared)
    call = ResidualCall(primitive, layout, rule)
    call.reads = reads_in(primitive, layout, rule, tensors)
    if rule is not None and rule.needs:
        call.needs = call.needs_of(wanted)
    return call.result_of(apply_eager(call, *map(unwrap_dead, tensors)))


def _batched_before(
    primitive: rc.Primitive,
    tensors: Sequence[Tensor],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """A call on tensors of torch's older vmap."""
    layout = flatten((args, kwargs), [])

    def run(*xs: Tensor) -> Any:
        own_args, own_kwargs = unflatten(layout, xs)
        return dispatch(primitive, own_args, own_kwargs)

    return run_whole_batch(primitive.table.label, run, tensors)


def _cast(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A call under autocast, by the policy of `to_torch`; nothing is cast inside."""
    args, kwargs = cast_arguments(primitive.__dict__["_autocast_torch"], args, kwargs)
    with torch.autocast("cpu", enabled=False), torch.autocast("cuda", enabled=False):
        return dispatch(primitive, args, kwargs)


def _has_rules(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    """Whether torch's own derivative of the primal would be another one."""
    if primitive.host or has_frule(primitive, args, kwargs):
        return True
    return find_rrule(primitive, args, kwargs) is not None


def _flatten_call(
    primitive: rc.Primitive,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    shared: list[Tensor],
) -> tuple[Sequence[Tensor], Any]:
    """The tensors of a call and its layout, None where the arguments are tensors.

    Those that share the memory of NumPy arrays are appended to `shared`.
    """
    if not kwargs:
        for x in args:
            if not isinstance(x, Tensor):
                break
        else:
            return args, None
    tensors: list[Tensor] = []
    try:
        layout = flatten((args, kwargs), tensors, shared)
    except HiddenTensorsError as error:
        name = _name_of_hidden(primitive, args, kwargs)
        raise HiddenTensorsError(error.kind, primitive.table.label, name) from None
    return tensors, layout


def _name_of_hidden(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str:
    """The argument that cannot be taken apart."""
    names = (*(primitive.names or ()), *map(str, range(len(args))))
    for name, value in (*zip(names, args, strict=False), *kwargs.items()):
        try:
            flatten(value, [])
        except HiddenTensorsError:
            return name
    return "?"


def _transformed(
    primitive: rc.Primitive,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tensors: Sequence[Tensor],
    layout: Any,
) -> Any:
    """A call under transforms of torch.func or with forward-mode tangents."""
    levels = Levels()
    modes = [levels.tracking(x) for x in tensors]
    reverse, forward = (True in mode for mode in zip(*modes, strict=True))
    if not reverse and not forward:
        return run_primal(primitive, args, kwargs)
    rule, pushes = (
        find_rrule(primitive, args, kwargs),
        has_frule(primitive, args, kwargs),
    )
    if rule is None and not pushes and not primitive.host:
        rc.warn_if_skipped(primitive.fun, args, kwargs, CONFIG)
        return run_primal(primitive, args, kwargs)
    if layout is not None:
        refuse_in_arguments(primitive, layout, tensors)
    call = TransformCall(primitive, layout, rule)
    call.reads = reads_in(primitive, layout, rule, tensors)
    call.reverse, call.pushes = reverse, pushes
    call.forward = max(len(levels.forward), 1) if forward else 0
    call.levels = None if forward and not levels.forward else levels
    call.wrapped = [*map(is_wrapped, tensors)]
    if rule is not None and rule.needs:
        call.needs = call.needs_of([r or f for r, f in modes])
    try:
        return call.result_of(RuleFunction.apply(call, *tensors))
    except RuntimeError as error:
        if NO_FUNCTIONALIZE not in str(error):
            raise
        raise FunctionalizeError(primitive.table.label) from None
