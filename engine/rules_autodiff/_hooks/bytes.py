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

__all__ = ["Bytes"]

NOTED = 4096  # entries of a rounded array of which the first are noted
RAW = (bytes, bytearray)


class Bytes(Hooks):
    """What a run knows about the bytes that its program makes.

    Attributes:
        raw: By identity, bytes and hash objects with values in them.
        made: By identity, the texts, bytes and numbers that stand for such values.
        keys: Texts, bytes and hashes that were made of such values.
    """

    raw: dict[int, Any]
    made: dict[int, Any]
    keys: set[Any]
    met: str

    def mark(self, x: Any) -> Any:
        """Note that bytes, or an object that takes some, hold a value."""
        self.raw[id(x)] = x
        return self.note_made(x)

    def note_made(self, x: Any) -> Any:
        """Note what stands for a value, as a digest does; short ones are shared."""
        if not isinstance(x, str | bytes) or len(x) > 1:
            self.made[id(x)] = x
        if isinstance(x, str | bytes | int):
            self.keys.add(x)
        return x

    def stands_for(self, *given: Any) -> bool:
        """Whether values have a derivative, or were made of such and may be keys."""
        return self.is_active(given) or any(id(x) in self.made for x in given)

    def joined(self, result: Any, *operands: Any) -> Any:
        """What an operator made of bytes."""
        if self.raw and isinstance(result, RAW) and self.is_active(operands):
            self.mark(result)
        elif type(result) is str and self.keys and self.is_own_key(result):
            self.note_made(result)
        return result

    def rounded(self, x: Any) -> Any:
        """Note rounded numbers: they have no derivative, but may be keys of a cache."""
        if isinstance(x, np.ndarray):
            self.keys.update(x.ravel()[:NOTED].tolist())
            self.made[id(x)] = x
            return x
        self.keys.add(x)
        return self.note_made(x)

    def check_read(self, x: Any) -> None:
        """Refuse to take bytes apart into whole numbers."""
        if id(x) in self.raw:
            refused("bytes")

    def item_of_bytes(self, owner: Any, key: Any) -> Any:
        """`owner[key]` of bytes with a value in them: only as bytes."""
        found = owner[key]
        if not isinstance(found, RAW):
            self.check_read(owner)
        return self.mark(found)

    def equal_keys(self, x: Any, y: Any) -> None:
        """Called for keys found equal, of which none is a literal."""
        for one, other in zip(parts(x), parts(y), strict=False):
            if type(one) is not type(other) or one != other:
                continue
            if (id(one) in self.made) != (id(other) in self.made):
                refused("cached", f"the key compared at {where()}")
            if self.is_own_key(one):
                self.met = self.met or where()

    def check_found(self, item: Any, container: Any) -> None:
        """Called for a key that a list or tuple holds."""
        for other in container:
            if type(other) is type(item) and other == item:
                self.equal_keys(item, other)


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
        if run.stands_for(*args, *kwargs.values()):
            for x in (made, args[0]):
                if isinstance(x, HASHES):
                    run.mark(x)
            if isinstance(made, str | int):
                run.note_made(made)
            elif isinstance(made, bytes):
                run.mark(made)
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
    return run.mark(made) if run.is_own_key(text) else made
