"""What keeps a test among many as quick as the same test alone.

Python's collector walks whatever is alive: its cost grows with all that a process has
imported, not with what a test does. Here it leaves out what the collection of tests has
made.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from typing import Any

import pytest


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
