"""Bytes that were made of values with derivatives, and digests of them.

They count as values with derivatives themselves, known by identity: a function in C
that is given them has no rule. What is followed is their use as keys of caches, by
digests, comparisons and dicts.
"""

import binascii
import hashlib
import hmac
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rules_autodiff._python.handlers import HANDLERS, handler
from rules_autodiff._refusals import refused, where

from .interface import Hooks
from .own_keys import is_own_key

__all__ = [
    "check_found",
    "check_read",
    "equal_keys",
    "item_of_bytes",
    "joined",
    "mark",
    "note_made",
    "rounded",
    "stands_for",
]

NOTED = 4096  # entries of a rounded array of which the first are noted
RAW = (bytes, bytearray)


def mark(run: Hooks, x: Any) -> Any:
    """Note that bytes, or an object that takes some, hold a value."""
    run.raw[id(x)] = x
    return note_made(run, x)


def note_made(run: Hooks, x: Any) -> Any:
    """Note what stands for a value, as a digest does; short ones are shared."""
    if not isinstance(x, str | bytes) or len(x) > 1:
        run.made[id(x)] = x
    if isinstance(x, str | bytes | int):
        run.keys.add(x)
    return x


def stands_for(run: Hooks, *given: Any) -> bool:
    """Whether values have a derivative, or were made of such and may be keys."""
    return run.is_active(given) or any(id(x) in run.made for x in given)


def joined(run: Hooks, result: Any, *operands: Any) -> Any:
    """The result of an operator on bytes."""
    if run.raw and isinstance(result, RAW) and run.is_active(operands):
        mark(run, result)
    elif type(result) is str and run.keys and is_own_key(run, result):
        note_made(run, result)
    return result


def rounded(run: Hooks, x: Any) -> Any:
    """Note rounded numbers: they have no derivative, but may be keys of a cache."""
    run.whole = True
    if isinstance(x, np.ndarray):
        run.keys.update(x.ravel()[:NOTED].tolist())
        run.made[id(x)] = x
        return x
    run.keys.add(x)
    return note_made(run, x)


def check_read(run: Hooks, x: Any) -> None:
    """Refuse to take bytes apart into whole numbers."""
    if id(x) in run.raw:
        refused("bytes")


def item_of_bytes(run: Hooks, owner: Any, key: Any) -> Any:
    """`owner[key]` of bytes with a value in them: only as bytes."""
    found = owner[key]
    if not isinstance(found, RAW):
        check_read(run, owner)
    return mark(run, found)


def equal_keys(run: Hooks, x: Any, y: Any) -> None:
    """Called for keys found equal, of which none is a literal."""
    for one, other in zip(parts(x), parts(y), strict=False):
        if type(one) is not type(other) or one != other:
            continue
        if (id(one) in run.made) != (id(other) in run.made):
            refused("cached", f"the key compared at {where()}")
        if is_own_key(run, one):
            run.met = run.met or where()


def check_found(run: Hooks, item: Any, container: Any) -> None:
    """Called for a key that a list or tuple holds."""
    for other in container:
        if type(other) is type(item) and other == item:
            equal_keys(run, item, other)


def parts(key: Any) -> Iterator[Any]:
    """A key, or what a tuple of keys holds."""
    if isinstance(key, tuple):
        for part in key:
            yield from parts(part)
    elif type(key) is not int or not -6 < key < 257:  # which are shared
        yield key


def digesting(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose result, or the owner that takes it, stands for its arguments."""

    def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
        made = f(*args, **kwargs)
        if stands_for(run, *args, *kwargs.values()):
            for x in (made, args[0]):
                if isinstance(x, HASHES):
                    mark(run, x)
            if isinstance(made, str | int):
                note_made(run, made)
            elif isinstance(made, bytes):
                mark(run, made)
        return made

    return handle


MAKERS = {getattr(hashlib, name) for name in hashlib.algorithms_guaranteed}
HASHES = tuple({type(hashlib.new(name)) for name in hashlib.algorithms_guaranteed})
for _make in (
    *MAKERS, hashlib.new, hmac.digest, zlib.crc32, zlib.adler32, binascii.crc32,
    bytes.hex, bytearray.hex,
):  # fmt: skip
    HANDLERS[_make] = digesting(_make)
for _cls in HASHES:
    for _name in ("update", "digest", "hexdigest", "copy"):
        HANDLERS[getattr(_cls, _name)] = digesting(getattr(_cls, _name))


@handler(str.encode)
def handle_encode(run: Any, text: str, *args: Any, **kwargs: Any) -> bytes:
    made = text.encode(*args, **kwargs)
    return mark(run, made) if is_own_key(run, text) else made
