"""Pytest's plugin: the option `--rules-level`, and fixtures for rules.

Installed with `rules_core`; pytest loads it by itself (`-p no:rules_core.testing.
pytest_plugin` leaves it out).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import rules_core
from rules_core._dispatch import registry

__all__ = ["isolated_rules", "rules_debug", "rules_level"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--rules-level`."""
    parser.getgroup("rules_core").addoption(
        "--rules-level",
        choices=("quick", "full"),
        default="quick",
        help="level of the checks of derivative rules (fixture rules_level)",
    )


@pytest.fixture
def rules_level(request: pytest.FixtureRequest) -> str:
    """The `level` for `check_rule`: `"quick"`, or what `--rules-level` says."""
    level: str = request.config.getoption("--rules-level")
    return level


@pytest.fixture
def isolated_rules() -> Iterator[None]:
    """Rules that the test defines are undone after it."""
    with registry.isolated_rules():
        yield


@pytest.fixture
def rules_debug() -> Iterator[None]:
    """Every rule that runs in the test is checked, as in `debug_mode`."""
    with rules_core.debug_mode():
        yield
