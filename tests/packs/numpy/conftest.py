"""Shared by the tests of the NumPy pack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rules_core.testing import check_rule


@pytest.fixture(params=["quick", pytest.param("full", marks=pytest.mark.nightly)])
def check(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`check(f, *args, **keywords of f)`: `check_rule` without hosts."""

    def run(f: Any, *args: Any, **kwargs: Any) -> Any:
        return check_rule(f, *args, fkwargs=kwargs, hosts=(), level=request.param)

    return run
