"""The value that a host function had, for the pullback that computes it again.

def counted(u):
global n       # no look at what it reads shows that the value depends on it
n += 1
return n * u
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from rules_core._base.errors import UnsupportedError

__all__ = ["check_expected", "expecting", "sample"]

# Functions, samples of their results, and a label, of all pullbacks that are running.
_Expected = tuple[Sequence[Any], Sequence[Any], str]
_EXPECTED: ContextVar[tuple[_Expected, ...]] = ContextVar("expected", default=())
# So many numbers of a result are compared.
_MOST = 2**16


def sample(x: Any) -> Any:
    """A copy of some numbers of a NumPy array, evenly spread."""
    flat = x.reshape(-1)
    return flat[:: 1 + x.size // _MOST].copy()


@contextmanager
def expecting(
    functions: Sequence[Any], values: Sequence[Any], label: str
) -> Iterator[None]:
    """While a pullback runs: functions that it runs again, and samples of results."""
    around = _EXPECTED.get()
    token = _EXPECTED.set((*around, (functions, values, label)) if values else around)
    try:
        yield
    finally:
        _EXPECTED.reset(token)


def check_expected(
    f: Any, results: Iterable[Any], alike: Callable[[Any, Any], bool]
) -> None:
    """Raise an error if a function that runs again has another result than it had.

    Args:
        f: The function.
        results: NumPy arrays of its result.
        alike: Whether two arrays of one shape are equal up to rounding.

    Raises:
        UnsupportedError: It has.
    """
    own = [x for x in _EXPECTED.get() if any(f is other for other in x[0])]
    if not own:
        return
    _, values, label = own[-1]
    found = [sample(x) for x in results]
    if not all(any(_equal(x, y, alike) for y in found) for x in values):
        raise UnsupportedError(_TEXT.format(label))


_TEXT = (
    "{}: a function without a rule must have at the pullback the value that it had at "
    "the call, but it has another one: it depends on what it changes itself, on random "
    "numbers, or on something outside of the program. Give it a rule, pass what it "
    "depends on as an argument, or declare it pure=False."
)


def _equal(x: Any, y: Any, alike: Callable[[Any, Any], bool]) -> bool:
    return x.shape == y.shape and (x.tobytes() == y.tobytes() or alike(x, y))
