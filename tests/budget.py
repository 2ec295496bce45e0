"""A budget of processor time: which files cost most, and which cost too much.

`pytest --budget 480` sums the processor time of each test file (children included),
prints the dearest, and fails a run that needs more in all, or more than `--file-budget`
for one file. Processor time hardly depends on what else the machine is doing. It does
on the machine: a budget is in seconds of one on which the work of `measured` takes
`REFERENCE` seconds.
"""

from __future__ import annotations

import ast
import os
import time
from collections import defaultdict
from collections.abc import Generator
from typing import Any

import pytest

COST = "cpu"  # under this name a test's cost travels to the controlling process
MOST = 20
REFERENCE = 0.05

TOTALS: pytest.StashKey[dict[str, float]] = pytest.StashKey()
SLOWNESS: pytest.StashKey[float] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--budget` and `--file-budget`."""
    parser.addoption(
        "--budget", type=float, help="processor seconds that all tests may take"
    )
    parser.addoption(
        "--file-budget", type=float, default=40.0, help="and those of one file"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin at zero."""
    config.stash[TOTALS] = defaultdict(float)
    config.pluginmanager.register(Adding(config.stash[TOTALS]), "adding")
    if config.getoption("budget") is not None:
        config.stash[SLOWNESS] = min(measured() for _ in range(10)) / REFERENCE


def measured() -> float:
    """Processor seconds of a fixed work, of the kind that the tests do."""
    start = time.process_time()
    lines = [f"def f{n}(x, y): return [x + {n} * y, (x, y)[{n}]]" for n in range(800)]
    names = {id(node): type(node) for node in ast.walk(ast.parse("\n".join(lines)))}
    assert len(names) > len(lines)
    return time.process_time() - start


def spent() -> float:
    """Processor seconds of this process and of the children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def cost_of(holder: pytest.Item | pytest.TestReport) -> float:
    """The number that travels with a test or its report."""
    value = dict(holder.user_properties)[COST]
    assert isinstance(value, float)
    return value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Note what a test costs, with what its fixtures cost."""
    start = spent()
    item.user_properties.append((COST, start))
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, Any]:
    """Put the cost so far into the report of the last phase."""
    report = yield
    if call.when == "teardown":
        start = cost_of(item)
        report.user_properties = [(COST, spent() - start)]
    return report


class Adding:
    """Adds up, in the process that controls the others."""

    def __init__(self, totals: dict[str, float]) -> None:
        self.totals = totals

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the cost of one test to that of its file."""
        if report.when == "teardown":
            file = report.nodeid.split("::")[0]
            self.totals[file] += cost_of(report)


def dearest(totals: dict[str, float]) -> list[tuple[str, float]]:
    """Files and their costs, the highest first."""
    return sorted(totals.items(), key=lambda pair: -pair[1])


def overdrawn(config: pytest.Config) -> list[str]:
    """What is over the budget, in words."""
    whole, each = config.getoption("budget"), config.getoption("file_budget")
    if whole is None:
        return []
    slowness = config.stash[SLOWNESS]
    totals = {name: t / slowness for name, t in config.stash[TOTALS].items()}
    files = [f"{name} took {cost:.0f} s of processor time, more than {each:.0f}"
             for name, cost in dearest(totals) if cost > each]  # fmt: skip
    cost = sum(totals.values())
    return files + [f"all took {cost:.0f} s, more than {whole:.0f}"] * (cost > whole)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that is over its budget."""
    if session.exitstatus == 0 and overdrawn(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the dearest files, and what is over the budget."""
    if config.getoption("budget") is None:
        return
    totals = config.stash[TOTALS]
    terminalreporter.section(f"processor time: {sum(totals.values()):.0f} s")
    slowness = config.stash[SLOWNESS]
    terminalreporter.write_line(f"one second of a budget takes {slowness:.2f} s here")
    for name, cost in dearest(totals)[:MOST]:
        terminalreporter.write_line(f"{cost:7.1f} s  {name}")
    for line in overdrawn(config):
        terminalreporter.write_line(f"OVER BUDGET: {line}; mark its repetitions `full`")
