"""Which rules of the NumPy pack its tests check: run as a program, prints the others.

Every test that asks for the fixture `check` is run with one that notes the rules it
would check. `python recorder.py quick` or `full`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import rules_core as rc
import rules_numpy  # noqa: F401  its rules are looked at
from rules_numpy._declare.arguments import name_of
from rules_numpy._declare.derivative import DECLARED, constant


class Recorder:
    """A plugin that runs the tests with `check`, of one level, without checking."""

    def __init__(self, level: str) -> None:
        self.__name__ = "recorder"  # by which the fixture finds it
        self.level = level
        self.seen: set[int] = set()
        self.cases: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [
            item
            for item in items
            if "check" in getattr(item, "fixturenames", ())
            and item.callspec.params["check"] == self.level
        ]

    def note(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note the call, and the function whose rules it finds."""
        self.cases.append((f, args, kwargs))
        calls = [kind.resolve(f, args, kwargs) for kind in (rc.frule, rc.rrule)]
        if all(call is not None for call in calls):
            self.seen.update(id(_function(call.rule)) for call in calls)


def _function(rule: rc.Rule) -> Any:
    return getattr(rule.key, "fun", rule.key)


def recorded(level: str, marks: str = "") -> Recorder:
    """What the tests of this folder with some marks check at a level."""
    recorder = Recorder(level)
    options = ["-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib"]
    options += ["-m", marks, "--repeats"]
    # This process has imported the package of pytest's plugin already.
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    folder = Path(__file__).parent
    code = pytest.main([str(folder), *options], plugins=[recorder])
    if code != pytest.ExitCode.OK:
        sys.exit(f"the tests must pass, but pytest ended with {code!r}")
    return recorder


def unchecked(level: str) -> list[str]:
    """Names of the functions with rules that no test checks, or none of every day."""
    recorder = recorded(level, "not full and not nightly" if level == "quick" else "")
    own = [r for r in rc.rules() if r.module.startswith("rules_numpy")]
    keys = {id(f): f for f in map(_function, own) if not _is_constant(f)}
    return sorted(name_of(f) for i, f in keys.items() if i not in recorder.seen)


def _is_constant(f: Any) -> bool:
    return f in DECLARED and DECLARED[f][0] is constant


if __name__ == "__main__":
    print("unchecked:", *unchecked(sys.argv[1]), sep="\n")
