"""The text of a failed check: at most ten lines with problem, place and remedy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._cures import cure_of

if TYPE_CHECKING:
    from ._report import Check, Report

__all__ = ["failure_text"]

# Lines of detail for each check that is shown, by the number of failed checks.
DETAIL = {1: (5,), 2: (2, 2)}
MANY = (4,)  # of more than two the others are only named


def failure_text(report: Report) -> str:
    """The failed checks of a report, each with its rule and its remedy.

    >>> from rules_core.testing import Check, Report
    >>> print(failure_text(Report("f(2.0)", [Check("shape-rule", "failed", "no")])))
    f(2.0): 1 failed
      failed  shape-rule  no
              write: return ShapeDtype(shape, dtype) for each output, in its structure
      report lists every check
    """
    failed = report.failed
    details = DETAIL.get(len(failed), MANY)
    lines = [f"{report.title}: {report.summary}"]
    for check, most in zip(failed, details, strict=False):
        lines += _lines(report, check, most)
    if others := failed[len(details) :]:
        lines.append(f"  failed  {', '.join(check.name for check in others)}")
    return "\n".join((*lines, "  report lists every check"))


def _lines(report: Report, check: Check, most: int) -> Iterator[str]:
    detail = check.detail.splitlines() or [""]
    if len(detail) > most:
        detail = [*detail[: most - 1], f"{detail[most - 1]} …"]
    yield f"  failed  {check.name}  {detail[0]}".rstrip()
    yield from (f"          {line}".rstrip() for line in detail[1:])
    rules = _rules_of(report, check.name)
    if rules:
        yield f"          rule: {rules}"
    cure = cure_of(check.name)
    if cure:
        yield f"          write: {cure}"


def _rules_of(report: Report, name: str) -> str:
    """The rules of a check: one, or for cells and `adjoint` both."""
    kind = name.partition(".")[0]
    kinds = [kind] if kind in report.rules else list(report.rules)
    if kind in ("rrule", "frule") and kind not in report.rules:
        kinds = []
    return ", ".join(f"{kind} {report.rules[kind]}" for kind in kinds)
