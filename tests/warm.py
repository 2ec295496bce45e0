"""What keeps a test among many as quick as the same test alone.

Two costs grow with all that a process has imported, not with what a test does: Python's
collector walks whatever is alive, and `isolated_rules` restores the rules of every
function. Here the collector leaves out what the collection of tests has made, and a
table of which a test changed nothing stays as it is, with what it remembers.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from typing import Any

import pytest

from rules_core import _registry
from rules_core._table import Table

restore = _registry._restore


def changed(table: Table, before: _registry._Contents) -> bool:
    """Whether a table holds other rules than before, or has warned of anything."""
    return bool(table.told) or _registry._contents(table) != before


def restore_changed(table: Table, contents: _registry._Contents) -> None:
    """Restore a table, unless that would change nothing."""
    if changed(table, contents):
        restore(table, contents)


def pytest_configure() -> None:
    """Restore no more than needed."""
    _registry._restore = restore_changed


def pytest_unconfigure() -> None:
    """Leave what others import as it was."""
    _registry._restore = restore


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Set apart what lives as long as the run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Set apart what a file leaves behind, such as programs that JAX compiled."""
    if nextitem is None or nextitem.path != item.path:
        gc.freeze()


def pytest_runtest_setup() -> None:
    """Let PyTorch's compiler not time its guards, a third of a small compilation."""
    guards: Any = sys.modules.get("torch._dynamo.guards")
    if guards is not None:
        guards.profile_guard_manager = lambda *_: 0.0
