"""NumPy's functions of symbols: the shortest text of each call."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np

from .symbols import (
    TEXTS,
    Length,
    NotTraced,
    Shape,
    Symbol,
    is_one,
    is_same,
    text,
    text_of,
)

__all__: list[str] = []


@text(np.shape)
def shape_of(x: Symbol) -> Shape:
    return x.shape


@text(np.conjugate)
def itself(x: Symbol) -> Symbol:
    return x


@text(np.ravel)
def ravel(x: Symbol) -> Symbol:
    return x if x.ndim == 1 else reshape(x, -1)


@text(np.roll)
def roll(x: Symbol, shift: Symbol, axis: Any = None) -> Symbol:
    return Symbol(f"np_roll({x.text}, {shift.text}, {axis!r})", x.shape)


@text(np.copy, np.ascontiguousarray)
def copied(x: Symbol, *_options: Any, **_kw: Any) -> Symbol:
    return Symbol(f"{x.bracketed}.copy()", x.shape)


@text(np.negative)
def negative(x: Any) -> Any:
    return Symbol(f"-{x.bracketed}", x.shape, tight=False)


@text(np.multiply)
def multiply(x: Any, y: Any) -> Symbol:
    """A product; that of a column and a row is one of matrices, which is quicker."""
    both = isinstance(x, Symbol) and isinstance(y, Symbol)
    if both and x.ndim == 2 and is_one(x.shape[1]) and all(map(is_one, y.shape[:-1])):
        row = y.text if y.ndim == 2 else f"{y.bracketed}[None]"
        return Symbol(f"{x.bracketed}.dot({row})", (x.shape[0], y.shape[-1]))
    return elementwise("*", x, y)


@text(np.divide)
def divide(x: Any, y: Any) -> Symbol:
    return elementwise("/", x, y)


def elementwise(sign: str, x: Any, y: Any) -> Symbol:
    one, other = [
        v.bracketed if isinstance(v, Symbol) else f"({text_of(v)})" for v in (x, y)
    ]
    shape = broadcast_shape(*[v.shape for v in (x, y) if isinstance(v, Symbol)])
    return Symbol(f"{one} {sign} {other}", shape, tight=False)


def broadcast_shape(*shapes: Any) -> tuple[Any, ...]:
    """The shape of a result, for operands that fit."""
    columns = zip_longest(*[shape[::-1] for shape in shapes], fillvalue=1)
    return tuple(map(one_length, columns))[::-1]


def one_length(lengths: tuple[Any, ...]) -> Any:
    """The length of lengths that fit; of two texts each may be one."""
    texts = dict.fromkeys([text_of(n) for n in lengths if not is_one(n)])
    return Length(" or ".join(texts)) if texts else 1


@text(np.reshape)
def reshape(x: Any, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    """Reshaped; where axes of length one are added alone, by an index."""
    if order != "C" or copy is not None:
        raise NotTraced
    if shape == -1:
        return Symbol(f"{x.bracketed}.reshape(-1)", (Length("-1"),))
    if is_same(x.shape, shape):
        return x
    if not x.ndim:  # a number, which is broadcast as it is
        return Symbol(x.text, shape, tight=x.tight)
    if x.unit:  # a part of an array, in the form of the entry that it belongs to
        return x if x.ndim == len(shape) else Symbol(x.unit, shape)
    if is_same(x.shape, [n for n in shape if not is_one(n)]):
        key = ", ".join("None" if is_one(n) else ":" for n in shape)
        return Symbol(f"{x.bracketed}[{key}]", shape)
    whole = shape.text if isinstance(shape, Shape) else ""
    return Symbol(f"{x.bracketed}.reshape({text_of(shape)})", shape, whole=whole)


@text(np.broadcast_to)
def broadcast_to(x: Symbol, shape: Any) -> Symbol:
    return Symbol(f"spread({x.text}, {text_of(shape)})", shape)


@text(np.expand_dims)
def expand_dims(x: Symbol, axis: int) -> Symbol:
    place = axis % (x.ndim + 1)
    shape = (*x.shape[:place], 1, *x.shape[place:])
    if not x.ndim:  # a number, which is broadcast as it is
        return Symbol(x.text, shape, tight=x.tight)
    key = ", ".join([":"] * place + ["None"] + [":"] * (x.ndim - place))
    vector = x if place == x.ndim else None
    return Symbol(f"{x.bracketed}[{key}]", shape, vector=vector)


@text(np.squeeze)
def squeeze(x: Symbol, axis: Any) -> Symbol:
    axes = {a % x.ndim for a in (axis if type(axis) is tuple else (axis,))}
    kept = tuple([n for i, n in enumerate(x.shape) if i not in axes])
    return Symbol("", kept)


# choices


@text(np.not_equal)
def not_equal(x: Symbol, y: Any) -> Symbol:
    return Symbol(f"{x.bracketed} != {y}", x.shape, tight=False)


@text(np.zeros_like)
def zeros_like(_x: Symbol) -> float:
    return 0.0


@text(np.where)
def where(mask: Symbol, x: Any, y: Any) -> Symbol:
    shape = broadcast_shape(*[v.shape for v in (mask, x, y) if isinstance(v, Symbol)])
    one, other = (v.text if isinstance(v, Symbol) else repr(v) for v in (x, y))
    return Symbol(f"np_where({mask.text}, {one}, {other})", shape)


# axes in another order


@text(np.transpose)
def transpose(x: Symbol, axes: Any = None) -> Symbol:
    order = tuple(range(x.ndim))[::-1] if axes is None else axes
    return permuted(x, tuple([int(a) % x.ndim for a in order]))


@text(np.swapaxes)
def swapaxes(x: Symbol, one: int, other: int) -> Symbol:
    order = [*range(x.ndim)]
    order[one], order[other] = order[other], order[one]
    return permuted(x, tuple(order))


@text(np.moveaxis)
def moveaxis(x: Symbol, source: int, destination: int) -> Symbol:
    order = [axis for axis in range(x.ndim) if axis != source % x.ndim]
    order.insert(destination % x.ndim, source % x.ndim)
    return permuted(x, tuple(order))


def permuted(x: Symbol, order: tuple[int, ...]) -> Symbol:
    """The shortest text of a permutation of axes."""
    shape, plain = tuple([x.shape[axis] for axis in order]), tuple(range(x.ndim))
    moved = [axis for axis in plain if order[axis] != axis]
    if not moved:
        return x
    if order == plain[::-1]:
        return Symbol(f"{x.bracketed}.T", shape)
    if len(moved) == 2:
        return Symbol(f"{x.bracketed}.swapaxes({moved[0]}, {moved[1]})", shape)
    return Symbol(f"{x.bracketed}.transpose({', '.join(map(str, order))})", shape)


@text(np.flip)
def flip(x: Symbol, axis: Any = None) -> Any:
    axes = range(x.ndim) if axis is None else axis if type(axis) is tuple else (axis,)
    reversed_axes = {a % x.ndim for a in axes}
    keys = ["::-1" if i in reversed_axes else ":" for i in range(x.ndim)]
    return Symbol(f"{x.bracketed}[{', '.join(keys)}]", x.shape)


@text(np.fliplr)
def fliplr(x: Symbol) -> Any:
    return flip(x, 1)


@text(np.flipud)
def flipud(x: Symbol) -> Any:
    return flip(x, 0)


@text(np.tril)
def tril(x: Symbol, k: int = 0) -> Symbol:
    return Symbol(f"np_tril({x.text}, {k})", x.shape)


@text(np.triu)
def triu(x: Symbol, k: int = 0) -> Symbol:
    return Symbol(f"np_triu({x.text}, {k})", x.shape)


# sums and products


@text(np.sum)
def total(x: Symbol, axis: Any = None, keepdims: Any = False) -> Symbol:
    axes = range(x.ndim) if axis is None else axis if type(axis) is tuple else (axis,)
    own = tuple([a % x.ndim for a in axes])
    kept = [
        1 if i in own else n for i, n in enumerate(x.shape) if keepdims or i not in own
    ]
    return Symbol(f"np_add_reduce({x.text}, {own!r})", tuple(kept))


TEXTS[np.mean] = total


@text(np.cumsum)
def cumsum(x: Symbol, axis: Any = None) -> Symbol:
    shape = x.shape if axis is not None or x.ndim == 1 else (Length("-1"),)
    return Symbol(f"{x.bracketed}.cumsum({'' if axis is None else axis})", shape)


@text(np.outer)
def outer(x: Symbol, y: Symbol) -> Any:
    return Symbol(
        f"{x.bracketed}[:, None].dot({y.bracketed}[None])", (*x.shape, *y.shape)
    )


@text(np.inner)
def inner(x: Symbol, y: Symbol) -> Any:
    return matmul(x, y if y.ndim == 1 else transpose(y))


@text(np.matmul, np.dot)
def matmul(x: Symbol, y: Symbol) -> Symbol:
    """A product of vectors and matrices, in the order that is quickest."""
    if max(x.ndim, y.ndim) > 2:
        return product_of_stacks(x, y)
    shape = (*x.shape[:-1], *(y.shape[-1:] if y.ndim == 2 else ()))
    if y.ndim == 2 and y.vector is not None:
        vector = Symbol(f"{x.bracketed}.dot({y.vector.text})", x.shape[:-1])
        return Symbol(f"{x.bracketed} @ {y.bracketed}", shape, vector=vector)
    if x.ndim == y.ndim == 2:
        by = f"from_left({y.text}, {x.text})"
        return Symbol(
            by if x.text.endswith(".T") else f"times({x.text}, {y.text})", shape
        )
    return Symbol(f"{x.bracketed}.dot({y.text})", shape)


def product_of_stacks(x: Symbol, y: Symbol) -> Symbol:
    """A product of stacks of matrices; a cotangent that repeats entries is copied."""
    one, other = [
        f"dense({v.text})" if v.text == "{dz}" else v.bracketed for v in (x, y)
    ]
    if y.ndim == 1:
        return Symbol(f"{one} @ {other}", x.shape[:-1])
    if x.ndim == 1:
        return Symbol(f"{one} @ {other}", (*y.shape[:-2], y.shape[-1]))
    lead = broadcast_shape(x.shape[:-2], y.shape[:-2])
    shape = (*lead, x.shape[-2], y.shape[-1])
    if y.vector is None:
        return Symbol(f"{one} @ {other}", shape)
    made = Symbol(f"({one} @ {other})[..., 0]", shape[:-1])
    return Symbol("", shape, vector=made)


@text(np.atleast_1d)
def atleast_1d(x: Symbol) -> Symbol:
    return x if x.ndim else Symbol("", (1,))


@text(np.atleast_2d)
def atleast_2d(x: Symbol) -> Symbol:
    return Symbol("", (1,) * (2 - x.ndim) + tuple(x.shape))


@text(np.linalg.solve)
def solve(a: Symbol, b: Symbol) -> Symbol:
    """A solution; of one column by a vector."""
    if b.vector is None:
        return Symbol(f"np_solve({a.text}, {b.text})", b.shape)
    vector = Symbol(f"np_solve({a.text}, {b.vector.text})", b.vector.shape)
    return Symbol("", b.shape, vector=vector)


@text(np.linalg.inv)
def inv(a: Symbol) -> Symbol:
    return Symbol(f"np_inv({a.text})", a.shape)
