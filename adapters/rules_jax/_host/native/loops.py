"""Compiled inner loops: what the handler needs to know of one, and where it is kept.

Loops stay for the life of the process, with the functions that they belong to: it is
not known when the last compiled program that calls one is gone.
"""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from hashlib import blake2b
from itertools import chain
from threading import RLock
from typing import Any, final

import numpy as np

from .library import CORES, OPERANDS, Entry, Library

__all__ = ["Loop", "Undeclared", "core_axes", "made_once", "stable_name"]

# NumPy's dtypes by XLA's numbers for them.
_XLA_DTYPES = {
    np.dtype(name): number
    for name, number in {
        "bool": 1,
        "int8": 2,
        "int16": 3,
        "int32": 4,
        "int64": 5,
        "uint8": 6,
        "uint16": 7,
        "uint32": 8,
        "uint64": 9,
        "float16": 10,
        "float32": 11,
        "float64": 12,
        "complex64": 15,
        "complex128": 18,
    }.items()
}


class Undeclared(Exception):
    """A function has no loop that compiled code can call; the text says why."""


@final
class Loop:
    """A loop over elements, or over arrays along the axes that its signature names.

    Args:
        name: The function's name, for messages.
        identity: What says which function it is in every process, or None.
        dtypes: Of the inputs and the outputs.
        nin: How many of them are inputs.
        signature: Core axes as in `"(m,n),(n)->(m)"`, or None.
        addresses: Fields of `Entry` that hold addresses.
        alive: Objects that own what is at the addresses.
        splits: Whether threads may share a call.
    """

    def __init__(
        self,
        name: str,
        identity: str | None,
        dtypes: Sequence[np.dtype[Any]],
        nin: int,
        *,
        signature: str | None,
        addresses: dict[str, int],
        alive: Any,
        splits: bool,
    ) -> None:
        self.name, self.dtypes, self.nin = name, tuple(dtypes), nin
        self.cores = core_axes(signature) if signature else ((),) * len(dtypes)
        self.alive, self.splits, self._addresses = alive, splits, addresses
        types = "".join(x.char for x in self.dtypes)
        where = identity or f"{name} {secrets.token_hex(16)}"
        text = f"{where}|{types}|{signature}|{nin}".encode()
        digest = blake2b(text, digest_size=8, person=b"rules_jax 1").digest()
        self.key = int.from_bytes(digest, "little", signed=True)
        self._added = False
        self._check()

    def _check(self) -> None:
        unknown = [str(x) for x in self.dtypes if x not in _XLA_DTYPES]
        if unknown:
            message = f"its loop is for {unknown[0]} numbers, which XLA does not have"
            raise Undeclared(message)
        if len(self.dtypes) > OPERANDS or sum(map(len, self.cores)) > CORES:
            message = f"it has more than {OPERANDS} arrays, or {CORES} core axes"
            raise Undeclared(message)
        given = {*chain(*self.cores[: self.nin])}
        own = [x for x in chain(*self.cores) if x not in given and type(x) is str]
        if own:  # NumPy computes its length, in a function of the ufunc
            message = f"the axis {own[0]} of its results is no axis of an argument"
            raise Undeclared(message)

    @property
    def nout(self) -> int:
        """The number of outputs."""
        return len(self.dtypes) - self.nin

    @property
    def results(self) -> tuple[np.dtype[Any], ...]:
        """The dtypes of the outputs."""
        return self.dtypes[self.nin :]

    @property
    def fields(self) -> str:
        """Its dtypes as NumPy writes them: `"dd->d"`."""
        chars = [x.char for x in self.dtypes]
        return f"{''.join(chars[: self.nin])}->{''.join(chars[self.nin :])}"

    def add_to(self, found: Library) -> None:
        """Let the handler find it under its key, from now on."""
        with _LOCK:
            if not self._added and not found.add(self._entry()):
                message = f"another function has the key of {self.name}"
                raise Undeclared(message)
            self._added = True

    def _entry(self) -> Entry:
        sizes = sorted({x for x in chain(*self.cores) if isinstance(x, int)})
        names = list(dict.fromkeys(chain(*self.cores)))
        entry = Entry(key=self.key, nin=self.nin, nout=self.nout, **self._addresses)
        entry.splits, entry.ndims = self.splits, len(names)
        for i, (dtype, core) in enumerate(zip(self.dtypes, self.cores, strict=True)):
            entry.dtypes[i], entry.sizes[i] = _XLA_DTYPES[dtype], dtype.itemsize
            entry.ncores[i] = len(core)
        for i, axis in enumerate(chain(*self.cores)):
            entry.cores[i] = names.index(axis)
        for i, axis in enumerate(names):
            entry.fixed[i] = axis if axis in sizes else -1
        return entry


_LOCK = RLock()
_KNOWN: dict[Any, tuple[Any, Loop]] = {}


def made_once(make: Callable[..., Loop]) -> Callable[..., Loop]:
    """Decorator: one loop per function and arguments, kept with the function."""

    @wraps(make)
    def loop_of(function: Any, *args: Any) -> Loop:
        key = make, id(function), args
        with _LOCK:
            if key not in _KNOWN:
                _KNOWN[key] = function, make(function, *args)
            return _KNOWN[key][1]

    return loop_of


def core_axes(signature: str) -> tuple[tuple[str | int, ...], ...]:
    """Names or sizes of the core axes of each operand of a gufunc's signature.

    >>> core_axes("(m,n),(n)->(m)")
    (('m', 'n'), ('n',), ('m',))

    Raises:
        Undeclared: Axes may be left out or broadcast.
    """
    if "?" in signature or "|" in signature:
        message = f"axes of its signature {signature} may be left out or broadcast"
        raise Undeclared(message)
    groups = re.findall(r"\(([^)]*)\)", signature.replace(" ", ""))
    return tuple(
        tuple(int(x) if x.isdigit() else x for x in group.split(",") if x)
        for group in groups
    )


def stable_name(function: Any, modules: Sequence[str]) -> str | None:
    """`module.name` under which each process finds the function, or None."""
    name = getattr(function, "__name__", "")
    for module in modules:
        if getattr(sys.modules.get(module), name, None) is function:
            return f"{module}.{name}"
    return None
