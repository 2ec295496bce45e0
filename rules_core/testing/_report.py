"""The report of a tester: a list of checks that prints as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NoReturn, final

from rules_core._base.shown import escaped, html_of_table

from ._failure import failure_text

__all__ = [
    "RESTS_ON",
    "WATCHERS",
    "Check",
    "CheckFailed",
    "Failure",
    "NotRun",
    "Refused",
    "Report",
    "Status",
]

Status = Literal["passed", "failed", "not run", "refused"]
RESTS_ON = "rests on "


@final
@dataclass(frozen=True, slots=True)
class Check:
    """One line of a report.

    Attributes:
        name: Stable name, such as `"rrule.derivative"` or `"jax: jit(grad)"`.
        status: `"passed"`, `"failed"`, `"not run"` (nothing is known) or `"refused"`
            (the rule or the framework raises an explaining error).
        detail: The observation, or why it was not run; may have several lines.
    """

    __module__ = "rules_core.testing"

    name: str
    status: Status
    detail: str = ""

    @property
    def fault(self) -> str | None:
        """The failed prerequisite because of which this check was not run."""
        resting = self.status == "not run" and self.detail.startswith(RESTS_ON)
        return self.detail.removeprefix(RESTS_ON) if resting else None

    def __str__(self) -> str:
        return f"{self.name}: {self.status}" + (f" ({self.detail})" * bool(self.detail))


# Told of each check as soon as it has run: for progress.
WATCHERS: list[Callable[[Check], None]] = []


class Failure(Exception):
    """Raised inside a check that fails."""


class NotRun(Exception):
    """Raised inside a check that does not apply or cannot decide here."""


class Refused(Exception):
    """Raised inside a check: the rule or the framework raises an explaining error."""


class CheckFailed(AssertionError):
    """A check failed; the message shows the failed checks and the remedies.

    Attributes:
        report: The `Report`; it prints as the table of all checks.
    """

    __module__ = "rules_core.testing"

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(failure_text(report))

    def __reduce__(self) -> tuple[type[CheckFailed], tuple[Report]]:
        return CheckFailed, (self.report,)


@final
@dataclass(slots=True, repr=False)
class Report:
    """The result of a tester; prints as a table, and is false if a check failed.

    Attributes:
        title: What was tested.
        checks: One `Check` per line, in the order in which they were run.
        rules: The rules that were checked, by kind: name and place.

    >>> from rules_core.testing import Check, Report
    >>> Report("cube(2.0)", [Check("rrule.value", "passed")])
    cube(2.0): 1 passed
      passed  rrule.value
    """

    __module__ = "rules_core.testing"

    title: str
    checks: list[Check] = field(default_factory=list)
    rules: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, status: Status, detail: str = "") -> None:
        """Append one check."""
        self.checks.append(Check(name, status, detail))
        for watch in WATCHERS:
            watch(self.checks[-1])

    def __getitem__(self, name: str) -> Check:
        for check in self.checks:
            if check.name == name:
                return check
        message = f"no check is named {name!r}; there are {', '.join(self.names)}"
        raise KeyError(message)

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __bool__(self) -> bool:
        return not self.failed

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all checks."""
        return tuple(check.name for check in self.checks)

    @property
    def passed(self) -> tuple[Check, ...]:
        """Checks that held."""
        return self._with("passed")

    @property
    def failed(self) -> tuple[Check, ...]:
        """Checks that did not hold."""
        return self._with("failed")

    @property
    def not_run(self) -> tuple[Check, ...]:
        """Checks without a result; the detail says why."""
        return self._with("not run")

    @property
    def refused(self) -> tuple[Check, ...]:
        """Combinations that the rule or the framework does not support."""
        return self._with("refused")

    def _with(self, status: Status) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.status == status)

    def raise_if_failed(self) -> Report:
        """The report itself, if no check failed.

        Raises:
            CheckFailed: A check failed.
        """
        if self.failed:
            _raise(self)
        return self

    @property
    def summary(self) -> str:
        """`"12 passed, 1 failed"`."""
        groups = (self.passed, self.failed, self.not_run, self.refused)
        counts = [f"{len(group)} {group[0].status}" for group in groups if group]
        return ", ".join(counts) or "no checks"

    def __str__(self) -> str:
        return "\n".join((f"{self.title}: {self.summary}", *self._lines()))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Passed checks are folded away."""
        rows = [(c.status, c.name, c.detail) for c in self._rows()]
        other = [row for row in rows if row[0] != "passed"]
        passed = [row for row in rows if row[0] == "passed"]
        parts = [f"<p>{escaped(self.title)}: {self.summary}</p>"]
        if other:
            parts.append(html_of_table(other))
        if passed:
            title = f"<summary>{len(passed)} passed</summary>"
            parts.append(f"<details>{title}{html_of_table(passed)}</details>")
        return "".join(parts)

    def _lines(self) -> Iterator[str]:
        rows = self._rows()
        wide = max((len(check.status) for check in rows), default=0)
        broad = max((len(check.name) for check in rows), default=0)
        for check in rows:
            first, *rest = check.detail.splitlines() or [""]
            yield f"  {check.status:{wide}}  {check.name:{broad}}  {first}".rstrip()
            yield from (
                f"  {'':{wide}}  {'':{broad}}  {line}".rstrip() for line in rest
            )

    def _rows(self) -> list[Check]:
        """The lines to print: one for all checks with one failed prerequisite."""
        shown = [check for check in self.checks if check.fault is None]
        counts = Counter(check.fault for check in self.checks if check.fault)
        for fault, count in counts.items():
            rest = "rests" if count == 1 else "rest"
            shown.append(Check(f"{count} more", "not run", f"{rest} on {fault}"))
        return shown


def _raise(report: Report) -> NoReturn:
    raise CheckFailed(report)
