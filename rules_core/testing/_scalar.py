"""`check_scalar`: rules of functions of numbers, entry by entry of the Jacobian."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Never

import numpy as np

from rules_core import RuleConfig

from ._checklist import ENTRYWISE
from ._checks import Spec, execute
from ._front import prepare
from ._leaf import Leaf
from ._modes import Mode, Pull, Push
from ._report import Failure, NotRun, Report
from ._rule import examine, has_rule
from ._subject import Subject

__all__ = ["check_scalar"]


def check_scalar(
    f: Callable[..., Any],
    /,
    *args: Any,
    fkwargs: dict[str, Any] | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    hosts: Collection[str] | None = (),
    config: RuleConfig | None = None,
    skip: Collection[str] = (),
    seed: int = 0,
    **unknown: Never,
) -> Report:
    """Check frule and rrule of a function of numbers at one point, entry by entry.

    Every unit tangent and every unit cotangent is tried, for complex numbers `1` and
    `i`: the whole real Jacobian. A real number as a complex tangent or cotangent must
    count as that number plus `0i`. If a rule is declared `holomorphic=True`, a real
    point is also moved off the real axis and checked there.

    Args:
        f: The function; both an frule and an rrule are expected.
        *args: Real or complex numbers, and static values.
        fkwargs: Keyword arguments of `f`.
        rtol: Relative tolerance, as in `check_rule`.
        atol: Absolute tolerance.
        hosts: Names of frameworks; none by default, None for all.
        config: The config for the look-up of rules.
        skip: Names of checks to leave out.
        seed: Of the random numbers.
        **unknown: An error; keyword arguments of `f` go into `fkwargs`.

    Returns:
        The report; it prints as a table.

    Raises:
        CheckFailed: A check failed.
        CheckCallError: The call cannot test anything, as in `check_rule`.

    >>> import cmath
    >>> from rules_core import scalar_rule
    >>> from rules_core.testing import check_scalar
    >>> def square(z):
    ...     return z * z
    >>> def square_partials(y, z):
    ...     return (2 * z,)
    >>> scalar_rule(square, square_partials, holomorphic=True)
    >>> check_scalar(square, 1.5)["complex-point"].status
    'passed'
    >>> bool(check_scalar(square, 1.5 - 0.5j))
    True
    """
    options = {"rtol": rtol, "atol": atol, "config": config, "seed": seed}
    more = {"fkwargs": fkwargs, "hosts": hosts, "skip": skip, **unknown}
    subject = _entrywise(prepare("check_scalar", f, args, {**options, **more}))
    options["config"] = subject.config
    report = examine(subject, "quick", hosts, skip, required=True)
    execute(_table(options), subject, report, skip)
    return report.raise_if_failed()


def _entrywise(subject: Subject) -> Subject:
    """Unit vectors instead of random ones."""
    subject.directions = list(_units(subject.space.dim) * subject.space.spans)
    subject.cotangents = list(_units(subject.out.dim))
    return subject


def _units(count: int) -> np.ndarray[Any, Any]:
    """The unit vectors as rows; in a space without any, its only vector."""
    return np.eye(count) if count else np.zeros((1, 0))


def _table(options: dict[str, Any]) -> list[Spec[Subject]]:
    def off_the_axis(subject: Subject) -> str:
        return _complex_point(subject, options)

    rests_on = tuple(f"{kind}.complex-derivative" for kind in ("rrule", "frule"))
    checks: list[Callable[[Subject], str | None]] = [
        lambda subject: _embedding(Pull(subject)),
        lambda subject: _embedding(Push(subject)),
        off_the_axis,
    ]
    return [Spec(*each, rests_on) for each in zip(ENTRYWISE, checks, strict=True)]


def _embedding(mode: Mode) -> None:
    """A real tangent of a complex number gives what `real + 0i` gives."""
    if not mode.domain.is_complex:
        message = "no tangent is complex"
        raise NotRun(message)
    if not has_rule(mode):
        message = "no such rule"
        raise NotRun(message)
    if any(leaf.shape for leaf in mode.domain.leaves):
        message = "only for numbers"
        raise NotRun(message)
    ones = [1.0 + 0j if leaf.is_complex else 1.0 for leaf in mode.domain.leaves]
    embedded = mode.domain.tangent(_joined(mode.domain.leaves, ones))
    whole = mode.read(mode.run(embedded).raw)
    bare = mode.read(mode.run(_bare(mode)).raw)
    at = mode.subject.tolerance.differs(bare, whole)
    if at is not None:
        label = mode.codomain.labels[at]
        message = f"{label}: {bare[at]} for the tangent 1.0, {whole[at]} for 1.0 + 0j"
        raise Failure(message)


def _joined(leaves: list[Leaf], numbers: list[complex]) -> Any:
    pairs = zip(leaves, numbers, strict=True)
    return np.concatenate([leaf.encode(number) for leaf, number in pairs])


def _bare(mode: Mode) -> Any:
    """The tangent 1.0 for every number, complex ones included."""
    if isinstance(mode, Pull):
        return mode.domain.map(lambda _leaf: 1.0)
    return tuple(
        1.0 if mode.domain.part(i).dim else mode.domain.part(i).tangent(())
        for i in range(len(mode.subject.primals))
    )


def _complex_point(subject: Subject, options: dict[str, Any]) -> str:
    """The rules are correct off the real axis too."""
    claims = [mode for mode in (Pull(subject), Push(subject)) if _claims(mode)]
    if not claims or subject.space.is_complex:
        message = "no rule claims holomorphic=True at a real point"
        raise NotRun(message)
    claims[0].find_missing()
    space, _ = subject.complexified(claims[0].missing)
    other = Subject(subject.f, space.primal[1:], subject.kwargs, **options)
    report = examine(_entrywise(other), "quick", (), required=True)
    if report.failed:
        raise Failure("\n".join(str(check) for check in report.failed))
    return f"at {', '.join(map(str, space.primal[1:]))}"


def _claims(mode: Mode) -> bool:
    call = mode.resolve(mode.subject.primals)
    return call is not None and getattr(call.rule.function, "holomorphic", False)
