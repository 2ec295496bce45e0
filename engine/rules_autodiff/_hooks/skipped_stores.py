"""Results of earlier calls that stand where an update was skipped.

    if not np.allclose(self.x, x):
        self.x, self.value = x.copy(), f(x)
    return self.value

The skipped branch stores the last point and what was computed there. If one of the
places that it would have stored to holds nearly the numbers that its test depends on,
then the other places hold results for them: plain numbers where the derivative should
be. To read them is refused. What is stored under keys of a dict, or found by comparing
whole arrays for equality, is refused elsewhere (`caches`).
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from rules_autodiff._python.leaves import leaves
from rules_autodiff._python.values import INERT, is_float_array, is_number
from rules_autodiff._refusals import refused

from .interface import Hooks
from .stored_places import CONTAINERS, Variables, held, value_of

__all__ = ["decided"]

NEAR = 1e-3  # relative; tests of caches allow less
SHORT = 8  # entries of a list that is a record, not a log
MANY = 64  # entries of an array of which each is looked at
LOOKED_AT = 32  # entries of each container: logs of numbers grow long


def decided(
    run: Hooks, test: Any, reads: Any, if_true: Any, if_false: Any, *, depth: int = 1
) -> bool:
    """The truth of a test; notes what may be cached where a branch is skipped."""
    truth = bool(test)
    places = if_true if truth else if_false
    if places:
        frame = sys._getframe(depth)  # noqa: SLF001  (the variables of the program)
        look(run, frame.f_locals, frame.f_globals, reads, places)
    return truth


def look(
    run: Hooks, variables: Variables, outside: Variables, reads: Any, places: Any
) -> None:
    """Note, and refuse to read, what the skipped branch has stored in earlier calls."""
    stored = [x for x in held(variables, outside, places) if type(x) not in INERT]
    if not may_be_pair(stored):
        return
    compared = list(active_leaves(run, variables, outside, reads))
    if not compared:
        return
    stored = [x for x in stored if not run.is_active(x)]
    points = [x for x in stored if is_last_point(run, x, compared)]
    if not points:
        return
    results = [leaf for x in stored for leaf in results_in(x, points, compared)]
    if not results:
        return
    note(run, [*results, *(x for x in points if holds_any(x, results))])
    for name, value in variables.items():
        if id(value) in run.skipped and not isinstance(value, CONTAINERS):
            refused("skipped", name)
    for place in places:
        if place[0] == "name" and id(outside.get(place[1])) in run.skipped:
            refused("skipped", place[1])


def may_be_pair(stored: list[Any]) -> bool:
    """Whether there is room for a point and a result; a log of numbers has none."""
    if len(stored) != 1:
        return len(stored) > 1
    (x,) = stored
    if is_number(x) or isinstance(x, np.ndarray):
        return not is_number(x) and 1 < x.size <= MANY
    if not isinstance(x, CONTAINERS):
        return True
    last = next(iter(latest(x)), None)
    return 1 < len(x) <= SHORT or not isinstance(last, float)


def active_leaves(
    run: Hooks, variables: Variables, outside: Variables, reads: Any
) -> Iterator[Any]:
    """The numbers and arrays with derivatives that a test depends on."""
    for chain in reads:
        value = value_of(variables, outside, chain)
        if is_number(value) or isinstance(value, np.ndarray):
            if run.slot(value) is not None:
                yield value
        elif type(value) not in INERT:
            yield from (x for x in leaves(value) if run.slot(x) is not None)


# what is a point, and what a result


def is_last_point(run: Hooks, x: Any, compared: list[Any]) -> bool:
    """Whether something holds the numbers that a test depends on, or nearly."""
    return near_any(x, compared) or any(
        leaf is run.equal or near_any(leaf, compared) for leaf in parts(x)
    )


def results_in(x: Any, points: list[Any], compared: list[Any]) -> Iterator[Any]:
    """The numbers that stand beside the last point."""
    if any(x is p for p in points):
        if near_any(x, compared):
            return
        if isinstance(x, np.ndarray):
            yield x  # a point, and results, in one array
            return
    yield from (
        leaf for leaf in leaves(x) if is_real(leaf) and not near_any(leaf, compared)
    )


def parts(x: Any) -> Iterator[Any]:
    """What a container, a record or an array holds last; else the value itself."""
    if isinstance(x, np.ndarray):
        small = is_float_array(x) and x.size <= MANY
        yield from x[x != 0] if small else (x,)  # zeros are yet to be filled
    elif not isinstance(x, CONTAINERS):
        yield from leaves(x) or (x,)
    else:
        for part in islice(latest(x), LOOKED_AT):
            yield part
            if isinstance(part, CONTAINERS):
                yield from parts(part)


def latest(x: Any) -> Iterator[Any]:
    """The entries of a container, the last one first."""
    return reversed(dict.values(x) if isinstance(x, dict) else x)


def is_real(x: Any) -> bool:
    return is_float_array(x) or isinstance(x, float | complex | np.inexact)


def near_any(x: Any, compared: list[Any]) -> bool:
    """Whether something is nearly one of the numbers, or a part of an array."""
    return any(near(x, y) or is_part(x, y) for y in compared)


def near(x: Any, y: Any) -> bool:
    """Whether two values, or a list and an array, are nearly the same numbers."""
    if isinstance(x, float | int) and isinstance(y, float):
        return abs(x - y) <= NEAR * abs(y)
    found = as_numbers(x)
    if found is None or found.shape != np.shape(y) or 0 in found.shape:
        return False
    with np.errstate(all="ignore"):
        return bool((abs(found - y) <= NEAR * np.max(abs(y))).all())


def is_part(x: Any, y: Any) -> bool:
    """Whether each of some numbers, not zero, is nearly an entry of an array."""
    found = as_numbers(x) if np.ndim(y) else None
    if found is None or not 0 < found.size <= MANY or np.size(y) > MANY:
        return False
    flat = found.reshape(-1, 1)
    with np.errstate(all="ignore"):
        close = abs(flat - np.ravel(y)) <= NEAR * abs(flat)
    return bool(close.any(axis=1).all() and flat.any())


def as_numbers(x: Any) -> Any:
    """A number, an array or a list of numbers as an array; None for others."""
    if isinstance(x, list | tuple):
        try:
            x = np.asarray(x)
        except ValueError:  # a ragged list
            return None
    elif not (is_number(x) or is_float_array(x)):
        return None
    found = np.asarray(x)
    return found if found.dtype.kind in "fciu" else None


def holds_any(x: Any, results: list[Any]) -> bool:
    return isinstance(x, CONTAINERS) and any(
        leaf is result for leaf in leaves(x) for result in results
    )


# reading a result


def note(run: Hooks, values: list[Any]) -> None:
    """Refuse to read these values from now on."""
    if not run.skipped:
        hooks = {"getattr": run.getattr, "getitem": run.getitem}
        vars(run).update({n: partial(read, run, hook) for n, hook in hooks.items()})
    run.skipped |= {id(x): x for x in values}


def read(run: Hooks, hook: Callable[..., Any], owner: Any, key: Any) -> Any:
    value = hook(owner, key)
    if id(value) in run.skipped or id(owner) in run.skipped:
        place = f".{key}" if isinstance(key, str) else f"[{key!r}]"
        refused("skipped", f"{type(owner).__name__}{place}")
    return value
