"""Fixtures that every folder of tests shares."""

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A first call compiles, imports or waits for a busy machine. Examples are drawn anew in
# each run, so that many short ones see as much as a long one.
settings.register_profile("suite", deadline=None)
settings.register_profile("everyday", deadline=None, max_examples=25)


def pytest_configure(config: pytest.Config) -> None:
    """Draw fewer examples where what repeats others is left out."""
    everyday = "not full" in config.getoption("markexpr")
    settings.load_profile("everyday" if everyday else "suite")


def pytest_collection_finish() -> None:
    """Leave what the run holds out of the walks of the collector: 3 % of its time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def x32() -> Iterator[None]:
    """JAX in its default single precision (the suite runs in double)."""
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False):
        yield
