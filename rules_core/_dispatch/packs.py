"""Rule packs: imported at the first look-up that needs them.

A pack is an entry point of the group `rules_core.packs`, named by the top-level module
of its functions. `RULES_CORE_PACKS` selects: unset, all packs; `none`, none;
`numpy,scipy`, these only; `-scipy`, all but this one.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock, get_ident  # without importing threading
from typing import Any

from rules_core._base.errors import PackImportError

from .rule_key import module_root

__all__ = ["Packs", "allowed_packs"]

GROUP = "rules_core.packs"


def allowed_packs(setting: str | None, names: set[str]) -> set[str]:
    """Packs that the environment variable's value leaves switched on.

    >>> from rules_core._dispatch.packs import allowed_packs
    >>> sorted(allowed_packs("-scipy", {"numpy", "scipy"}))
    ['numpy']
    """
    if setting is None:
        return names
    words = [w.strip() for w in setting.split(",") if w.strip()]
    off = {w[1:] for w in words if w.startswith("-")}
    on = {w for w in words if not w.startswith("-")}
    if on or not words:
        names = names & on
    return names - off


def _can_be_imported(name: str) -> bool:
    """Whether a library is installed; without it, its pack is not needed."""
    from importlib.util import find_spec

    return name in sys.modules or find_spec(name) is not None


class Packs:
    """The installed packs, and which of them are imported.

    No lock of ours is held during the import of a pack, because its import registers
    rules: other threads that need the pack wait for Python's own import lock, which
    detects deadlocks and lets the importing thread look up rules.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._points: dict[str, list[Any]] | None = None
        self._done: set[str] = set()
        # Full names of modules whose packs are imported.
        self._settled: set[str] = set()
        # Packs that a thread is importing: this thread must not import them again.
        self._busy: set[tuple[int, str]] = set()

    def _installed(self) -> dict[str, list[Any]]:
        with self._lock:
            if self._points is None:
                self._points = _discover()
            return self._points

    def names(self) -> list[str]:
        """Names of the installed packs that are switched on."""
        return list(self._installed())

    def modules(self, name: str) -> list[str]:
        """Modules of the packs of one name."""
        return [point.module for point in self._installed().get(name, ())]

    def ensure(self, key: Any) -> None:
        """Import the packs for `key`: its module's packs, or all if it has no module.

        Raises:
            PackImportError: A pack cannot be imported.
        """
        module = getattr(key, "__module__", None)
        if module in self._settled:
            return
        root = module_root(key)
        for name in self.names() if root is None else (root,):
            self.load(name)
        if root in self._done and isinstance(module, str):
            self._settled.add(module)

    @property
    def is_importing(self) -> bool:
        """Whether this thread imports a pack: its declarations are permanent."""
        thread = get_ident()
        return any(busy == thread for busy, _ in tuple(self._busy))

    def load(self, name: str) -> None:
        """Import the packs of one name, once."""
        mark = get_ident(), name
        if name in self._done or mark in self._busy:
            return
        self._busy.add(mark)
        try:
            for point in self._installed().get(name, ()):
                _import(name, point)
        finally:
            self._busy.discard(mark)
        self._done.add(name)


def _discover() -> dict[str, list[Any]]:
    from importlib.metadata import entry_points

    points: dict[str, list[Any]] = {}
    for point in entry_points(group=GROUP):
        if point not in points.setdefault(point.name, []):
            points[point.name].append(point)
    allowed = allowed_packs(os.environ.get("RULES_CORE_PACKS"), set(points))
    allowed = set(filter(_can_be_imported, allowed))
    return {name: points[name] for name in sorted(allowed)}


def _import(name: str, point: Any) -> None:
    try:
        point.load()
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise PackImportError(name, point.value, cause) from error
