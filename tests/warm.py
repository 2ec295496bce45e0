"""What keeps a test among many as quick as the same test alone.

Python's collector walks whatever is alive: its cost grows with all that a process has
imported, not with what a test does. Here it leaves out what the collection of tests has
made. JAX keeps each program that it compiled: some processes grew to four gigabytes.
In everyday runs it also shares what it makes anew for each program.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from functools import cache
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
    if "not full" in config.getoption("markexpr"):
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


def share_context() -> None:
    """Let JAX lower all programs of a file in one MLIR context.

    To make a context takes 3 ms, a third of what a small program takes in all.
    """
    mlir: Any = sys.modules.get("jax._src.interpreters.mlir")
    if mlir is not None and not hasattr(mlir.make_ir_context, "cache_clear"):
        mlir.make_ir_context = cache(mlir.make_ir_context)


def drop_context() -> None:
    """Let a context go, with the types that it holds."""
    mlir: Any = sys.modules.get("jax._src.interpreters.mlir")
    clear = getattr(getattr(mlir, "make_ir_context", None), "cache_clear", None)
    if clear is not None:
        clear()


def let_go() -> None:
    """Drop what a file's tests leave behind, and set apart what stays."""
    jax: Any = sys.modules.get("jax")
    if jax is not None:
        jax.clear_caches()
    drop_context()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)  # after the fixtures of the file
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Begin the next file with empty hands."""
    if nextitem is None or nextitem.path != item.path:
        let_go()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Spare compilers what a test does not look at.

    PyTorch's then does not time its guards, a third of a small compilation.
    """
    if "not full" in item.config.getoption("markexpr"):
        share_context()
    guards: Any = sys.modules.get("torch._dynamo.guards")
    if guards is not None:
        guards.profile_guard_manager = lambda *_: 0.0
