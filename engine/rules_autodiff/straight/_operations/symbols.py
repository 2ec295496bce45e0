"""Symbols: arrays and numbers that generated code will have, for the pack's adjoints.

NumPy's functions of symbols give symbols, by the texts in `TEXTS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from rules_autodiff.straight._program.refused import Refused

__all__ = [
    "TEXTS", "Length", "NotTraced", "Shape", "Symbol", "is_one", "is_same", "text",
    "text_of",
]  # fmt: skip


class NotTraced(Refused):
    """An adjoint calls a function that has no text here."""

    def __init__(self) -> None:
        super().__init__("an adjoint of the pack is not written out")


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
            return TEXTS[np.expand_dims](self, -1)
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
