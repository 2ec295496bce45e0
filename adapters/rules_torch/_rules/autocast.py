"""Mixed precision: a pullback runs under the autocast of its forward pass.

torch runs backward passes outside of `torch.autocast`. A pullback that multiplies a
half-precision cotangent by a full-precision residual would fail there, though the
forward pass was fine.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import unflatten
from rules_torch._values.leaves import flatten

__all__ = ["POLICIES", "State", "cast_arguments", "check_policy", "current", "resumed"]

# Device type and dtype of an autocast that is on; None where it is off.
State = tuple[str, Any] | None
POLICIES = ("keep", "promote", "cast")
_NARROW = (torch.float16, torch.bfloat16, torch.float32)


def current(tensors: Sequence[Tensor]) -> State:
    """The autocast that applies to tensors like these."""
    device = tensors[0].device.type if tensors else "cpu"
    if not torch.is_autocast_enabled(device):
        return None
    return device, torch.get_autocast_dtype(device)


def resumed(state: State, device: str) -> AbstractContextManager[Any]:
    """The context in which an earlier state holds again."""
    if state is None:
        return torch.autocast(device, enabled=False)
    return torch.autocast(state[0], dtype=state[1])


def cast_arguments(
    policy: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """The arguments in the dtype that a policy asks for, differentiably."""
    tensors: list[Tensor] = []
    layout = flatten((args, kwargs), tensors)
    state = current(tensors)
    if state is None:
        return args, kwargs
    narrow = [x.dtype for x in tensors if x.dtype in _NARROW]
    widest = torch.float32 if torch.float32 in narrow or len(set(narrow)) > 1 else None
    dtype = state[1] if policy == "cast" else widest
    if dtype is None:
        return args, kwargs
    cast = [x.to(dtype) if x.dtype in _NARROW else x for x in tensors]
    return unflatten(layout, cast)


def check_policy(policy: str) -> str:
    """A policy that there is.

    Raises:
        rc.UnsupportedError: There is no such policy.
    """
    if policy not in POLICIES:
        message = f"to_torch: autocast must be one of {POLICIES}, but got {policy!r}."
        raise rc.UnsupportedError(message)
    return policy
