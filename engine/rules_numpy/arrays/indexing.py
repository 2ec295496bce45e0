"""Reading entries by index, and selecting between arrays by conditions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.arguments import array_of, moves, restore
from rules_numpy._declare.declaration import Declaration
from rules_numpy._declare.derivative import derivative

__all__ = ["put_zeros"]


@rc.primitive(host=True)
def put_zeros(values: Any, key: Any, shape: tuple[int, ...]) -> Any:
    """Zeros of a shape with `values` added at `[key]`, repeated ones too.

    The adjoint of `x[key]`.
    """
    values = np.asarray(values)
    total = np.zeros(shape, values.dtype)
    if _is_basic(key):
        total[key] = values
    else:
        np.add.at(total, key, values)
    return total


def _is_basic(key: Any) -> bool:
    """Whether an index uses every entry at most once, as a view."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(
        part is None or part is Ellipsis or isinstance(part, (int, slice, np.integer))
        for part in parts
    )


@rc.shape_rule.define(put_zeros)
def put_zeros_shape(values: Any, key: Any, shape: Any) -> Any:
    """The requested shape."""
    return rc.ShapeDtype(tuple(shape), values.dtype)


@rc.batch_rule.define(put_zeros)
def put_zeros_batch(
    axis_size: int, in_batched: Any, values: Any, key: Any, shape: Any
) -> Any:
    """One by one, at the only key."""
    return np.stack([put_zeros.fun(value, key, shape) for value in values]), True


@derivative(put_zeros)
def put_zeros_derivative(y: Any, values: Any, key: Any, shape: Any) -> Any:
    """Linear in the values."""

    def put_zeros_pushforward(dvalues: Any) -> Any:
        return put_zeros(dvalues, key, shape)

    def put_zeros_pullback(dy: Any) -> Any:
        return dy[key]

    return put_zeros_pushforward, put_zeros_pullback


def getitem_derivative(y: Any, a: Any, key: Any) -> Any:
    """Read the tangent at this key; the adjoint adds the cotangent there."""

    def getitem_pushforward(da: Any) -> Any:
        return da[key]

    def getitem_pullback(dy: Any) -> Any:
        return put_zeros(dy, key, a.shape)

    return getitem_pushforward, getitem_pullback


for _method in (np.ndarray.__getitem__,):
    derivative(_method)(getitem_derivative)
Declaration(
    operator.getitem, getitem_derivative, (0,), bare=True, arrays=True
).register_for((np.ndarray, object))


def _where(condition: Any, *arrays: Any) -> Any:
    """With the defaults in its signature, `np.where` selects between Nones."""
    return np.where(condition, *(x for x in arrays if x is not None))


@derivative(np.where, argnums=(0, 1, 2), call=_where, linear=True)
def where_derivative(y: Any, condition: Any, x: Any = None, other: Any = None) -> Any:
    """The cotangent of each array consists of the entries selected from it."""
    if x is None:
        return None, None, None
    chosen = condition if condition.dtype == bool else condition != 0

    def first_of(d: Any) -> Any:
        return np.where(chosen, d, np.zeros_like(d))

    def second_of(d: Any) -> Any:
        return np.where(chosen, np.zeros_like(d), d)

    return None, (first_of, first_of), (second_of, second_of)


def _list_maps(masks: Any, arrays: Any, plain: Any) -> Any:
    """The result is the k-th array where the k-th mask is true."""

    def choice_pushforward(tangents: Any) -> Any:
        terms = [
            np.where(mask, dx, np.zeros_like(dx))
            for mask, dx in zip(masks, tangents, strict=True)
            if not isinstance(dx, rc.AbstractZero)
        ]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    def choice_pullback(dy: Any) -> Any:
        pieces: list[Any] = [
            rc.ProjectTo(x)(np.where(mask, dy, np.zeros_like(dy))) if moves(x) else None
            for mask, x in zip(masks, plain, strict=True)
        ]
        if isinstance(arrays, np.ndarray):
            return restore(arrays, np.stack(pieces))
        cotangents = [
            restore(x, piece) if moves(x) else rc.NoTangent()
            for x, piece in zip(arrays, pieces, strict=True)
        ]
        return rc.Tangent(type(arrays), *cotangents)

    return choice_pushforward, choice_pullback


@derivative(np.select, argnums=(1, 2), arrays=False)
def select_derivative(y: Any, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """The first true condition selects the array of an entry."""
    covered = np.zeros(np.shape(y), bool)
    masks = []
    for condition in condlist:
        masks.append(condition & ~covered)
        covered = covered | condition
    plain = [array_of(x, np.select) for x in choicelist]
    mask = ~covered

    def default_pushforward(dx: Any) -> Any:
        return np.where(mask, dx, np.zeros_like(dx))

    def default_pullback(dy: Any) -> Any:
        own = array_of(default, np.select)
        return restore(
            default, rc.ProjectTo(own)(np.where(mask, dy, np.zeros_like(dy)))
        )

    maps = _list_maps(masks, choicelist, plain)
    return maps, (default_pushforward, default_pullback)


@derivative(np.choose, argnums=1, arrays=False)
def choose_derivative(
    y: Any, a: Any, choices: Any, out: Any = None, mode: Any = "raise"
) -> Any:
    """The index selects the array of an entry."""
    count = len(choices)
    index = np.asarray(a)
    if mode == "wrap":
        index = np.mod(index, count)
    elif mode == "clip":
        index = np.clip(index, 0, count - 1)
    plain = [array_of(x, np.choose) for x in choices]
    return _list_maps([index == k for k in range(count)], choices, plain)
