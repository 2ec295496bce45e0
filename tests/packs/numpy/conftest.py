"""Shared by the tests of the NumPy pack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rules_core.testing import check_rule


@pytest.fixture
def check() -> Callable[..., Any]:
    """`check(f, *args, **keywords of f)`: `check_rule` at level quick, no hosts."""

    def run(f: Any, *args: Any, **kwargs: Any) -> Any:
        return check_rule(f, *args, fkwargs=kwargs, hosts=())

    return run


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261121)
