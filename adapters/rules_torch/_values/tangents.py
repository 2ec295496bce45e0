"""Tangents and cotangents as rules give them, brought to the space of their primals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import (
    LEAF,
    leaf_paths,
    read_tangent,
    same_without_ones,
    whole_numbers,
)
from rules_torch._errors import CotangentError

from .leaves import differentiable

__all__ = ["check_dtype", "fitted", "leaves_of", "read_tangents"]


def fitted(rule: Any, what: str, name: str, primal: Any, dx: Any) -> Any:
    """A tangent in canonical form, projected on its primal.

    Raises:
        CotangentError: It does not fit.
    """
    try:
        (canonical,) = rc.normalise((primal,), (dx,), (name,))
    except (TypeError, ValueError) as error:
        raise CotangentError(rule, what, error) from error
    return canonical


def leaves_of(
    rule: Any, what: str, name: str, layout: Any, dx: Any, wanted: Sequence[bool]
) -> list[Any]:
    """A tangent for each tensor as its author gave it; None if zero or not wanted.

    Raises:
        CotangentError: The structure does not fit.
    """
    the = f"the {what}"
    try:
        return read_tangent(layout, dx, wanted, name, rule=rule, what=the, lazy=True)
    except rc.ProjectionError as error:
        raise CotangentError(rule, what, error) from error


def read_tangents(
    rule: Any, layout: Any, ys: Sequence[Tensor], dy: Any
) -> list[Tensor | None]:
    """The tangent of each tensor of a result; None for integers.

    Raises:
        CotangentError: A tangent does not fit.
    """
    what, name = "tangent of the result", "the result"
    layout = LEAF if layout is None else layout
    wanted = [differentiable(y) for y in ys]
    found = leaves_of(rule, what, name, layout, dy, wanted)
    places = zip(ys, wanted, found, leaf_paths(layout, name), strict=True)
    return [
        _tangent(rule, what, path, y, dx) if smooth else None
        for y, smooth, dx, path in places
    ]


def _tangent(rule: Any, what: str, path: str, y: Tensor, dy: Any) -> Tensor:
    """One tangent of the result: zeros, never None."""
    dy = rc.unthunk(dy)
    if isinstance(dy, rc.NotImplementedTangent):
        dy.throw(rule.label)
    if dy is None or isinstance(dy, rc.AbstractZero):
        return torch.zeros_like(y)
    check_dtype(rule, what, dy)
    canonical = fitted(rule, what, path, y, dy)
    if isinstance(dy, Tensor) and not same_without_ones(dy.shape, y.shape):
        shapes = f"{tuple(y.shape)}, but got {tuple(dy.shape)}"
        cause = f"It must have the result's shape {shapes}."
        raise CotangentError(rule, what, cause)
    return torch.as_tensor(canonical, dtype=y.dtype, device=y.device)


def check_dtype(rule: Any, what: str, dx: Any) -> None:
    """Refuse integers, which carry no derivative.

    Raises:
        CotangentError: It is a tensor or array of integers, or a truth value.
    """
    is_whole = isinstance(dx, Tensor) and not differentiable(dx)
    dtype = dx.dtype if is_whole else whole_numbers(1.0, dx)
    if dtype is not None:
        cause = (
            f"It must be floating or complex, but got {dtype}. Convert it in the rule, "
            "or return ZeroTangent() for zeros."
        )
        raise CotangentError(rule, what, cause)
