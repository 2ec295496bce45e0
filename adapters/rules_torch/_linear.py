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

from ._compat import (
    has_saving_hooks,
    lacks_data,
    noting_down_programs,
    older_vmap_active,
    without_wrappers,
)
from ._errors import NotLinearError
from ._meta import is_ragged, pattern
from ._transpose import Sides

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
    """What checks the sides; None where the rule passed for these shapes.

    A checkpoint must save as many tensors when it runs again, so it asks nothing.
    Nothing is asked of nested tensors either, whose ragged sizes are no numbers.
    """
    metas = (*call.inputs, *call.outputs)
    blind = noting_down_programs() or has_saving_hooks() or older_vmap_active()
    if blind or is_ragged(metas):
        return None
    known = call.primitive.__dict__.setdefault(_LINEAR, {})
    key = (rule.kind, tuple(chosen), pattern(metas))
    if known.get(key) is rule:
        return None

    def check(one: Sides, other: Sides, odd: Sides) -> None:
        with torch.no_grad():
            _check_odd(rule, odd)
            if _agree(rule, one, other):
                known[key] = rule

    return check


def _agree(rule: Any, one: Sides, other: Sides) -> bool:
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
    return _is_small(rule, gap.abs() / size)


def _check_odd(rule: Any, pairs: Sides) -> None:
    for y, turned in pairs:
        if turned is None or y.shape != turned.shape or lacks_data(y + turned):
            continue
        size = (y.abs() + turned.abs()).sum()
        _is_small(rule, (y + turned).abs().sum() / size)


def _is_small(rule: Any, share: Tensor) -> bool:
    """Whether a share of the whole tells something; it is NaN where that is zero.

    Raises:
        NotLinearError: It is more than rounding.
    """
    shares = without_wrappers(share)
    limit = _OF_HALVES if shares.dtype in _HALVES else _TOLERANCE
    if bool((shares > limit).any()):
        raise NotLinearError(rule)
    return bool(shares.isfinite().any())


def _terms(pairs: Sides) -> list[Tensor]:
    """The real products of all pairs of numbers."""
    return [(x.conj() * dx).real for x, dx in pairs if dx is not None]
