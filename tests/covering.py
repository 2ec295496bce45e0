"""Covering samples: the everyday part of a test with many parameters.

`@pytest.mark.covering` keeps so many cases of a parametrised test that every pair of
values of its parameters is met (`strength=1`: every value), and marks the others
`full`. A fault that needs three values at once waits for `make test-full`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from typing import Any

import pytest

Row = tuple[Hashable, ...]


def covering(rows: Sequence[Row], strength: int = 2) -> list[int]:
    """Indices of rows in which every combination of `strength` values is met.

    Greedy and deterministic: always the first of the rows that meet most combinations
    which none before has met.

    >>> covering([("a", 1), ("a", 2), ("b", 1), ("b", 2)], strength=1)
    [0, 3]
    """
    combined = [
        set(combinations(enumerate(row), min(strength, len(row)))) for row in rows
    ]
    missing: set[Any] = set().union(*combined)
    chosen = []
    while missing:
        gains = [len(parts & missing) for parts in combined]
        best = gains.index(max(gains))
        chosen.append(best)
        missing -= combined[best]
    return sorted(chosen)


def value_key(value: object) -> Hashable:
    """What tells a parameter's values apart: text where it says all, else identity."""
    plain = isinstance(value, (str, int, float, complex, tuple, type(None)))
    return repr(value) if plain else id(value)


def spread(value: object) -> list[Hashable]:
    """One value, or those of a parameter that holds several."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    return [value_key(part) for part in parts]


def row_of(item: pytest.Function) -> Row:
    """The values of an item's parameters, in the order of their names."""
    params = item.callspec.params
    return tuple(key for name in sorted(params) for key in spread(params[name]))


def strength_of(item: pytest.Item) -> int | None:
    """How many values at once must be met; None for a test that is not sampled."""
    mark = item.get_closest_marker("covering")
    if mark is None or not hasattr(item, "callspec"):
        return None
    return int(mark.kwargs.get("strength", 2))


def families(items: Iterable[pytest.Item]) -> dict[tuple[Any, str, int], list[Any]]:
    """The cases of each sampled test that no other mark keeps from the everyday run."""
    found: dict[tuple[Any, str, int], list[Any]] = {}
    for item in items:
        strength = strength_of(item)
        if strength is not None and not item.get_closest_marker("nightly"):
            name = getattr(item, "originalname", item.name)
            found.setdefault((item.parent, name, strength), []).append(item)
    return found


@pytest.hookimpl(tryfirst=True)  # before `-m` is applied
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `full` what the covering sample leaves out."""
    for (_, _, strength), cases in families(items).items():
        rows = [row_of(case) for case in cases]
        kept = set(covering(rows, strength))
        for index, case in enumerate(cases):
            if index not in kept:
                case.add_marker(pytest.mark.full)
