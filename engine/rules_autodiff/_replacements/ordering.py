"""Sorting, heaps, searching: a user's own comparison is lifted."""

import bisect
import heapq
import operator
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

from rules_autodiff._hooks.access import as_index, compares
from rules_autodiff._hooks.close_calls import found_key
from rules_autodiff._hooks.special_methods import Ordered, is_asked, is_less, same
from rules_autodiff._own_rules.own_rule import CORE, CoreRule, given
from rules_autodiff._python.handlers import HANDLERS, handler
from rules_autodiff._python.values import is_number

from .iteration import followed

__all__: list[str] = []


def keys_of(run: Any, items: list[Any], key: Any) -> list[Any]:
    """The keys for comparing the items."""
    return items if key is None else [run.call(key, item) for item in items]


def in_order(run: Any, items: list[Any], key: Any, reverse: Any = False) -> list[Any]:
    """The items in the order of `sorted`."""
    keys = keys_of(run, items, key)
    if any(map(is_asked, keys)):
        keys = [Ordered(run, value) for value in keys]
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
    return [items[i] for i in order]


@handler(sorted)
def handle_sorted(
    run: Any, iterable: Any, *, key: Any = None, reverse: Any = False
) -> list[Any]:
    return in_order(run, list(run.starred(iterable)), key, reverse)


@handler(list.sort)
def handle_sort(run: Any, owner: Any, *, key: Any = None, reverse: Any = False) -> None:
    run.changing(owner)
    list.__setitem__(owner, slice(None), in_order(run, list(owner), key, reverse))


def reduction(native: Any, name: str) -> Callable[..., Any]:
    """`min` and `max`; equal numbers share the derivative equally."""

    def handle(run: Any, *args: Any, key: Any = None, **default: Any) -> Any:
        items = list(run.iter(args[0])) if len(args) == 1 else list(args)
        if not items or key is not None or not all(map(is_compared, items)):
            return best_of(run, native, name, items, key, default)
        best = native(items)
        equal = [item for item in items if item == best]
        ties = equal[1:]  # one number given twice counts twice
        if all(item is best for item in equal) or not run.is_active(equal):
            return best
        return run.core(tied, (best, *ties))

    return handle


def tied(best: Any, *ties: Any) -> Any:
    """The first of equal numbers, of the class that has a derivative."""
    del ties
    return best * 1.0


def tied_rrule(needs: Any, *numbers: Any) -> Any:
    def tied_pullback(dy: Any) -> Any:
        share = dy / len(needs)
        return tuple([share if need else None for need in needs])

    return tied(*numbers), tied_pullback


def tied_frule(tangents: Any, *numbers: Any) -> Any:
    dy: Any = 0.0
    for dx in tangents:
        if given(dx):
            dy += dx
    return tied(*numbers), dy / len(numbers)


CORE[tied] = CoreRule(tied, tied_rrule, tied_frule)


@handler(tied)
def handle_tied(run: Any, *args: Any) -> Any:
    return run.core(tied, args)


def is_compared(x: Any) -> bool:
    """Whether a value is a number, integers included: `max(x, 0)`."""
    return is_number(x) or type(x) is int


def best_of(
    run: Any, native: Any, name: str, items: Any, key: Any, default: Any
) -> Any:
    """`min` or `max` of any objects, by keys."""
    keys = keys_of(run, items, key)
    if not any(map(is_asked, keys)):
        places = native(range(len(items)), key=keys.__getitem__, default=None)
        return native(items, **default) if places is None else items[places]
    best = 0
    for place in range(1, len(items)):
        if run.truth(run.comparison(name, keys[place], keys[best])):
            best = place
    return items[best]


HANDLERS[min] = reduction(min, "lt")
HANDLERS[max] = reduction(max, "gt")


# heaps


def heaping(f: Any) -> Callable[..., Any]:
    """A function that moves the items of a heap."""

    def handle(run: Any, heap: Any, *items: Any) -> Any:
        run.changing(heap)
        if not any(map(is_asked, (*heap, *items))):
            return f(heap, *items)
        standing = [Ordered(run, value) for value in heap]
        try:
            result = f(standing, *(Ordered(run, item) for item in items))
        finally:
            list.__setitem__(heap, slice(None), [each.value for each in standing])
        return result.value if isinstance(result, Ordered) else result

    return handle


for _heap in (
    heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop,
):  # fmt: skip
    HANDLERS[_heap] = heaping(_heap)


def first_ones(f: Any) -> Callable[..., Any]:
    """`heapq.nlargest(n, items, key)`."""

    def handle(run: Any, n: Any, items: Any, key: Any = None) -> Any:
        standing = [Ordered(run, item) for item in run.iter(items)]
        by = key and (lambda each: standing_for(run, run.call(key, each.value)))
        return [each.value for each in f(n, standing, by)]

    return handle


def standing_for(run: Any, value: Any) -> Any:
    """The key for comparing a value."""
    return Ordered(run, value) if is_asked(value) else value


for _few in (heapq.nlargest, heapq.nsmallest):
    HANDLERS[_few] = first_ones(_few)


@handler(heapq.merge)
def handle_merge(run: Any, *items: Any, key: Any = None, reverse: bool = False) -> Any:
    call = followed(run, key)

    def standing(item: Any) -> Any:
        return standing_for(run, item if call is None else call(item))

    return heapq.merge(*map(run.iter, items), key=standing, reverse=reverse)


# searching


@handler(bisect.bisect_right)
def handle_bisect_right(
    run: Any, a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None
) -> int:
    lo, hi = bounds(run, a, lo, hi)
    while lo < hi:
        middle = (lo + hi) // 2
        if is_less(run, x, key_of(run, a, middle, key)):
            hi = middle
        else:
            lo = middle + 1
    return lo


@handler(bisect.bisect_left)
def handle_bisect_left(
    run: Any, a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None
) -> int:
    lo, hi = bounds(run, a, lo, hi)
    while lo < hi:
        middle = (lo + hi) // 2
        if is_less(run, key_of(run, a, middle, key), x):
            lo = middle + 1
        else:
            hi = middle
    return lo


def bounds(run: Any, a: Any, lo: Any, hi: Any) -> tuple[int, int]:
    """The bounds of a search."""
    start = operator.index(as_index(run, lo))
    if start < 0:
        message = "lo must be non-negative"
        raise ValueError(message)
    end = run.call(len, a) if hi is None else as_index(run, hi)
    return start, operator.index(end)


def key_of(run: Any, a: Any, place: int, key: Any) -> Any:
    """The key for comparing an item."""
    item = run.getitem(a, place)
    return item if key is None else run.call(key, item)


def inserting(search: Any) -> Callable[..., Any]:
    """`bisect.insort`: searches the place by the key of the item."""

    def handle(
        run: Any, a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None
    ) -> None:
        own = x if key is None else run.call(key, x)
        run.method(a, "insert", search(run, a, own, lo, hi, key=key), x)

    return handle


HANDLERS[bisect.insort_right] = inserting(handle_bisect_right)
HANDLERS[bisect.insort_left] = inserting(handle_bisect_left)


@handler(list.index, tuple.index, deque.index)
def handle_index(
    run: Any, owner: Any, item: Any, start: int = 0, stop: int = sys.maxsize
) -> int:
    if not compares(item, owner):
        place = int(type(owner).index(owner, item, start, stop))
        found_key(run, item)
        return place
    for place in range(*slice(start, stop).indices(len(owner))):
        if same(run, owner[place], item):
            return place
    message = "the value is not in the sequence"
    raise ValueError(message)


@handler(list.count, tuple.count, deque.count)
def handle_count(run: Any, owner: Any, item: Any) -> int:
    return sum(same(run, value, item) for value in list(owner))


@handler(operator.countOf)
def handle_count_of(run: Any, items: Any, item: Any) -> int:
    return sum(same(run, value, item) for value in run.iter(items))


@handler(operator.indexOf)
def handle_index_of(run: Any, items: Any, item: Any) -> int:
    return int(handle_index(run, list(run.iter(items)), item))


@handler(list.remove, deque.remove)
def handle_remove(run: Any, owner: Any, item: Any) -> None:
    place = handle_index(run, owner, item)
    run.changing(owner)
    del owner[place]
