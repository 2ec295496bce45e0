"""Tangents and cotangents as rules give them, brought to the space of their primals.

A cotangent may be summed over axes along which its primal was broadcast, for that is
the adjoint of broadcasting. A tangent may not: it has the shape of its primal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_torch._errors import CotangentError, rule_label

from .leaves import differentiable, pair

__all__ = ["check_dtype", "fitted", "given", "read_tangents"]


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


def read_tangents(
    rule: Any, layout: Any, primal: Any, ys: Sequence[Tensor], dy: Any
) -> list[Tensor | None]:
    """The tangent of each tensor of a result; None for integers.

    Raises:
        CotangentError: A tangent does not fit.
    """
    what = "tangent of the result"
    dy = rc.unthunk(dy)
    if isinstance(dy, rc.NotImplementedTangent):
        dy.throw(rule_label(rule))
    rc.refuse_no_tangent(rule, primal, dy, f"the {what}")
    canonical = fitted(rule, what, "the result", primal, dy)
    if layout is None:
        leaves, raw = [canonical], [dy]
    else:
        leaves, raw = list(pair(layout, canonical)), list(given(layout, dy))
    for y, own in zip(ys, raw, strict=True):
        _check(rule, what, y, rc.unthunk(own))
    return [_tangent(rule, y, dx) for y, dx in zip(ys, leaves, strict=True)]


def _check(rule: Any, what: str, y: Tensor, dy: Any) -> None:
    if not isinstance(dy, Tensor) or not differentiable(y):
        return
    if _is_bent(dy, y.shape):
        shapes = f"{tuple(y.shape)}, but got {tuple(dy.shape)}"
        raise CotangentError(rule, what, f"It must have the result's shape {shapes}.")
    check_dtype(rule, what, dy)


def check_dtype(rule: Any, what: str, dx: Any) -> None:
    """Refuse integers, which carry no derivative.

    Raises:
        CotangentError: It is a tensor of integers.
    """
    if isinstance(dx, Tensor) and not differentiable(dx):
        cause = (
            f"It must be floating or complex, but got {dx.dtype}. Return ZeroTangent() "
            "for zeros."
        )
        raise CotangentError(rule, what, cause)


def _is_bent(dx: Any, shape: Sequence[int]) -> bool:
    """Whether more than axes of length one has to change for `dx` to get a shape."""
    if not isinstance(dx, Tensor):
        return False
    return [n for n in dx.shape if n != 1] != [n for n in shape if n != 1]


def given(layout: Any, dy: Any) -> Iterator[Any]:
    """What an author gave for each tensor; None where that is not plain to see."""
    kind = layout[0]
    if kind == "tensor":
        yield dy
    elif kind != "static":
        dy = rc.unthunk(dy)
        pairs = zip(layout[2], layout[3], strict=True)
        for i, (name, child) in enumerate(pairs):
            yield from given(child, _entry(dy, i, name))


def _entry(dy: Any, i: int, name: Any) -> Any:
    if isinstance(dy, rc.StructuralTangent):
        entries = rc.backing(dy)
        return rc.unthunk(entries.get(name, entries.get(i)))
    if isinstance(dy, (tuple, list)):
        return dy[i] if i < len(dy) else None
    if isinstance(dy, dict):
        return dy.get(name)
    return getattr(dy, name, None) if isinstance(name, str) else None


def _tangent(rule: Any, x: Tensor, dx: Any) -> Tensor | None:
    """One tangent of the result: zeros, never None, where a tangent can be."""
    if not differentiable(x):
        return None
    dx = rc.unthunk(dx)
    if isinstance(dx, rc.NotImplementedTangent):
        dx.throw(rule_label(rule))
    if isinstance(dx, rc.AbstractZero) or dx is None:
        return torch.zeros_like(x)
    return torch.as_tensor(dx, dtype=x.dtype, device=x.device)
