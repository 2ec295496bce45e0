"""Tests that repeat what others run, and are dear: they wait for `make test-full`.

`repeats.txt` lists them, by measurement and not by judgement: 994 of 1,000 lines of the
sources that some everyday test runs are run by one that is not listed, and each file of
tests keeps one at least. `make repeats` measures again, which takes half an hour:

1. The everyday tests, listed ones included, run with `--note-lines`: coverage.py
   notes which test runs which lines, and what each costs.
2. `python -m tests.repeats` keeps what costs little, what runs no lines, as tests of
   pages, of types and of other processes do, and of the rest, in the order of new lines
   for their cost, what runs lines that none before has run, seven a second at least.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.budget import cost_of

LIST = Path(__file__).with_suffix(".txt")
LITTLE = 0.05  # processor seconds of a test that is kept in any case
LEAST = 7.0  # lines that none before has run, for a second
NOTES = "repeats-costs.txt"  # beside the data of coverage.py
# Examples in docstrings of packages repeat their pages and tests.
PACKAGES = "rules_core/", "engine/", "adapters/"


def read(text: str) -> dict[str, frozenset[str]]:
    """The tests by file: their names, or none where it is the whole file.

    >>> read("tests/a.py\\n  test_f\\n  test_g[1]\\nb.py\\n")
    {'tests/a.py': frozenset({'test_f', 'test_g[1]'}), 'b.py': frozenset()}
    """
    found: dict[str, set[str]] = {}
    names: set[str] = set()
    for line in text.splitlines():
        if line.startswith("  "):
            names.add(line[2:])
        elif line:
            names = found[line] = set()
    return {file: frozenset(names) for file, names in found.items()}


def is_listed(name: str, listed: Mapping[str, frozenset[str]]) -> bool:
    """Whether a list has a test, alone, with all cases of its function or its file."""
    file, _, own = name.partition("::")
    names = listed.get(file)
    if names is None:
        return False
    return not names or own in names or own.partition("[")[0] in names


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--repeats` and `--note-lines`."""
    parser.addoption("--repeats", action="store_true", help="run listed tests as well")
    parser.addoption(
        "--note-lines",
        metavar="FOLDER",
        help="note what each test runs and costs, under coverage.py; with what waits",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Mark listed tests `full`, unless they are to be measured."""
    if config.getoption("note_lines") is None and not config.getoption("repeats"):
        listed = read(LIST.read_text(encoding="utf-8"))
        for item in items:
            if is_listed(item.nodeid, listed):
                item.add_marker(pytest.mark.full)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Tell coverage.py the name of the test."""
    if item.config.getoption("note_lines") is None:
        return (yield)
    from coverage import Coverage

    measured = Coverage.current()
    if measured is None:
        message = "--note-lines needs coverage run: see make repeats"
        raise pytest.UsageError(message)
    measured.switch_context(item.nodeid)
    result = yield
    measured.switch_context("")
    return result


class Noting:
    """Writes the costs, in the process that controls the others."""

    def __init__(self, folder: str) -> None:
        self.file = Path(folder, NOTES)
        self.file.write_text("", encoding="utf-8")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the cost of one test."""
        if report.when == "teardown":
            with self.file.open("a", encoding="utf-8") as notes:
                notes.write(f"{cost_of(report):.3f}\t{report.nodeid}\n")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to note costs."""
    folder = config.getoption("note_lines")
    if folder is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Noting(folder), "noting")


# the choice


def lines_by_test(data: Path) -> dict[str, set[tuple[int, int]]]:
    """The lines of each test, each as the number of its file and its own."""
    from coverage.numbits import numbits_to_nums

    found: dict[str, set[tuple[int, int]]] = defaultdict(set)
    with sqlite3.connect(data) as base:
        names = dict(base.execute("select id, context from context"))
        rows = base.execute("select file_id, context_id, numbits from line_bits")
        for file, name, bits in rows:
            found[names[name]].update((file, n) for n in numbits_to_nums(bits))
    return found


def costs_of(notes: Path) -> dict[str, float]:
    """What each test costs."""
    lines = notes.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t", 1) for line in lines)
    return {name: float(cost) for cost, name in pairs}


def units(names: Iterable[str]) -> dict[str, list[str]]:
    """What runs or waits together: a test, or all examples of one document."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        file, _, own = name.partition("::")
        found[file if own.startswith("line:") else name].append(name)
    return found


def kept(costs: Mapping[str, float], lines: Mapping[str, set[Any]]) -> set[str]:
    """The units that run every day.

    >>> lines = {"f::a": {1}, "f::b": {1, 2}, "f::c": {2}, "f::d": {1}, "g::a": {1}}
    >>> costs = {"f::a": 0.01, "f::b": 0.1, "f::c": 0.3, "f::d": 0.3, "g::a": 0.3}
    >>> sorted(kept(costs, lines))
    ['f::a', 'f::b', 'g::a']
    """
    chosen = {n for n, cost in costs.items() if cost < LITTLE or not lines[n]}
    run = {line for name in chosen for line in lines[name]}
    rest = [name for name in costs if name not in chosen]
    queue = [(-len(lines[name] - run) / costs[name], name) for name in rest]
    heapq.heapify(queue)
    while queue:
        _, name = heapq.heappop(queue)
        worth = len(lines[name] - run) / costs[name]
        if worth < LEAST:
            continue
        if queue and worth < -queue[0][0]:  # others are worth more by now
            heapq.heappush(queue, (-worth, name))
        else:
            chosen.add(name)
            run |= lines[name]
    return chosen | set(one_of_each_file(costs, chosen))


def one_of_each_file(costs: Mapping[str, float], chosen: set[str]) -> Iterable[str]:
    """The cheapest unit of each file that would have none."""
    files: dict[str, list[str]] = defaultdict(list)
    for name in costs:
        files[name.partition("::")[0]].append(name)
    for file, names in files.items():
        is_example = names == [file] and file.startswith(PACKAGES)
        if not is_example and chosen.isdisjoint(names):
            yield min(names, key=lambda name: costs[name])


def written(left: Iterable[str], all_names: Iterable[str]) -> str:
    """The list: functions of which all cases wait are named alone."""
    waiting: dict[str, set[str]] = defaultdict(set)
    everything: dict[str, set[str]] = defaultdict(set)
    for found, names in ((waiting, left), (everything, all_names)):
        for name in names:
            found[name.partition("[")[0]].add(name)
    files: dict[str, list[str]] = defaultdict(list)
    for function, names in waiting.items():
        whole = names == everything[function]
        for name in [function] if whole else sorted(names):
            file, _, own = name.partition("::")
            files[file] += [f"  {own}"] if own else []
    return "".join(
        "\n".join([file, *sorted(names)]) + "\n"
        for file, names in sorted(files.items())
    )


def choose(folder: Path) -> str:
    """The list, of what was noted in a folder."""
    costs, lines = costs_of(folder / NOTES), lines_by_test(folder / "lines")
    groups = units(costs)
    total = {unit: sum(costs[n] for n in names) for unit, names in groups.items()}
    run = {
        unit: set().union(*(lines.get(n, set()) for n in names))
        for unit, names in groups.items()
    }
    return written(set(total) - kept(total, run), total)


if __name__ == "__main__":
    import sys

    LIST.write_text(choose(Path(sys.argv[1])), encoding="utf-8")
