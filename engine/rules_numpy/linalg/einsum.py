"""`np.einsum` in every form; the adjoint is an einsum too."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.arguments import array_of, moves, restore, tangent_array
from rules_numpy._declare.derivative import derivative

__all__: list[str] = []

_OPTIONS = ("optimize", "dtype", "order", "casting")


class _Call:
    """A call of einsum in one form: letters per operand, letters of the result.

    Attributes:
        places: Positions of the operands among the arguments.
        arrays: The operands.
        letters: One string per operand, without ellipsis.
        out: The letters of the result.
    """

    def __init__(self, args: tuple[Any, ...]) -> None:
        if isinstance(args[0], str):
            self.places = tuple(range(1, len(args)))
            inputs, arrow, output = args[0].replace(" ", "").partition("->")
            terms = inputs.split(",")
            out: str | None = output if arrow else None
        else:
            self.places = tuple(range(0, len(args) - 1, 2))
            terms = [_letters(args[i + 1]) for i in self.places]
            out = _letters(args[-1]) if len(args) % 2 else None
        self.arrays = [array_of(args[i], np.einsum) for i in self.places]
        self.letters, self.out = _without_ellipsis(terms, out, self.arrays)


def _letters(sublist: Any) -> str:
    alphabet = string.ascii_letters
    return "".join("..." if i is Ellipsis else alphabet[i] for i in sublist)


def _without_ellipsis(
    terms: list[str], out: str | None, arrays: Any
) -> tuple[list[str], str]:
    used = set("".join(terms)) | set(out or "")
    free = [c for c in string.ascii_letters if c not in used]
    counts = [
        x.ndim - len(t.replace("...", "")) if "..." in t else 0
        for t, x in zip(terms, arrays, strict=True)
    ]
    widest = max(counts, default=0)
    spare = "".join(free[:widest])
    operands = [
        t.replace("...", spare[widest - n :])
        for t, n in zip(terms, counts, strict=True)
    ]
    if out is not None:
        return operands, out.replace("...", spare)
    joined = "".join(terms).replace("...", "")
    alone = "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
    return operands, spare + alone


@derivative(np.einsum, argnums=None, arrays=False)
def einsum_derivative(
    y: Any,
    *operands: Any,
    optimize: Any = False,
    dtype: Any = None,
    order: Any = None,
    casting: Any = None,
) -> Any:
    """Linear in every operand; letters of one operand alone are broadcast."""
    call = _Call(operands)
    maps: list[Any] = [None] * len(operands)
    for k, place in enumerate(call.places):
        if moves(operands[place]):
            maps[place] = _pair(call, k, operands[place], optimize)
    return tuple(maps)


def _pair(call: _Call, k: int, x: Any, optimize: Any) -> Any:
    def einsum_pushforward(dx: Any) -> Any:
        moved = list(call.arrays)
        moved[k] = tangent_array(x, dx)
        subscripts = ",".join(call.letters) + "->" + call.out
        return np.einsum(subscripts, *moved, optimize=optimize)

    def einsum_pullback(dy: Any) -> Any:
        return restore(x, rc.ProjectTo(call.arrays[k])(_adjoint(call, k, dy, optimize)))

    return einsum_pushforward, einsum_pullback


def _stretched(terms: list[str], arrays: list[Any]) -> set[str]:
    """The letters of axes that are longer than one."""
    return {
        letter
        for letters, x in zip(terms, arrays, strict=True)
        for letter, n in zip(letters, np.shape(x), strict=True)
        if n != 1
    }


def _adjoint(call: _Call, k: int, dy: Any, optimize: Any) -> Any:
    own, shape = call.letters[k], call.arrays[k].shape
    terms, arrays = [call.out], [dy]
    for i, (letters, x) in enumerate(zip(call.letters, call.arrays, strict=True)):
        if i != k:
            terms.append(letters)
            arrays.append(np.conjugate(x))
    have = set("".join(terms))
    stretched = _stretched(terms, arrays)
    spare = (c for c in string.ascii_letters if c not in have | set(own))
    target, seen = "", set()
    for letter, n in zip(own, shape, strict=True):
        name = letter
        if letter in seen:  # a diagonal: the other entries are zero
            name = next(spare)
            terms.append(letter + name)
            arrays.append(np.eye(n))
        elif letter not in stretched:  # summed, or broadcast to n from one
            terms.append(letter)
            arrays.append(np.ones(n))
        seen.add(letter)
        target += name
    subscripts = ",".join(terms) + "->" + target
    return np.einsum(subscripts, *arrays, optimize=optimize)
