"""Rules of a test are its own; array libraries that the vocabulary must work with."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from rules_core.testing import isolated_rules


@pytest.fixture(autouse=True)
def _own_rules() -> Iterator[None]:
    with isolated_rules():
        yield


@dataclass(frozen=True)
class Backend:
    """One array library."""

    name: str
    xp: Any

    def array(self, values: Any, dtype: str = "float64") -> Any:
        """An array of this library."""
        return self.xp.asarray(np.asarray(values).tolist(), dtype=self.dtype(dtype))

    def dtype(self, name: str) -> Any:
        """A dtype of this library."""
        return getattr(self.xp, name)

    def __repr__(self) -> str:
        return self.name


def _namespace(name: str) -> Any:
    if name == "jax":
        return pytest.importorskip("jax.numpy")
    if name == "array_api_strict":
        return pytest.importorskip(name)
    pytest.importorskip(name)
    return pytest.importorskip(f"array_api_compat.{name}")


@pytest.fixture(scope="session", params=["numpy", "jax", "torch", "array_api_strict"])
def backend(request: pytest.FixtureRequest) -> Backend:
    return Backend(request.param, _namespace(request.param))
