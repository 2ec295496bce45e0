"""The subject of a test, from the arguments of `check_rule` and similar functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias, TypedDict

from rules_core import RuleConfig, SupportsMutation
from rules_core._dispatch.rule_key import describe

from ._checklist import all_names
from ._checks_writes import snapshot
from ._config import FiniteDifferenceConfig
from ._leaf import StructureMismatch
from ._misuse import CheckCallError, check_options, check_subject
from ._subject import Subject

__all__ = ["Level", "Options", "prepare"]

Level: TypeAlias = Literal["quick", "full"]

TRIES = {"quick": 2, "full": 5}
FOR_RUNNING = ("level", "hosts", "skip")


class Options(TypedDict, total=False):
    """Options of `check_rrule` and `check_frule`; those of `check_rule` but `hosts`."""

    fkwargs: dict[str, Any] | None
    tangents: Sequence[Any] | None
    cotangent: Any
    rtol: float | None
    atol: float
    level: Level
    config: RuleConfig | None
    skip: Collection[str]
    seed: int


def prepare(
    front: str, f: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]
) -> Subject:
    """The subject of a tester.

    Raises:
        CheckCallError: The call cannot test the rules of this function.
    """
    check_subject(front, f)
    check_options(front, options)
    _check_names(front, options.get("skip", ()))
    own = {name: x for name, x in options.items() if name not in FOR_RUNNING}
    if own.get("config") is None:
        own["config"] = FiniteDifferenceConfig()
    tries = TRIES[options.get("level", "quick")]
    try:
        subject = Subject(f, args, tries=tries, **own)
        _refuse_effects(subject)
    except CheckCallError:
        raise
    except Exception as error:
        error.add_note(
            f"{front} called {describe(f)} at these arguments, to know its value there."
        )
        raise
    return subject


def _check_names(front: str, skip: Collection[str]) -> None:
    """Raise an error for unknown names to skip; cells are named by the adapters."""
    names = all_names()
    for name in skip:
        if name not in names and ": " not in name:
            near = " or ".join(map(repr, get_close_matches(name, names, n=2)))
            message = (
                f"{front}: skip must name checks, but there is no {name!r}. "
                f"{f'Is it {near}?' if near else 'The report lists their names.'}"
            )
            raise CheckCallError(message)


def _refuse_effects(subject: Subject) -> None:
    """Raise an error if results do not depend on the arguments alone."""
    point = subject.space.copy()
    y = subject.call(point)
    if not isinstance(subject.config, SupportsMutation):
        _refuse_writing(subject, point)
    try:
        again = subject.out.values(y)
        same = subject.tolerance.differs(again, subject.out.origin) is None
    except StructureMismatch:
        same = False
    if not same:
        message = (
            f"{subject.title} gives another value when it is called again: it draws "
            "random numbers, keeps a state or uses up an argument. Check a function "
            "of its arguments alone."
        )
        raise CheckCallError(message)


def _refuse_writing(subject: Subject, point: tuple[Any, ...]) -> None:
    copies = subject.space.copy()
    for name, before, after in zip(subject.names, copies, point, strict=True):
        if snapshot(before, name) != snapshot(after, name):
            message = (
                f"{subject.title} writes to {name}, its argument. Check a function "
                "that works on a copy: rules leave their arguments as they are."
            )
            raise CheckCallError(message)
