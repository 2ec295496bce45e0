"""Calls that generated code leaves to a tape of their own.

`forward(f, *args)` gives the leaves of the value and the tape, `back(kept, dz)` the
cotangents of the active leaves of the arguments. What differs from the expected kinds
falls back to the tape of the whole program.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rules_autodiff._hooks.run import Run
from rules_autodiff.straight._program.kinds import Kind, kind_of, leaf_kinds
from rules_core import AbstractZero

from .elementwise import unfollowed
from .rule_calls import cotangent, zero_of

__all__ = ["by_tape"]

CONTAINERS = (tuple, list, dict)


def by_tape(
    result: Kind, names: tuple[str, ...], active: tuple[int, ...], wanted: Any
) -> Any:
    """The functions that written code calls, forward and back.

    Args:
        result: The kind of the value.
        names: The names of the last arguments, which are given by name.
        active: The positions of active arguments.
        wanted: For each, whether its leaves are active.
    """
    single = sum(kind.is_real for kind in leaf_kinds(result)) == 1

    def forward(f: Any, *args: Any) -> Any:
        if names:
            places = tuple([i + 2 for i in active])
            tape = Run.operation(call_named, (f, names, *args), {}, places)
        else:
            tape = Run.operation(f, args, {}, active)
        value = tape.value()
        if kind_of(value) != result:
            unfollowed("a function returns another kind than before")
        leaves = tuple(leaves_of(value))
        return (leaves if result.has_parts else value), (tape, args)

    def back(kept: Any, dz: Any) -> Any:
        tape, args = kept
        if not tape.done:
            tape.again(tape.output, tape.below)
        rows = (dz,) if single else dz
        leaves = [y for y in leaves_of(tape.output) if is_real(y)]
        for y, d in zip(leaves, rows, strict=True):
            if type(d) is not float or d != 0.0:
                tape.seed(y, like(y, d), tape.below)
        found = tape.run_back(tape.below)
        return tuple([
            d
            for i, d_all, flags in zip(active, found, wanted, strict=True)
            for d in cotangents_of(d_all, args[i], flags)
        ])  # fmt: skip

    return forward, back


def call_named(f: Any, names: tuple[str, ...], *args: Any) -> Any:
    """A call whose last arguments are given by name."""
    count = len(args) - len(names)
    return f(*args[:count], **dict(zip(names, args[count:], strict=True)))


def leaves_of(x: Any) -> Iterator[Any]:
    """All values in a container."""
    if type(x) not in CONTAINERS:
        yield x
        return
    for part in x.values() if type(x) is dict else x:
        yield from leaves_of(part)


def is_real(y: Any) -> bool:
    """Whether a leaf may carry a derivative."""
    return isinstance(y, float) or (type(y) is np.ndarray and y.dtype.kind == "f")


def like(y: Any, d: Any) -> Any:
    """A cotangent of the value's class."""
    return d if type(y) is np.ndarray else type(y)(d)


def cotangents_of(d: Any, x: Any, flags: Any) -> Iterator[Any]:
    """The cotangents of the active leaves of an argument."""
    pairs = zip(leaves_of(x), flags, strict=True)
    if type(x) in CONTAINERS and isinstance(d, AbstractZero):
        yield from [zero_of(leaf) for leaf, wanted in pairs if wanted]
        return
    for (leaf, wanted), part in zip(pairs, leaves_of(d), strict=True):
        if wanted:
            yield cotangent(part, leaf)
