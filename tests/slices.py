"""Slices of the tests that are too many for every day.

`pytest -m "full or nightly" --slice 2/6` runs the third of six parts. A test's part
follows from its name alone, so that six runs with six numbers run every test once.
"""

from __future__ import annotations

import re
from zlib import crc32

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--slice`."""
    parser.addoption(
        "--slice", metavar="K/N", help="only part K of N of the tests (K from 0)"
    )


def part_of(name: str, parts: int) -> int:
    """The part, 0 to parts − 1, to which a test belongs.

    The examples of a document are one: they go on from each other.
    """
    file, _, own = name.partition("::")
    unit = file if own.startswith("line:") else name
    return crc32(unit.encode()) % parts


def read_slice(text: str) -> tuple[int, int]:
    """`2/6` as (2, 6).

    Raises:
        pytest.UsageError: for anything that is not a part K of N, 0 ≤ K < N.
    """
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and int(part) < int(parts)):
        message = f"--slice must be K/N with 0 <= K < N, but got {text!r}"
        raise pytest.UsageError(message)
    return int(part), int(parts)


ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")


def refuse_addresses(items: list[pytest.Item]) -> None:
    """Demand names that are the same in every process.

    Raises:
        pytest.UsageError: a parameter's name holds the address of an object.
    """
    found = [item.nodeid for item in items if ADDRESS.search(item.nodeid)]
    if found:
        message = f"ids must name their parameters, not their addresses: {found[:3]}"
        raise pytest.UsageError(message)


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what belongs to other parts."""
    refuse_addresses(items)
    text = config.getoption("slice")
    if text is None:
        return
    part, parts = read_slice(text)
    kept = [item for item in items if part_of(item.nodeid, parts) == part]
    left = [item for item in items if part_of(item.nodeid, parts) != part]
    config.hook.pytest_deselected(items=left)
    items[:] = kept
