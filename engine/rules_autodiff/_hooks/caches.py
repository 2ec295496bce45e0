"""Caches that outlive a call: what they hold is a constant, and must not pass unseen.

`if x not in cache: cache[x] = f(x)` is right as long as the entry was made in this run.
An entry of an earlier call holds a plain number for the very value that carries the
derivative now.
"""

import functools
from typing import Any

import numpy as np

from rules_autodiff._python.handlers import CALLABLES, HANDLERS, handler
from rules_autodiff._python.values import INERT, is_float_array
from rules_autodiff._refusals import refused, where

from .interface import Hooks
from .texts import NUMBER, holds_numbers

__all__ = ["Memos"]

TEXTS = frozenset({str, bytes, int})


class Memos(Hooks):
    """What a run knows about the dicts that are asked by values with derivatives.

    Attributes:
        keys: Texts, bytes and hashes that were made of such values.
        stored: Dicts and the hashes of the keys that were stored in this run.
    """

    keys: set[Any]
    texts: set[Any]
    stored: dict[int, tuple[Any, set[int]]]
    met: str = ""  # where an equal constant was found

    def is_own_key(self, key: Any) -> bool:
        """Whether a key says which value with a derivative is meant."""
        if type(key) is str and self.texts and key not in self.keys:
            return any(float(part) in self.texts for part in NUMBER.findall(key))
        if type(key) in TEXTS or (type(key) in ROUNDED and key in self.keys):
            return key in self.keys
        if type(key) is tuple:
            return any(self.is_own_key(part) for part in key)
        return type(key) not in INERT and self.is_active(key)

    def note_key(self, table: Any, key: Any) -> None:
        """Called when an entry is stored."""
        if type(key) not in TEXTS or self.keys:
            kept = self.stored.setdefault(id(table), (table, set()))
            kept[1].add(hash(key))

    def display(self, table: Any) -> Any:
        """A dict that the program's text spells out, with its keys noted."""
        for key in table:
            self.note_key(table, self.check_key(key))
        return table

    def check_memo(self, table: Any, key: Any, value: Any) -> Any:
        """What a dict holds under a key; refused if it was cached by another call."""
        if type(key) in TEXTS and not self.keys:
            return value
        if not holds_numbers(value) or not self.is_own_key(key):
            return value
        known = hash(key) in self.stored.get(id(table), (None, ()))[1]
        if not known and not self.is_active(value):
            refused("memo")
        return value

    # caches that compare: `if self.last == x: return self.value`

    def equal_numbers(self, x: Any, y: Any) -> None:
        """Called for numbers found equal, of which none is a literal."""
        if self.keys:
            self.equal_keys(x, y)
        if x is not y and (self.slot(x) is None) != (self.slot(y) is None):
            self.met = self.met or where()

    def equal_arrays(self, x: Any, y: Any) -> None:
        """Called for arrays found equal in every entry."""
        if not (is_float_array(x) and is_float_array(y)) or x.size == 0:
            return
        if (self.slot(x) is None) == (self.slot(y) is None):
            return
        if x.size > 1 and (x != x.flat[0]).any():
            refused("cached", f"the array compared at {where()}")
        self.met = self.met or where()

    def check_result(self, y: Any) -> Any:
        """Refuse a constant that was found by comparing, as caches find theirs."""
        if self.met and holds_numbers(y) and not self.is_active(y):
            refused("cached", f"the number compared at {self.met}")
        return y


ROUNDED = frozenset({float, np.float64})


def asked(run: Any, table: Any, key: Any, *default: Any) -> Any:
    """`dict.get`."""
    run.check_key(key)
    found = dict.get(table, key, *default)
    return run.check_memo(table, key, found) if key in table else found


HANDLERS[dict.get] = asked


@handler(np.array_equal)
def handle_array_equal(run: Any, a: Any, b: Any, equal_nan: bool = False) -> bool:
    found = np.array_equal(a, b, equal_nan)
    if found:
        run.equal_arrays(a, b)
    return found


# functools.lru_cache: what was computed in one run means nothing to another


def call_cached(run: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """A memoised function: its memory is the run's own."""
    parts = (*args, *sorted(kwargs.items()))
    key = (f, tuple(id(x) if run.is_active(x) else x for x in parts))
    counts = run.memo.setdefault(f, [0, 0])
    try:
        known = run.memo.get(key)
    except TypeError:  # unhashable arguments raise in the program too
        return f(*args, **kwargs)
    if known is None:
        counts[1] += 1
        value = run.call(f.__wrapped__, *args, **kwargs)
        known = run.memo[key] = (value, parts)  # holds the arguments: ids stay theirs
    else:
        counts[0] += 1
    return known[0]


CACHED = type(functools.lru_cache(len))
CALLABLES[CACHED] = call_cached


@handler(CACHED)
def handle_new_cache(_run: Any, *args: Any) -> Any:
    return CACHED(*args)


@handler(CACHED.cache_info)
def handle_info(run: Any, f: Any) -> Any:
    """The cache's own counts, and those of this run."""
    info, (hits, misses) = f.cache_info(), run.memo.get(f, (0, 0))
    size = sum(type(key) is tuple and key[0] is f for key in run.memo)
    return type(info)(
        info.hits + hits, info.misses + misses, info.maxsize, info.currsize + size
    )


@handler(CACHED.cache_clear)
def handle_clear(run: Any, f: Any) -> None:
    f.cache_clear()
    for key in [k for k in run.memo if k is f or (type(k) is tuple and k[0] is f)]:
        del run.memo[key]
