"""Rule packs: imported at the first look-up that needs them.

A pack is an entry point of the group `rules_core.packs`, named by the module of its
functions: `numpy`, or `scipy.linalg`, which is imported for that module alone.
`RULES_CORE_PACKS` selects: unset, all packs; `none`, none; `numpy,scipy`, these only,
with all their modules; `-scipy`, all but this one.
"""

from __future__ import annotations

import gc
import os
import sys
from _thread import RLock, get_ident  # without importing threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

from rules_core._base.errors import PackImportError

from .rule_key import owner_of

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
        names = {name for name in names if on & {*_ancestors(name)}}
    return {name for name in names if not off & {*_ancestors(name)}}


def _ancestors(module: str) -> list[str]:
    """A module's name and those of the packages that contain it, outermost first."""
    return list(accumulate(module.split("."), "{}.{}".format))


def _can_be_imported(name: str) -> bool:
    """Whether a library is installed; without it, its pack is not needed."""
    from importlib.util import find_spec

    root = name.partition(".")[0]
    return root in sys.modules or find_spec(root) is not None


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
        # By identity, functions that do not say their module, and were found in one.
        self._found: dict[int, Any] = {}
        # Packs that a thread is importing: this thread must not import them again.
        self._busy: set[tuple[int, str]] = set()

    def _installed(self) -> dict[str, list[Any]]:
        with self._lock:
            if self._points is None:
                self._points = _discover()
            return self._points

    def names(self) -> list[str]:
        """Libraries with an installed pack that is switched on."""
        return sorted({name.partition(".")[0] for name in self._installed()})

    def modules(self, name: str) -> list[str]:
        """Modules of the packs of a library, or of one of its modules."""
        points = self._installed()
        return [p.module for own in self._below(name) for p in points[own]]

    def _below(self, name: str) -> list[str]:
        """The packs of a module and of its submodules."""
        return [own for own in self._installed() if name in _ancestors(own)]

    def ensure(self, key: Any) -> None:
        """Import the packs for `key`: those of its module.

        Raises:
            PackImportError: A pack cannot be imported.
        """
        if getattr(key, "__module__", None) in self._settled:
            return
        owner = owner_of(key)
        module = getattr(owner, "__module__", None)
        if module in self._settled or id(owner) in self._found:
            return
        names = self._serving(owner, module)
        for name in names:
            self._load(name)
        if not self._done.issuperset(names):
            return
        if isinstance(module, str):
            self._settled.add(module)
        elif _holders(owner, names):  # which keep it alive
            self._found[id(owner)] = owner

    def ensure_module(self, module: str) -> None:
        """Import the packs that serve functions of a module."""
        for name in _ancestors(module):
            if name in self._installed():
                self._load(name)

    def _serving(self, owner: Any, module: Any) -> list[str]:
        """The packs for a function or class.

        A ufunc of SciPy does not say where it is from: it is looked for in the modules
        that have packs and are imported. If it is in none, all of these may serve it.
        """
        points = self._installed()
        if isinstance(module, str) and module:
            return [name for name in _ancestors(module) if name in points]
        imported = [own for own in points if own in sys.modules]
        return _holders(owner, imported) or imported

    @property
    def is_importing(self) -> bool:
        """Whether this thread imports a pack: its declarations are permanent."""
        thread = get_ident()
        return any(busy == thread for busy, _ in tuple(self._busy))

    def load(self, name: str) -> None:
        """Import the packs of a library, or of one of its modules, once."""
        for own in self._below(name):
            self._load(own)

    def _load(self, name: str) -> None:
        mark = get_ident(), name
        if name in self._done or mark in self._busy:
            return
        self._busy.add(mark)
        try:
            with _collector_paused():
                for point in self._installed().get(name, ()):
                    _import(name, point)
        finally:
            self._busy.discard(mark)
        self._done.add(name)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A time without garbage collection: a pack makes thousands of lasting objects."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _holders(owner: Any, modules: list[str]) -> list[str]:
    """Those of some imported modules that have a function, mostly under its name.

    SciPy 1.15 calls `pro_cv` by another one.
    """
    name = getattr(owner, "__name__", "")
    held = {m: vars(sys.modules[m]) for m in modules}
    found = [m for m, names in held.items() if names.get(name) is owner]
    return found or [
        m for m, names in held.items() if any(x is owner for x in names.values())
    ]


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
