"""Covering samples: the everyday part of a test with many parameters.

`@pytest.mark.covering` keeps so many cases of a parametrised test that every pair of
values of its parameters is met (`strength=1`: every value), and marks the others
`full`. A fault that needs three values at once waits for `make test-full`.

`covering(every=4)` keeps each fourth case, for a test that asks the same of many
functions. Which one it starts from follows from the test's name, so that several tests
of the same functions keep different ones, or is told: `covering(every=2, start=1)`.

`covering(each=itemgetter("f"))` keeps the first case of each value of a function of the
parameters by name: of a list of calls, one of each `f`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any
from zlib import crc32

import pytest

Row = tuple[Hashable, ...]


def covering(rows: Sequence[Row], strength: int = 2) -> list[int]:
    """Indices of rows in which every combination of `strength` values is met.

    Greedy and deterministic: always one of the rows that meet most combinations which
    none before has met; among those, one of values that were chosen least so far.

    >>> covering([("a", 1), ("a", 2), ("b", 1), ("b", 2)], strength=1)
    [0, 3]
    """
    combined = [
        set(combinations(enumerate(row), min(strength, len(row)))) for row in rows
    ]
    missing: set[Any] = set().union(*combined)
    uses: Counter[Any] = Counter()
    chosen = []
    while missing:
        gains = [len(parts & missing) for parts in combined]
        most = max(gains)
        equal = [index for index, gain in enumerate(gains) if gain == most]
        best = min(
            equal, key=lambda i: sum(uses[value] for value in enumerate(rows[i]))
        )
        uses.update(enumerate(rows[best]))
        chosen.append(best)
        missing -= combined[best]
    return sorted(chosen)


def in_turn(cases: Sequence[Any], *others: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Each case with each value of the longest of the others, which takes the rest on.

    Each two values meet, if the lengths have no common factor, or there are cases
    enough; the product is longer by the lengths of the rest.

    >>> in_turn("ab", "xy", "ijk")[:3]
    [('a', 'x', 'i'), ('a', 'y', 'j'), ('a', 'x', 'k')]
    """
    count = max(map(len, others))
    return [
        (case, *[row[i if len(row) == count else (k + i) % len(row)] for row in others])
        for k, case in enumerate(cases)
        for i in range(count)
    ]


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


def each_kth(count: int, step: int, start: int | str) -> list[int]:
    """Every `step`-th of `count` indices, from one that is told or follows from a name.

    >>> each_kth(7, 3, 1)
    [1, 4]
    """
    number = crc32(start.encode()) if isinstance(start, str) else start
    return list(range(number % min(step, count), count, step))


def first_of_each(
    cases: Sequence[Mapping[str, Any]], group: Callable[[Mapping[str, Any]], Any]
) -> set[int]:
    """Indices of the first case of each group.

    >>> first_of_each(
    ...     [{"f": abs, "x": 1}, {"f": abs, "x": 2}, {"f": max, "x": 3}],
    ...     lambda case: case["f"],
    ... )
    {0, 2}
    """
    first: dict[Hashable, int] = {}
    for index, case in enumerate(cases):
        first.setdefault(value_key(group(case)), index)
    return set(first.values())


def kept_of(cases: Sequence[pytest.Function], mark: pytest.Mark) -> set[int]:
    """Indices of the cases that run every day."""
    group = mark.kwargs.get("each")
    if group is not None:
        return first_of_each([case.callspec.params for case in cases], group)
    step = mark.kwargs.get("every")
    if step is not None:
        start = mark.kwargs.get("start", cases[0].originalname)
        return set(each_kth(len(cases), step, start))
    rows = [row_of(case) for case in cases]
    return set(covering(rows, mark.kwargs.get("strength", 2)))


def families(items: Iterable[pytest.Item]) -> dict[tuple[Any, str], list[Any]]:
    """The cases of each sampled test that no other mark keeps from the everyday run."""
    found: dict[tuple[Any, str], list[Any]] = {}
    for item in items:
        if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
            continue
        waits = any(item.get_closest_marker(name) for name in ("nightly", "full"))
        if item.get_closest_marker("covering") and not waits:
            found.setdefault((item.parent, item.originalname), []).append(item)
    return found


@pytest.hookimpl(tryfirst=True)  # before `-m` is applied
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `full` what the sample leaves out."""
    for cases in families(items).values():
        kept = kept_of(cases, cases[0].get_closest_marker("covering"))
        for index, case in enumerate(cases):
            if index not in kept:
                case.add_marker(pytest.mark.full)
