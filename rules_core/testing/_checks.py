"""Declaring and running checks.

A check is a function that returns its observation, or raises `Failure`, `NotRun` or
`Refused`. It names its prerequisites, and is not run if one of them failed. So a wrong
rule fails only the check for its mistake, and the table shows one cause instead of ten
consequences.
"""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, final

import numpy as np

from rules_core import RulesCoreError, UnsupportedError

from ._report import RESTS_ON, Failure, NotRun, Refused, Report, Status

__all__ = ["Spec", "attempt", "execute"]

T = TypeVar("T")

# How many lines of the text of a library's error are shown.
LINES = 2
OURS = {"rules_core", "rules_autodiff", "rules_jax", "rules_torch"}
LIBRARIES = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))


@final
@dataclass(frozen=True, slots=True)
class Spec(Generic[T]):
    """A check on objects of one kind.

    Attributes:
        name: Its name in the report.
        run: The check itself.
        rests_on: Prerequisites: names of checks that must not have failed.
    """

    name: str
    run: Callable[[T], str | None]
    rests_on: tuple[str, ...] = ()


def execute(
    specs: Iterable[Spec[T]], what: T, report: Report, skip: Collection[str] = ()
) -> None:
    """Run checks in order and add a line for each to the report."""
    for spec in specs:
        status, detail = _outcome(spec, what, report, skip)
        report.add(spec.name, status, detail)


def _outcome(
    spec: Spec[T], what: T, report: Report, skip: Collection[str]
) -> tuple[Status, str]:
    if spec.name in skip:
        return "not run", "left out by skip="
    fault = _fault(spec.rests_on, report)
    if fault is not None:
        return "not run", f"{RESTS_ON}{fault}"
    return attempt(lambda: spec.run(what))


def _fault(rests_on: tuple[str, ...], report: Report) -> str | None:
    """The failed prerequisite of a check, direct or indirect."""
    for check in report:
        if check.name in rests_on:
            if check.status == "failed":
                return check.name
            if check.fault is not None:
                return check.fault
    return None


def attempt(run: Callable[[], str | None]) -> tuple[Status, str]:
    """Status and detail of one check; an unexpected error is a failure."""
    try:
        with np.errstate(all="ignore"):
            return "passed", run() or ""
    except Failure as failure:
        return "failed", str(failure)
    except NotRun as reason:
        return "not run", str(reason)
    except (Refused, UnsupportedError) as refusal:
        return "refused", str(refusal)
    except Exception as error:  # errors of a rule are its fault
        return "failed", _located(error)


def _located(error: Exception) -> str:
    """The error with the author's line that caused it, unless it is one of ours."""
    if isinstance(error, RulesCoreError):  # its text names the rule and its place
        return f"{type(error).__name__}: {error}"
    place = f"{type(error).__name__}: {_words(error)} ({_place(error)})"
    notes = getattr(error, "__notes__", ())
    # JAX adds a note to each error about the shortened traceback.
    return "\n".join((place, *(note for note in notes if not note.startswith("---"))))


def _words(error: Exception) -> str:
    """The text of an error, without the tracebacks that libraries include."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if any("Traceback (most recent call last)" in line for line in lines):
        return lines[-1]
    return "\n".join(lines[:LINES])


def _place(error: Exception) -> str:
    """The last line in a file that does not belong to a library."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not _is_library(frame.filename)]
    frame: Any = (own or frames)[-1]
    return f"{frame.filename}:{frame.lineno}"


def _is_library(file: str) -> bool:
    parts = Path(file).parts
    return (
        file.startswith(("<", *LIBRARIES))
        or "site-packages" in parts
        or not OURS.isdisjoint(parts)
    )
