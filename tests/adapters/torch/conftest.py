"""Fixtures of the tests that compile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch


@pytest.fixture
def fresh() -> Iterator[None]:
    """No program that was compiled before or is left behind."""
    torch.compiler.reset()
    yield
    torch.compiler.reset()


@pytest.fixture(
    params=["aot_eager", pytest.param("inductor", marks=pytest.mark.nightly)]
)
def backend(request: pytest.FixtureRequest) -> Any:
    """A compiler's name."""
    return request.param


@pytest.fixture
def compiled(backend: str, fresh: None) -> Callable[..., Any]:
    """`torch.compile` without any break of the graph."""
    return lambda f, **kw: torch.compile(f, fullgraph=True, backend=backend, **kw)
