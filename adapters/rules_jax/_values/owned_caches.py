"""Caches that live as long as what they are about.

A cache of the module would keep dead primitives, and what they capture, until others
have pushed them out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, TypeVar

__all__ = ["kept_by_owner"]

T = TypeVar("T")
MOST = 256  # of one owner


def kept_by_owner(make: Callable[..., T]) -> Callable[..., T]:
    """Keep what `make(owner, *key)` returns in the owner's `__dict__`.

    >>> from rules_jax._values.owned_caches import kept_by_owner
    >>> class Owner: ...
    >>> @kept_by_owner
    ... def pair(owner, x):
    ...     return [x]
    >>> owner = Owner()
    >>> pair(owner, 1) is pair(owner, 1)
    True
    """
    name = f"_kept_{make.__name__}"

    def kept(owner: Any, *key: Any) -> T:
        found = owner.__dict__.get(name)
        if found is None:
            cache = lru_cache(maxsize=MOST)(partial(make, owner))
            found = owner.__dict__.setdefault(name, cache)
        made: T = found(*key)
        return made

    return kept
