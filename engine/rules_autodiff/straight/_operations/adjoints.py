"""Cotangents by the adjoints of the NumPy pack, as texts of generated code.

The pack writes the adjoint of `numpy.swapaxes` as `np.swapaxes(dy, axis1, axis2)`. Here
it is run on symbols, which stand for arrays with a known number of axes: its branches
are decided when code is written, and the calls of NumPy that are left are the text.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Self

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from rules_autodiff.straight._program.kinds import BOOL, Kind
from rules_autodiff.straight._program.refused import Refused
from rules_autodiff.straight._program.written import Taken

__all__ = ["number", "parts_by_adjoint", "pulls_by_adjoint"]


class NotTraced(Refused):
    """An adjoint calls a function that has no text here."""

    def __init__(self) -> None:
        super().__init__("an adjoint of the pack is not written out")


def pulls_by_adjoint(
    f: Any, kinds: tuple[Kind, ...], *options: Any, **keywords: Any
) -> tuple[Any, ...]:
    """The cotangents of the operands of a call; None where there is none.

    Args:
        f: A function that the pack declares by its derivative and the adjoint.
        kinds: The kinds of its operands, arrays of float64.
        options: Its other arguments, which are constants.
        keywords: Its keyword arguments, which are constants.

    Raises:
        NotTraced: The adjoint calls a function that has no text here.
    """
    # The pack is imported where code is first generated, which needs it anyway.
    from rules_numpy._declare.derivative import DECLARED

    maps = DECLARED[f][0]
    operands = [operand(i, kind.ndim) for i, kind in enumerate(kinds)]
    for x, kind in zip(operands, kinds, strict=True):
        x.mask = kind is BOOL or kind.dtype == "?"
    if f in SUMMED and (f is not np.vdot or all(x.ndim == 1 for x in operands)):
        share_lengths(operands, SUMMED[f])
    y = result_of(f, operands, options, keywords)
    pairs = maps(y, *operands, *options, **keywords)
    pairs = (pairs,) if callable(pairs[0]) else pairs
    dy = Symbol("{dz}", y.shape)
    made = [pair and pair[1](dy) for pair in pairs[: len(operands)]]
    return tuple(map(unbroadcast, made, operands))


def unbroadcast(made: Symbol | None, own: Symbol) -> Any:
    """The text of a cotangent, summed where the operand was broadcast."""
    if made is None:
        return None
    if is_same(made.shape, own.shape):
        return Taken(made.text)
    if not own.ndim:
        return Taken(f"summed({made.text})")
    return Taken(f"fit({made.text}, {text_of(own.shape)})")


def parts_by_adjoint(
    f: Any, kinds: tuple[Kind, ...], ndim: int, *options: Any, rows: Any = ()
) -> tuple[str | None, ...]:
    """The cotangents of arrays and numbers that a function joins.

    Args:
        f: The function, of a list of arrays.
        kinds: The kinds of the entries of the list.
        ndim: The number of axes of the result.
        options: Its other arguments, which are constants.
        rows: The entries, of which those that are rows have a known length.
    """
    from rules_numpy._declare.derivative import DECLARED

    entries = [operand(i, kind.ndim) for i, kind in enumerate(kinds)]
    for i, kind in enumerate(kinds):
        if kind.name == "row":
            entries[i] = Symbol("", (len(rows[i]),))
    parts = inspect.unwrap(DECLARED[f][0])
    pieces = parts(Symbol("{dz}", (Length(""),) * ndim), entries, *options)
    texts = zip(kinds, pieces, strict=True)
    return tuple([Taken(piece.text) if k.is_real else None for k, piece in texts])


def operand(place: int, ndim: int) -> Symbol:
    lengths = [Length(f"{{s{place}}}[{axis}]") for axis in range(ndim)]
    return Symbol(f"{{{place}}}", tuple(lengths), whole=f"{{s{place}}}")


def number(place: int) -> Symbol:
    """An operand that is a number, as an option of `pulls_by_adjoint`."""
    return Symbol(f"{{{place}}}", ())


# Functions that sum over the last axis of the first operand, and this of the second.
SUMMED = {np.matmul: -2, np.dot: -2, np.linalg.solve: -2, np.vdot: -1, np.inner: -1}


def share_lengths(operands: list[Symbol], axis: int) -> None:
    """Let the axes of two operands that are summed have one length."""
    x, y = operands
    lengths = list(y.shape)
    lengths[max(axis, -y.ndim)] = x.shape[-1]
    y.shape = Shape(lengths, y.shape.text)


def result_of(f: Any, operands: list[Symbol], options: Any, keywords: Any) -> Symbol:
    """The value, of which only the number of axes is needed."""
    made = TEXTS[f](*operands, *options, **keywords) if f in TEXTS else operands[0]
    return Symbol("{z}", made.shape)


@dataclass(frozen=True, eq=False)
class Length:
    """The length of an axis, by its text."""

    text: str

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Length) and self.text == other.text:
            return True
        raise NotTraced  # it is not known before the program runs

    __hash__ = None  # type: ignore[assignment]

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Length):
            return Length(f"{self.text} * {other.text}")
        return self if other == 1 else NotImplemented

    __rmul__ = __mul__

    def __radd__(self, other: int) -> Length:
        return Length(f"{other} + {self.text}") if other else self

    def __add__(self, other: int | Length) -> Length:
        return Length(f"{self.text} + {text_of(other)}")


class Symbol(NDArrayOperatorsMixin):
    """An array of float64, or a number, that generated code will have.

    Attributes:
        text: Its text.
        shape: The lengths of its axes: `Length`, or 1.
        tight: Whether the text needs no brackets in an operation.
        whole: The text of its shape, if it is that of an operand.
        vector: Of a column that is a product with one, that product.
        unit: Of a part, its text without axes of length one.
        mask: Whether its entries are booleans.
    """

    def __init__(
        self,
        text: str,
        shape: tuple[Any, ...],
        *,
        tight: bool = True,
        whole: str = "",
        vector: Symbol | None = None,
    ):
        self.text, self.shape, self.tight = text, Shape(shape, whole), tight
        self.vector = vector
        self.unit, self.mask = "", False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return np.dtype(bool if self.mask else float)

    @property
    def bracketed(self) -> str:
        """The text as an operand."""
        return self.text if self.tight else f"({self.text})"

    def __getitem__(self, key: Any) -> Any:
        if type(key) is int:
            return Symbol(f"{self.bracketed}[{key}]", self.shape[1:])
        if key[-1] is None:
            return expand_dims(self, -1)
        if key[0] is ...:
            if self.vector is None:
                raise NotTraced
            return self.vector
        pairs = [*zip(key, self.shape, strict=True)]
        made = Symbol(
            f"{self.bracketed}[{', '.join([text_of_slice(k) for k, _ in pairs])}]",
            tuple([length_of(k, n) for k, n in pairs]),
        )
        made.unit = f"{self.bracketed}[{', '.join([as_unit(k, n) for k, n in pairs])}]"
        return made

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kw: Any) -> Any:
        if method != "__call__" or kw or ufunc not in TEXTS:
            raise NotTraced
        return TEXTS[ufunc](*args)

    def __array_function__(self, f: Any, _types: Any, args: Any, kw: Any) -> Any:
        if f not in TEXTS:
            raise NotTraced
        return TEXTS[f](*args, **kw)

    def __bool__(self) -> bool:
        raise NotTraced  # it is not known before the program runs


def text_of_slice(key: slice) -> str:
    start, stop = ("" if n is None else text_of(n) for n in (key.start, key.stop))
    return f"{start}:{stop}"


def length_of(key: slice, whole: Any) -> Any:
    """The length of a part of an axis."""
    if key.stop is None:
        return whole
    if type(key.start) is type(key.stop) is int:
        return key.stop - key.start
    start, stop = text_of(key.start), text_of(key.stop)
    return Length(stop.removeprefix(f"{start} + ") if key.start else stop)


def as_unit(key: slice, whole: Any) -> str:
    """A part of an axis, as an index if its length is one."""
    length = length_of(key, whole)
    unit = is_one(length) or (isinstance(length, Length) and length.text == "1")
    return text_of(key.start) if unit else text_of_slice(key)


class Shape(tuple[Any, ...]):
    """Lengths of axes; `text` where they are those of an operand."""

    text: str

    def __new__(cls, lengths: Iterable[Any], text: str = "") -> Self:
        """Lengths with a text."""
        made = super().__new__(cls, lengths)
        made.text = text
        return made


TEXTS: dict[Any, Callable[..., Any]] = {}


def text(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register how calls of functions are written."""

    def register(write: Callable[..., Any]) -> Callable[..., Any]:
        for f in functions:
            TEXTS[f] = write
        return write

    return register


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


def is_one(n: Any) -> bool:
    return type(n) is int and n == 1


def is_same(one: Any, other: Any) -> bool:
    """Whether two shapes have the same text."""
    return text_of((*one,)) == text_of((*other,))


def text_of(x: Any) -> str:
    """The text of a length, a number, or a row of them."""
    if isinstance(x, Shape) and x.text:
        return x.text
    if isinstance(x, tuple):
        return f"({', '.join(map(text_of, x))},)" if x else "()"
    return x.text if isinstance(x, Length) else repr(x)


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
