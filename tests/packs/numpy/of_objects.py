"""Every call that the tests check, again with arrays of objects: prints what is wrong.

Numbers in an array of objects have no tangent that anybody could return, so a rule must
refuse them, in the rule or in its pullback. `NoTangent()` or a zero for them is wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import rules_core as rc
from tests.packs.numpy.recorder import recorded


def boxed(x: Any) -> Any:
    """Arrays of floats as arrays of Python numbers."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
        return x.astype(object)
    if type(x) in (list, tuple):
        return type(x)(map(boxed, x))
    return x


def holds_objects(x: Any) -> bool:
    """Whether any array of objects stands in an argument."""
    if type(x) in (list, tuple):
        return any(map(holds_objects, x))
    return isinstance(x, np.ndarray) and x.dtype == object and x.size > 0


def calls() -> Iterator[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    """Each recorded call with one argument boxed, and with all."""
    for f, args, kw in recorded("quick").cases:
        wide = [boxed(x) for x in args]
        places = [i for i, x in enumerate(wide) if holds_objects(x)]
        if len(places) > 1:
            yield f, tuple(wide), kw
        for i in places:
            yield f, (*args[:i], wide[i], *args[i + 1 :]), kw


def of_rrule(f: Any, args: Any, kw: Any) -> str | None:
    """What the rrule says about the objects, None if it refuses."""
    _, pullback = rc.rrule(f, *args, **kw)
    cotangents = pullback(_like(f(*args, **kw)))
    return f"rrule returned {cotangents!r}"


def _like(y: Any) -> Any:
    if isinstance(y, (list, tuple)):
        return rc.Tangent(type(y), *map(_like, y))
    y = np.asarray(y)
    return np.ones(y.shape) if y.dtype.kind in "fcO" else rc.NoTangent()


def of_frule(f: Any, args: Any, kw: Any) -> str | None:
    """What the frule says about the objects, None if it refuses."""
    moved = rc.frule((rc.NoTangent(), *map(_like, args)), f, *args, **kw)
    return f"frule returned {moved[1]!r}"


def mistake(ask: Any, f: Any, args: Any, kw: Any) -> Any:
    """What is wrong; a refusal is not."""
    try:
        return ask(f, args, kw)
    except rc.UnsupportedError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _line(f: Any, kw: Any, problem: str) -> str:
    return f"{f.__name__}{kw}: {' '.join(problem.split())[:150]}"


def report() -> list[str]:
    """One line for each call that is wrong, and their number."""
    found, looked = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for f, args, kw in calls():
            try:
                f(*args, **kw)
            except Exception:
                continue  # it takes no objects
            looked += 1
            problems = (mistake(ask, f, args, kw) for ask in (of_rrule, of_frule))
            found += [_line(f, kw, problem) for problem in problems if problem]
    return [*found, f"{looked} calls"]


if __name__ == "__main__":
    print("mistakes:", *report(), sep="\n")
