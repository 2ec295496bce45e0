"""Tracers that a closure keeps for its next run, taken out of it.

A closure that memoises finds, in its next run, what the last one has computed. Under a
trace that is a tracer, which belongs to its trace alone. So a closure that holds a new
tracer after a traced run is put back into the state that it was in before.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import jax

import rules_core as rc
from rules_core.extend import Reads, slots_of
from rules_jax._values.callables import hides

__all__ = ["restored"]

_ATOMS = (
    bool, int, float, complex, str, bytes, type(None), type, ModuleType, jax.Array,
    rc.Array, rc.Primitive, rc.RuleConfig, rc.Rule, Reads,
)  # fmt: skip
_CACHED = type(lru_cache(len))
_REACH = 10_000
_EMPTY = object()


@contextmanager
def restored(closure: Any) -> Iterator[None]:
    """Take out of a closure, after the block, the tracers that came into it."""
    states = list(_states(closure))
    try:
        yield
    finally:
        changed = [state for state in states if not _same(state.read(), state.held)]
        if any(hides(state.read(), jax.core.Tracer) for state in changed):
            for state in changed:
                state.write()
        for state in states:
            state.forget()


class _State:
    """The contents of an object that cannot be written to."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.held = self.read()

    def read(self) -> list[Any] | dict[Any, Any]:
        """The present contents."""
        owner: Any = self.owner
        if isinstance(owner, FunctionType):
            own = (owner.__defaults__, owner.__kwdefaults__, vars(owner))
            return [*(owner.__closure__ or ()), *own]
        if isinstance(owner, MethodType):
            return [owner.__self__, owner.__func__]
        if isinstance(owner, partial):
            return [owner.func, owner.args, owner.keywords]
        return list(tuple.__iter__(owner))

    def write(self) -> None:
        """Let it hold again what it held."""

    def forget(self) -> None:
        """Empty objects that cannot be looked into."""


class _Cell(_State):
    def read(self) -> list[Any]:
        try:
            return [self.owner.cell_contents]
        except ValueError:
            return [_EMPTY]

    def write(self) -> None:
        if self.held[0] is _EMPTY:
            del self.owner.cell_contents
        else:
            self.owner.cell_contents = self.held[0]


class _Cache(_State):
    def __init__(self, owner: Any) -> None:
        super().__init__(owner)
        self.size = owner.cache_info().currsize

    def read(self) -> list[Any]:
        return [self.owner.__wrapped__]

    def forget(self) -> None:
        if self.owner.cache_info().currsize != self.size:
            self.owner.cache_clear()


class _Filled(_State):
    """A dict, a list or a deque."""

    def read(self) -> list[Any] | dict[Any, Any]:
        return dict(self.owner) if isinstance(self.owner, dict) else list(self.owner)

    def write(self) -> None:
        self.owner.clear()
        is_dict = isinstance(self.owner, dict)
        (self.owner.update if is_dict else self.owner.extend)(self.held)


class _Instance(_State):
    def read(self) -> dict[Any, Any]:
        slots = (name for cls in type(self.owner).__mro__ for name in slots_of(cls))
        held = {x: getattr(self.owner, x) for x in slots if hasattr(self.owner, x)}
        fields = getattr(self.owner, "__dict__", None)
        return held | fields if type(fields) is dict else held

    def write(self) -> None:
        for name in self.read().keys() - self.held:
            object.__delattr__(self.owner, name)
        for name, value in dict(self.held).items():
            object.__setattr__(self.owner, name, value)


_KINDS: tuple[tuple[Any, type[_State]], ...] = (
    (CellType, _Cell),
    (_CACHED, _Cache),
    ((FunctionType, MethodType, partial, tuple), _State),
    ((dict, list, deque), _Filled),
    (object, _Instance),
)


def _states(root: Any) -> Iterator[_State]:
    queue, seen = deque([root]), {id(root)}
    while queue and len(seen) < _REACH:
        value = queue.popleft()
        state = next(kind for cls, kind in _KINDS if isinstance(value, cls))(value)
        held = state.held
        yield state
        for part in held.values() if isinstance(held, dict) else held:
            if id(part) not in seen and not isinstance(part, _ATOMS):
                seen.add(id(part))
                queue.append(part)


def _same(now: Any, held: Any) -> bool:
    """Whether these are the same objects at the same places."""
    if isinstance(held, dict):
        same_keys = now.keys() == held.keys()
        return same_keys and all(now[key] is held[key] for key in held)
    return len(now) == len(held) and all(map(operator.is_, now, held))
