"""The last lines of a run: how many tests it left to the other commands."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

COMMANDS = {"full": "make test-full", "nightly": "make test-nightly"}


class Waiting:
    """Counts what was deselected, by the mark that kept it from running."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.files: set[Path] = set()

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Count, and note the files of what waits."""
        for item in items:
            marks = [
                mark for mark in ("nightly", "full") if item.get_closest_marker(mark)
            ]
            self.counts.update(marks[:1])
            if marks:
                self.files.add(item.path)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Tell the controlling process, from one that runs tests for it."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["waiting"] = dict(self.counts)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Hear it; each of the processes has collected all tests."""
        self.counts = Counter(getattr(node, "workeroutput", {}).get("waiting", {}))

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Say it."""
        for mark, command in COMMANDS.items():
            if count := self.counts[mark]:
                terminalreporter.write_line(
                    f"not run: {count} tests; `{command}` adds them"
                )


def pytest_configure(config: pytest.Config) -> None:
    """Begin to count."""
    config.pluginmanager.register(Waiting(), "waiting")
