"""Fixtures that every folder of tests shares."""

from collections.abc import Iterator

import pytest


@pytest.fixture
def x32() -> Iterator[None]:
    """JAX in its default single precision (the suite runs in double)."""
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False):
        yield
