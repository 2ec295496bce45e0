"""Identity of arguments: `x is y`, `id(x)`, keys by identity, `x.base`, `x.flags`.

The program receives an object of its own for each argument. Where it asks which object
one is, the user's object answers.
"""

import operator
from typing import Any

import numpy as np

from rules_autodiff._python.handlers import handler
from rules_autodiff._python.values import INERT
from rules_autodiff._refusals import refused

from .close_calls import meet
from .interface import Hooks

__all__ = ["base_of", "flag_of", "is_same", "known_key", "original"]


def original(run: Any, x: Any) -> Any:
    """The user's object for an argument, any other object itself."""
    level = run
    while level.depth:
        for entered in level.entered:
            for given, inner, *_ in entered:
                if inner is x:
                    x = given
        level = level.below
    return x


def is_same(run: Hooks, x: Any, y: Any) -> bool:
    """`x is y`."""
    if x is y:
        return True
    if type(x) in INERT or type(y) in INERT or not run.entered:
        return False
    same = original(run, x) is original(run, y)
    if same and (run.is_active(x) or run.is_active(y)):
        meet(run)
    return same


@handler(operator.is_)
def handle_is(run: Any, x: Any, y: Any, /) -> bool:
    return is_same(run, x, y)


@handler(operator.is_not)
def handle_is_not(run: Any, x: Any, y: Any, /) -> bool:
    return not is_same(run, x, y)


@handler(id)
def handle_id(run: Any, x: Any, /) -> int:
    """A key that says which value is meant: caches must not outlive the call."""
    found = id(original(run, x))
    if run.is_active(x):
        run.keys.add(found)
    return found


@handler(np.shares_memory)
def handle_shares(run: Any, a: Any, b: Any, /, *options: Any, **named: Any) -> bool:
    pair = original(run, a), original(run, b)
    return bool(np.shares_memory(*pair, *options, **named))


@handler(np.may_share_memory)
def handle_may_share(run: Any, a: Any, b: Any, /, *options: Any, **named: Any) -> bool:
    pair = original(run, a), original(run, b)
    return bool(np.may_share_memory(*pair, *options, **named))


def known_key(run: Hooks, key: Any, table: Any) -> Any:
    """A key, or the user's object for it where that is the one in a table."""
    if not run.entered or type(key) in INERT or type(key).__hash__ is not BY_IDENTITY:
        return key
    given = original(run, key)
    return given if given is not key and key not in table and given in table else key


BY_IDENTITY: Any = object.__hash__


def base_of(run: Hooks, x: Any, *, given: bool) -> Any:
    """`x.base`.

    Args:
        run: The run.
        x: An array.
        given: Whether its memory is that of an argument.
    """
    found = x.base
    whole = found if isinstance(found, np.ndarray) else x
    user = original(run, whole)
    if user is not whole and user.base is not None:
        refused("base")
    return None if given else found


def flag_of(run: Hooks, flags: Any, name: str) -> Any:
    """A flag of an array; an argument owns its memory if the user's array does."""
    _, a = run.flags.get(id(flags), (None, None))
    if a is None or name not in OWNING:
        return flags[name] if name.isupper() else getattr(flags, name)
    return bool(original(run, a).flags.owndata)


OWNING = frozenset({"owndata", "OWNDATA", "O"})
