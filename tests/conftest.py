"""Fixtures that every folder of tests shares."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

# A first call compiles, imports or waits for a busy machine.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


@pytest.fixture
def x32() -> Iterator[None]:
    """JAX in its default single precision (the suite runs in double)."""
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False):
        yield
