"""Functions that SciPy calls with iterates: what they store has no derivative."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np

import rules_core as rc
from rules_core.extend import numpy_function

__all__ = ["unwatched", "watch"]

_CALLED_BACK = frozenset(("accept_test", "callback", "take_step"))


def watch(name: str, value: Any) -> Any:
    """A setting; a function in it that stores iterates is refused in a derivative."""
    if isinstance(value, dict):
        return {k: watch(k, x) for k, x in value.items()}
    if name not in _CALLED_BACK or not callable(value):
        return value
    call = numpy_function(value)[0](())

    @wraps(value)  # SciPy reads the names of its parameters
    def watched(*args: Any, **named: Any) -> Any:
        return call(*args, *named.values())

    return watched if call is not value else value


def _has_callback(name: str, value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_callback(k, x) for k, x in value.items())
    return name in _CALLED_BACK and callable(value)


def unwatched(y: Any, settings: dict[str, Any], solver: str) -> Any:
    """A solution, which has no derivative in frameworks if a callback sees iterates."""
    return _if_unwatched(y, solver) if _has_callback("", settings) else y


@rc.primitive
def _if_unwatched(y: Any, solver: str) -> Any:
    return y


@rc.frule.define(_if_unwatched)
def if_unwatched_frule(tangents: Any, y: Any, solver: str) -> Any:
    return y, _refused(tangents[1], solver)


@rc.rrule.define(_if_unwatched)
def if_unwatched_rrule(y: Any, solver: str) -> Any:
    def if_unwatched_pullback(dy: Any) -> Any:
        return rc.NoTangent(), _refused(dy, solver), rc.NoTangent()

    return y, if_unwatched_pullback


def _refused(dy: Any, solver: str) -> Any:
    if isinstance(dy, rc.AbstractZero | np.ndarray | np.generic | float):
        return dy
    message = (
        f"{solver}: in a framework a callback gets NumPy arrays, which have no "
        "derivative: what it stored would be a constant. Leave it out, or solve "
        "outside of the function to be differentiated."
    )
    raise rc.UnsupportedError(message)
