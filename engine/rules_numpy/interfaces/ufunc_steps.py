"""One ufunc applied entry by entry: f(… f(f(start, a₀), a₁) …, aₙ₋₁).

The derivative is computed step by step, by the partials of the ufunc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.arguments import name_of
from rules_numpy._declare.axes import given, tail, untail
from rules_numpy._declare.derivative import DECLARED

__all__ = ["ahead", "back", "folded", "partials_of", "steps_of"]


def partials_of(ufunc: Any, method: str) -> Any:
    """The partials of an elementwise function of two numbers."""
    entry = DECLARED.get(ufunc)
    if entry is None or entry[1] != (0, 1) or ufunc.nout != 1 or ufunc.signature:
        message = (
            f"the derivative of numpy.ufunc.{method} must be taken for an elementwise "
            f"function of two arguments that has a rule, but got {name_of(ufunc)}. "
            "Write the loop out."
        )
        raise rc.UnsupportedError(message)
    return entry[0]


def steps_of(
    ufunc: Any, method: str, before: Any, entries: Any, after: Any
) -> list[Any]:
    """Partials of yᵢ = f(yᵢ₋₁, aᵢ) in both arguments, one pair per step."""
    partials = partials_of(ufunc, method)
    triples = zip(before, entries, after, strict=True)
    return [tuple(map(_number, partials(y, y0, x))) for y0, x, y in triples]


def _number(partial: Any) -> Any:
    return 0.0 if isinstance(partial, rc.AbstractTangent) else partial


def ahead(start: Any, entries: Any, steps: list[Any]) -> list[Any]:
    """Tangents of all results."""
    rows = [start]
    for dx, (of_y, of_a) in zip(entries, steps, strict=True):
        rows.append(of_y * rows[-1] + of_a * dx)
    return rows


def back(seeds: list[Any], steps: list[Any]) -> tuple[Any, list[Any]]:
    """Cotangents of the start and of the entries, from those of all results."""
    cotangents: list[Any] = []
    dy = seeds[-1]
    for seed, (of_y, of_a) in zip(seeds[-2::-1], reversed(steps), strict=True):
        cotangents.append(np.conjugate(of_a) * dy)
        dy = np.conjugate(of_y) * dy + seed
    return dy, cotangents[::-1]


@dataclass(frozen=True)
class _Fold:
    """A reduction, with the reduced axes merged and moved to the front.

    Attributes:
        start: The initial value of the first step.
        entries: The entries of the steps, without the first if that is the start.
        steps: The partials.
    """

    start: Any
    entries: Any
    steps: Any


def folded(
    y: Any, ufunc: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    """The derivative of a reduction, in the array and in the initial value."""
    partials_of(ufunc, "reduce")
    x = np.moveaxis(tail(a, axis), -1, 0)
    used = np.broadcast_to(where if given(where) else True, a.shape)
    fold = _fold(ufunc, x, np.moveaxis(tail(used, axis), -1, 0), initial, y)
    lead = len(x) - len(fold.entries)

    def run(start: Any, entries: Any) -> Any:
        return np.reshape(ahead(start, entries, fold.steps)[-1], np.shape(y))

    def run_back(dy: Any) -> Any:
        seed = np.reshape(dy, fold.start.shape)
        return back([*[np.zeros_like(seed)] * len(fold.steps), seed], fold.steps)

    def folded_pushforward(da: Any) -> Any:
        d = np.moveaxis(tail(da, axis), -1, 0)
        return run(d[0] if lead else np.zeros_like(fold.start), d[lead:])

    def folded_pullback(dy: Any) -> Any:
        first, rest = run_back(dy)
        rows = [first, *rest] if lead else rest
        if not rows:
            return np.zeros_like(a)
        return untail(np.moveaxis(np.stack(rows), 0, -1), a, axis)

    def start_pushforward(dx: Any) -> Any:
        return run(np.broadcast_to(dx, fold.start.shape), np.zeros_like(fold.entries))

    def start_pullback(dy: Any) -> Any:
        return np.sum(run_back(dy)[0])

    first = (start_pushforward, start_pullback) if given(initial) else None
    return (folded_pushforward, folded_pullback), first


def _fold(ufunc: Any, x: Any, used: Any, initial: Any, y: Any) -> _Fold:
    """Start at the initial value, or the first entry, or 0."""
    if given(initial):
        start, lead = np.broadcast_to(initial, x.shape[1:]), 0
    elif len(x) and np.all(used):
        start, lead = x[0], 1
    else:
        start, lead = np.broadcast_to(ufunc.identity, x.shape[1:]), 0
    results = [start]
    for entry, on in zip(x[lead:], used[lead:], strict=True):
        results.append(np.where(on, ufunc(results[-1], entry), results[-1]))
    _check_value(ufunc, results[-1], y)
    steps = steps_of(ufunc, "reduce", results[:-1], x[lead:], results[1:])
    masked = [
        (np.where(on, of_y, 1.0), np.where(on, of_a, 0.0))
        for on, (of_y, of_a) in zip(used[lead:], steps, strict=True)
    ]
    return _Fold(start, x[lead:], masked)


def _check_value(ufunc: Any, ours: Any, y: Any) -> None:
    """NumPy's vector code for AVX-512 reduces by `power` and `arctan2` wrongly."""
    close = np.sqrt(np.finfo(np.asarray(y).dtype).eps)
    theirs = np.reshape(y, np.shape(ours))
    if not np.allclose(ours, theirs, rtol=close, atol=0.0, equal_nan=True):
        message = (
            f"the derivative of numpy.ufunc.reduce must be taken of what "
            f"{name_of(ufunc)} gives entry after entry, but got another value: NumPy "
            "is wrong there on some processors. Use the last entry of "
            f"{name_of(ufunc)}.accumulate, or write the loop out."
        )
        raise rc.UnsupportedError(message)
