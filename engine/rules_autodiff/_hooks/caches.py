"""Caches that outlive a call: what they hold is a constant, and must not pass unseen.

`if x not in cache: cache[x] = f(x)` is right as long as the entry was made in this run.
An entry of an earlier call holds a plain number for the very value that carries the
derivative now.
"""

import functools
from typing import Any

import numpy as np

from rules_autodiff._python.handlers import CALLABLES, HANDLERS, handler
from rules_autodiff._python.leaves import leaves
from rules_autodiff._python.opaque import OWN, root_of
from rules_autodiff._python.values import is_float_array
from rules_autodiff._refusals import refused, where

from .bytes import equal_keys
from .close_calls import found_key, found_keys, meet
from .identity import known_key
from .interface import Hooks
from .keepers import keeps_numbers
from .own_keys import NUMBER, TEXTS, is_own_key
from .skipped_stores import check_read
from .special_methods import check_key
from .texts import holds_numbers

__all__ = [
    "check_memo",
    "check_name",
    "check_result",
    "display",
    "equal_arrays",
    "equal_numbers",
    "found_name",
    "note_key",
    "note_name",
]


def note_key(run: Hooks, table: Any, key: Any) -> None:
    """Called when an entry is stored."""
    if type(key) not in TEXTS or run.keys or run.whole:
        kept = run.stored.setdefault(id(table), (table, set()))
        kept[1].add(hash(key))


def display(run: Hooks, table: Any, count: int = 0) -> Any:
    """A dict that the program's text spells out, with its keys noted.

    Args:
        run: The run.
        table: The dict.
        count: How many keys stand there.
    """
    found_keys(run, count, table)
    for key in table:
        note_key(run, table, check_key(run, key))
    return table


def check_memo(run: Hooks, table: Any, key: Any, value: Any) -> Any:
    """The value of a dict under a key; refused if another call cached it."""
    if type(key) in TEXTS and not (run.keys or run.whole):
        return value
    known = hash(key) in run.stored.get(id(table), (None, ()))[1]
    if not known:
        found_key(run, key)
    if not (holds_numbers(value) or holds_records(value) or keeps_numbers(value)):
        return value
    if not is_own_key(run, key):
        return value
    if not known and not run.is_active(value):
        refused("memo")
    return value


def check_name(run: Hooks, owner: Any, name: Any, value: Any) -> Any:
    """An attribute by a name; refused if it was made of the argument, as a key is."""
    found_name(run, name)
    own = type(name) is str and run.keys and is_own_key(run, name)
    return check_memo(run, owner, name, value) if own else value


def found_name(run: Hooks, name: Any) -> None:
    """Called for the name of an attribute that is there."""
    if run.close or not (run.whole or run.keys):
        return
    digits = [part for part in NUMBER.findall(name) if part.lstrip("+-").isdigit()]
    if any(run.whole or int(part) in run.keys for part in digits):
        meet(run)


def note_name(run: Hooks, owner: Any, name: Any) -> None:
    """Called when an attribute is stored by its name."""
    if type(name) is str and run.keys:
        note_key(run, owner, name)


def holds_records(x: Any) -> bool:
    """Whether a value is a dict or an instance with numbers."""
    return not isinstance(x, list | tuple) and bool(leaves(x))


def equal_numbers(run: Hooks, x: Any, y: Any) -> None:
    """Called for numbers found equal, of which none is a literal."""
    if run.keys:
        equal_keys(run, x, y)
    if x is not y and (run.slot(x) is None) != (run.slot(y) is None):
        run.met = run.met or where()


def equal_arrays(run: Hooks, x: Any, y: Any) -> None:
    """Called for arrays found equal in every entry."""
    if not (is_float_array(x) and is_float_array(y)) or x.size == 0:
        return
    if (run.slot(x) is None) == (run.slot(y) is None):
        return
    if x.size > 1 and (x != x.flat[0]).any():
        refused("cached", f"the array compared at {where()}")
    run.met = run.met or where()


def check_result(run: Hooks, y: Any) -> Any:
    """Refuse a constant that was found by comparing, as caches find theirs."""
    if run.skipped:
        for leaf in leaves(y):
            check_read(run, leaf, "the result")
    if run.met and holds_numbers(y) and not run.is_active(y):
        refused("cached", f"the number compared at {run.met}")
    return y


def asked(run: Any, table: Any, key: Any, *default: Any) -> Any:
    """`dict.get`."""
    key = known_key(run, check_key(run, key), table)
    found = dict.get(table, key, *default)
    return check_memo(run, table, key, found) if key in table else found


HANDLERS[dict.get] = asked


@handler(np.array_equal)
def handle_array_equal(run: Any, a: Any, b: Any, equal_nan: bool = False) -> bool:
    found = np.array_equal(a, b, equal_nan)
    if found:
        if run.whole or run.is_active(a) or run.is_active(b):
            meet(run)
        equal_arrays(run, a, b)
    return found


# functools.lru_cache: what was computed in one run means nothing to another


def call_cached(run: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """A memoised function: its memory is the run's own.

    But for one of our packages, which remembers facts and no values of programs.
    """
    parts = (*args, *sorted(kwargs.items()))
    if root_of(f.__wrapped__) in OWN and not any(map(run.is_active, parts)):
        return f(*args, **kwargs)
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
