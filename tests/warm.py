"""What keeps a test among many as quick as the same test alone.

Python's collector walks whatever is alive: its cost grows with all that a process has
imported, not with what a test does. Here it leaves out what the collection of tests has
made. JAX keeps each program that it compiled: some processes grew to four gigabytes.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest


def quick_compilation() -> str:
    """Flags by which XLA compiles in half the time; it ends at one that it lost."""
    try:
        release = tuple(map(int, version("jaxlib").split(".")[:2]))
    except PackageNotFoundError:
        return ""
    emitters = " --xla_cpu_use_fusion_emitters=false" * (release < (0, 11))
    return f"--xla_backend_optimization_level=0{emitters}"


def pytest_configure(config: pytest.Config) -> None:
    """Let XLA hurry over programs that run once; other runs have what users have."""
    sampled = "not full" in config.getoption("markexpr") or config.getoption("slice")
    if sampled:
        os.environ.setdefault("XLA_FLAGS", quick_compilation())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Set apart what lives as long as the run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class Growth:
    """The memory by which this process has grown since it was last asked to let go.

    To drop JAX's programs after each file took a sixth of what its tests cost: each
    file began by tracing the same operations of `jax.numpy` anew.
    """

    def __init__(self) -> None:
        self.before = 0.0

    def is_large(self) -> bool:
        """Whether it has grown by more than `MOST_GROWTH`, which then counts anew."""
        now = peak()
        large = now is None or now - self.before > MOST_GROWTH
        if large:
            self.before = now or 0.0
        return large


def peak() -> float | None:
    """The most memory that this process has had, in gigabytes, if the system tells."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1e9 if sys.platform == "darwin" else 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


MOST_GROWTH = 0.4
GROWTH = Growth()


def let_go() -> None:
    """Drop what the tests of some files left behind, and set apart what stays."""
    jax: Any = sys.modules.get("jax")
    if jax is not None and GROWTH.is_large():
        jax.clear_caches()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)  # after the fixtures of the file
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Begin the next file with empty hands."""
    if nextitem is None or nextitem.path != item.path:
        let_go()


def pytest_runtest_setup() -> None:
    """Let PyTorch's compiler not time its guards, a third of a small compilation."""
    guards: Any = sys.modules.get("torch._dynamo.guards")
    if guards is not None:
        guards.profile_guard_manager = lambda *_: 0.0
