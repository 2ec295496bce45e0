"""Cotangents by the adjoints of the NumPy pack, as texts of generated code.

The pack writes the adjoint of `numpy.swapaxes` as `np.swapaxes(dy, axis1, axis2)`. Here
it is run on symbols, which stand for arrays with a known number of axes: its branches
are decided when code is written, and the calls of NumPy that are left are the text.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import BOOL, Kind
from rules_autodiff.straight._program.written import Taken

from . import array_texts  # noqa: F401  it fills the table of texts
from .symbols import TEXTS, Length, Shape, Symbol, is_same, text_of

__all__ = ["number", "parts_by_adjoint", "pulls_by_adjoint"]


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
