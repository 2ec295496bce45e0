"""Tracers that a closure keeps for its next run, taken out of it.

A closure that memoises finds, in its next run, what the last one has computed. Under a
trace that is a tracer, which belongs to its trace alone. So what holds a tracer after a
traced run comes to hold again what it held before.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import jax

import rules_core as rc
from rules_jax._values.callables import hides

__all__ = ["restored"]

_ATOMS = (
    bool, int, float, complex, str, bytes, type(None), type, ModuleType, jax.Array,
    rc.Array, rc.Primitive, rc.RuleConfig, rc.Rule,
)  # fmt: skip
_CACHED = type(lru_cache(len))
_REACH = 10_000

Back = Callable[[], None]


@contextmanager
def restored(closure: Any) -> Iterator[None]:
    """Take out of a closure, after the block, the tracers that came into it."""
    backs = list(_backs(closure))
    try:
        yield
    finally:
        for back in backs:
            back()


def _backs(root: Any) -> Iterator[Back]:
    queue, seen = deque([root]), {id(root)}
    while queue and len(seen) < _REACH:
        parts, back = _state(queue.popleft())
        if back is not None:
            yield back
        for part in parts:
            if id(part) not in seen and not isinstance(part, _ATOMS):
                seen.add(id(part))
                queue.append(part)


def _state(value: Any) -> tuple[list[Any], Back | None]:
    """What a value holds now, and how it comes to hold that again."""
    if isinstance(value, FunctionType):
        cells = value.__closure__ or ()
        own = (value.__defaults__ or (), value.__kwdefaults__ or {}, vars(value))
        return [*cells, *own], None
    if isinstance(value, CellType):
        return _of_cell(value)
    if isinstance(value, _CACHED):
        return [value.__wrapped__], _uncached(value)
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__], None
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()], None
    if isinstance(value, tuple):
        return list(tuple.__iter__(value)), None
    for cls in (dict, list, deque):
        if isinstance(value, cls):
            held: Any = cls(value)
            parts = list(held.values() if cls is dict else held)
            return parts, partial(_refill, value, held)
    return _of_instance(value)


def _of_cell(cell: CellType) -> tuple[list[Any], Back]:
    try:
        held = cell.cell_contents
    except ValueError:
        return [], lambda: _empty(cell)
    return [held], lambda: _put(cell, held)


def _put(cell: CellType, held: Any) -> None:
    if cell.cell_contents is not held and _is_traced(cell.cell_contents):
        cell.cell_contents = held


def _empty(cell: CellType) -> None:
    try:
        if _is_traced(cell.cell_contents):
            del cell.cell_contents
    except ValueError:  # it is empty
        return


def _is_traced(value: Any) -> bool:
    return hides(value, jax.core.Tracer)


def _uncached(function: Any) -> Back:
    """Empty a cache that has grown: nobody can look into it."""
    size = function.cache_info().currsize

    def back() -> None:
        if function.cache_info().currsize != size:
            function.cache_clear()

    return back


def _of_instance(value: Any) -> tuple[list[Any], Back | None]:
    fields = getattr(value, "__dict__", None)
    slots = [name for cls in type(value).__mro__ for name in _slots(cls)]
    if type(fields) is not dict and not slots:
        return [], None
    held = dict(fields) if type(fields) is dict else {}
    filled = {name: getattr(value, name) for name in slots if hasattr(value, name)}

    def back() -> None:
        for name in slots:
            now = getattr(value, name, None)
            if now is filled.get(name) or not _is_traced(now):
                continue
            if name in filled:
                object.__setattr__(value, name, filled[name])
            else:
                object.__delattr__(value, name)
        if type(fields) is dict:
            _refill(fields, held)

    return [*held.values(), *filled.values()], back


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(
        f"_{cls.__name__.lstrip('_')}{name}" if name.startswith("__") else name
        for name in names
        if name not in ("__dict__", "__weakref__")
    )


def _refill(target: Any, held: Any) -> None:
    """Let a dict, a list or a deque hold again what it held."""
    if _same(target, held) or not _is_traced(target):
        return
    target.clear()
    (target.update if isinstance(target, dict) else target.extend)(held)


def _same(items: Any, held: Any) -> bool:
    """Whether these are the same objects at the same places."""
    if isinstance(held, dict):
        return items.keys() == held.keys() and all(
            items[key] is held[key] for key in held
        )
    return len(items) == len(held) and all(map(operator.is_, items, held))
