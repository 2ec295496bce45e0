"""Derivatives of plain torch functions, by whichever of torch's ways works here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from ._compat import (
    NESTED_FORWARD,
    functorch_active,
    with_tangent_of,
    without_saving_hooks,
)

__all__ = ["Sides", "pull_back", "push_forward", "transpose"]

Outputs = tuple[Tensor, ...]
Cotangents = Sequence[Tensor | None]
# Vectors, and the cotangent of each.
Sides = Iterable[tuple[Tensor, Tensor | None]]

# Irrational numbers, whose multiples have no pattern.
_GOLDEN, _PLASTIC = 0.6180339887498949, 0.7548776662466927


def pull_back(
    fn: Callable[..., Outputs],
    primals: Sequence[Tensor],
    cotangents: Cotangents | Callable[[Outputs], Cotangents],
) -> list[Tensor | None]:
    """`J(primals)* cotangents` of a function to a tuple of tensors; differentiable.

    The cotangents may be a function of the outputs.
    """
    if functorch_active():
        return _pull_back_functorch(fn, primals, cotangents)
    create = torch.is_grad_enabled()
    with torch.enable_grad():
        inputs = [_fresh(x, create) for x in primals]
        own = zip(inputs, primals, strict=True)
        outputs = fn(*[with_tangent_of(x, primal) for x, primal in own])
        given = cotangents(outputs) if callable(cotangents) else cotangents
        pairs = [
            (y, dy)
            for y, dy in zip(outputs, given, strict=True)
            if dy is not None and y.requires_grad
        ]
        if not pairs:
            return [None] * len(inputs)
        ys, dys = zip(*pairs, strict=True)
        found = torch.autograd.grad(
            ys, inputs, dys, create_graph=create, allow_unused=True
        )
    return list(found)


def _fresh(x: Tensor, create: bool) -> Tensor:
    """`x` as a variable of its own, joined to its history where that is wanted.

    Without its history it has lost its tangent of forward mode too.
    """
    if create and x.requires_grad:
        return x.view_as(x)
    return x.detach().requires_grad_()


def _pull_back_functorch(
    fn: Callable[..., Outputs],
    primals: Sequence[Tensor],
    cotangents: Cotangents | Callable[[Outputs], Cotangents],
) -> list[Tensor | None]:
    with without_saving_hooks():
        outputs, back = torch.func.vjp(fn, *primals)
        given = cotangents(outputs) if callable(cotangents) else cotangents
        pairs = zip(outputs, given, strict=True)
        seeds = tuple(torch.zeros_like(y) if dy is None else dy for y, dy in pairs)
        return list(back(seeds))


def push_forward(
    fn: Callable[..., Outputs], primals: Sequence[Tensor], tangents: Sequence[Tensor]
) -> tuple[Outputs, Outputs]:
    """`fn(primals)` and `J(primals) tangents`, for tuples of tensors; differentiable.

    Where torch refuses a second forward-mode level, the reverse mode is transposed.
    """
    try:
        # A tangent gets the strides of its primal and is written to: no expanded views.
        own = (tuple(x.clone() for x in xs) for xs in (primals, tangents))
        return torch.func.jvp(fn, *own)
    except RuntimeError as error:
        if NESTED_FORWARD not in str(error):
            raise
        return _push_by_reverse(fn, primals, tangents)


def _push_by_reverse(
    fn: Callable[..., Outputs], primals: Sequence[Tensor], tangents: Sequence[Tensor]
) -> tuple[Outputs, Outputs]:
    with without_saving_hooks():
        outputs, back = torch.func.vjp(fn, *primals)

        def back_flat(*seeds: Tensor) -> Outputs:
            return back(seeds)

        seeds = tuple(torch.ones_like(y) for y in outputs)
        _, forth = torch.func.vjp(back_flat, *seeds)
        return outputs, forth(tuple(tangents))


def transpose(
    linear: Callable[..., Outputs],
    points: Sequence[Tensor],
    cotangents: Sequence[Tensor | None],
    check: Callable[[Sides, Sides, Sides], None] | None = None,
) -> list[Tensor | None]:
    """The adjoint of a linear function; `points` give the shapes of its arguments.

    It is differentiated at ones rather than at zeros, where a rule that treats a zero
    tangent apart would show another formula; where that is checked, at numbers without
    a pattern, for which no terms cancel.

    Args:
        linear: The function.
        points: Tensors like its arguments.
        cotangents: Of its results.
        check: Gets arguments and results, each with its cotangent, and results with
            those of the opposite arguments.
    """
    ones = [torch.ones_like(x, requires_grad=False) for x in points]
    if check is None:
        return pull_back(linear, ones, cotangents)
    at = [_generic(one, i) for i, one in enumerate(ones)]
    seen: list[Outputs] = []

    def given(outputs: Outputs) -> Cotangents:
        seen.append(outputs)
        return cotangents

    found = pull_back(linear, at, given)
    (ys,) = seen
    turned = linear(*[-x for x in at])
    check(
        zip(at, found, strict=True),
        zip(ys, cotangents, strict=True),
        zip(ys, turned, strict=True),
    )
    return found


def _generic(one: Tensor, i: int) -> Tensor:
    """Numbers between 0.5 and 1.5 like the ones of the i-th argument."""
    places = torch.arange(one.numel(), dtype=torch.float64, device=one.device)
    shares = (places * _GOLDEN + i * _PLASTIC) % 1.0
    return one * (0.5 + shares).reshape(one.shape).to(one.dtype)
