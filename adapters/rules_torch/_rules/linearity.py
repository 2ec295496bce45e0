"""Whether a rule is linear, asked where the other mode is its transpose.

What is transposed is the derivative of the rule's map `A` at some `x`. Where `A` is
linear that is `A` itself, and `⟨A x, y⟩ = ⟨x, Aᵀ y⟩`. Both sides are at hand when the
derivative has been taken. Each entry is asked for `A(-x) = -A(x)` besides, for `y` may
be orthogonal to what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from rules_torch._compat import (
    has_saving_hooks,
    lacks_data,
    noting_down_programs,
    older_vmap_active,
    without_wrappers,
)
from rules_torch._errors import NotLinearError
from rules_torch._native_derivatives import Sides
from rules_torch._values.meta import is_ragged, pattern

__all__ = ["linearity"]

# Under this attribute a primitive keeps the rules that were found linear.
_LINEAR = "_linear_torch"

# What rounding may cost, of the sum of all terms; a rule may solve by iteration.
_TOLERANCE = 1e-4
_OF_HALVES = 0.05
_HALVES = (torch.float16, torch.bfloat16)


def linearity(
    call: Any, rule: Any, chosen: Sequence[int]
) -> Callable[[Sides, Sides, Sides], None] | None:
    """The check of the two sides; None if the rule passed for these shapes.

    A checkpoint must save as many tensors when it runs again, so it asks nothing.
    Nothing is asked of nested tensors either, whose ragged sizes are no numbers, nor of
    empty ones, which tell nothing.
    """
    metas = (*call.inputs, *call.outputs)
    blind = noting_down_programs() or has_saving_hooks() or older_vmap_active()
    if blind or is_ragged(metas) or any(0 in shape for shape, *_ in metas):
        return None
    known = call.primitive.__dict__.setdefault(_LINEAR, {})
    key = (rule.kind, tuple(chosen), call.autocast, pattern(metas))
    if known.get(key) is rule:
        return None

    def check(one: Sides, other: Sides, odd: Sides) -> None:
        sides = [*one], [*other], [*odd]
        limit = _limit(call.autocast is not None, *sides)
        with torch.no_grad():
            _check_odd(rule, sides[2], limit)
            if _agree(rule, sides[0], sides[1], limit):
                known[key] = rule

    return check


def _limit(coarse: bool, *sides: Sides) -> float:
    """The tolerance for rounding in the coarsest precision among these."""
    tensors = [x for pairs in sides for pair in pairs for x in pair if x is not None]
    coarse = coarse or any(x.dtype in _HALVES for x in tensors)
    return _OF_HALVES if coarse else _TOLERANCE


def _agree(rule: Any, one: Sides, other: Sides, limit: float) -> bool:
    """Whether this tells that a rule is linear; of zeros and NaN it tells nothing.

    Raises:
        NotLinearError: It tells that it is not.
    """
    left, right = _terms(one), _terms(other)
    terms = [*left, *right]
    if not terms or any(map(lacks_data, terms)):
        return False
    zero = torch.zeros_like(terms[0].sum())
    size = sum((term.abs().sum() for term in terms), zero)
    gap = (sum((term.sum() for term in left), zero)) - sum(
        (term.sum() for term in right), zero
    )
    return _is_small(rule, gap.abs() / size, limit)


def _check_odd(rule: Any, pairs: Sides, limit: float) -> None:
    for y, turned in pairs:
        if turned is None or y.shape != turned.shape or lacks_data(y + turned):
            continue
        size = (y.abs() + turned.abs()).sum()
        _is_small(rule, (y + turned).abs().sum() / size, limit)


def _is_small(rule: Any, share: Tensor, limit: float) -> bool:
    """Whether a share of the whole tells something; it is NaN where that is zero.

    Raises:
        NotLinearError: It is more than rounding.
    """
    shares = without_wrappers(share)
    if bool((shares > limit).any()):
        raise NotLinearError(rule)
    return bool(shares.isfinite().any())


def _terms(pairs: Sides) -> list[Tensor]:
    """The real products of all pairs of numbers."""
    return [(x.conj() * dx).real for x, dx in pairs if dx is not None]
