"""`check_rule`, `check_frule` and `check_rrule`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Never, Unpack

from rules_core import RuleConfig, RuleNotFound

from ._checklist import common_checks, rule_checks
from ._checks import execute
from ._front import Level, Options, prepare
from ._hosts import host_checks
from ._modes import Mode, Pull, Push
from ._reference import Reference
from ._report import Report
from ._subject import Subject

__all__ = ["check_frule", "check_rrule", "check_rule", "examine", "has_rule"]


UNFIT = "does not apply: "


def check_rule(
    f: Callable[..., Any],
    /,
    *args: Any,
    fkwargs: dict[str, Any] | None = None,
    tangents: Sequence[Any] | None = None,
    cotangent: Any = None,
    rtol: float | None = None,
    atol: float = 0.0,
    level: Level = "quick",
    hosts: Collection[str] | None = None,
    config: RuleConfig | None = None,
    skip: Collection[str] = (),
    seed: int = 0,
    **unknown: Never,
) -> Report:
    """Check the rules of `f` at `args`: frule, rrule, both together, every framework.

    A check is not run if a prerequisite failed, so each mistake is reported once. A
    failed check raises an error; the returned report lists the checks that were *not
    run* and those that were *refused*.

    Args:
        f: The function, primitive, method, class or instance whose rules are checked.
        *args: Its arguments; `Seeded(x, dx)` moves one along `dx` only.
        fkwargs: Keyword arguments of `f`.
        tangents: One tangent per argument, None for a random one.
        cotangent: The cotangent of the value; random by default.
        rtol: Relative tolerance; by default two thirds of the digits of the coarsest
            dtype. The error of the finite differences is added to it.
        atol: Absolute tolerance.
        level: `"quick"` tries two directions and compiles nothing; `"full"` tries five
            and all cells.
        hosts: Names of frameworks; all installed ones by default, `()` for none.
        config: The config for the look-up of rules; by default a
            `FiniteDifferenceConfig`.
        skip: Names of checks to omit, such as `"rrule.derivative"` at a point without
            derivative.
        seed: Of the random directions.
        **unknown: An error; keyword arguments of `f` go into `fkwargs`.

    Returns:
        The report; it prints as a table.

    Raises:
        CheckFailed: A check failed. It is an `AssertionError`; its text names the
            failed checks, the rule and the remedy, and its `report` is the table of all
            checks.
        CheckCallError: The call cannot test anything: `f` is not a function, is random
            or writes to its arguments; an option is invalid.

    >>> import numpy as np
    >>> from rules_core import NoTangent, primitive, rrule
    >>> from rules_core.testing import check_rule
    >>> @primitive
    ... def cube(x):
    ...     return x**3
    >>> @rrule.define(cube)
    ... def cube_rrule(x):
    ...     def cube_pullback(dy):
    ...         return NoTangent(), 3 * x**2 * dy
    ...
    ...     return cube(x), cube_pullback
    >>> report = check_rule(cube, np.array([1.0, 2.0]), hosts=())
    >>> report["rrule.derivative"].status
    'passed'
    """
    options: dict[str, Any] = {
        "fkwargs": fkwargs,
        "tangents": tangents,
        "cotangent": cotangent,
    }
    options |= {"rtol": rtol, "atol": atol, "seed": seed, "config": config}
    options |= {"level": level, "hosts": hosts, "skip": skip, **unknown}
    subject = prepare("check_rule", f, args, options)
    return examine(subject, level, hosts, skip).raise_if_failed()


def examine(
    subject: Subject,
    level: Level,
    hosts: Collection[str] | None,
    skip: Collection[str] = (),
    *,
    required: bool = False,
) -> Report:
    """Run all checks on a subject, without raising.

    With `required` both rules must exist, otherwise one of them.
    """
    report = Report(subject.title)
    modes: dict[str, Mode] = {"rrule": Pull(subject), "frule": Push(subject)}
    present = {kind: mode for kind, mode in modes.items() if has_rule(mode)}
    for kind, mode in modes.items():
        if required or kind in present or (kind == "rrule" and not present):
            _run_mode(mode, report, skip)
        else:
            report.add(f"{kind}.exists", "not run", _absent(mode))
    _run_common(subject, present, report, skip)
    if present:
        host_checks(Reference(subject, present), level, hosts, report, skip)
    return report


def check_rrule(
    f: Callable[..., Any], /, *args: Any, **options: Unpack[Options]
) -> Report:
    """Check the rrule of `f` at `args`, in NumPy alone; options as in `check_rule`.

    Raises:
        CheckFailed: A check failed, or there is no rrule.
        CheckCallError: The call cannot test anything, as in `check_rule`.

    >>> import numpy as np
    >>> from rules_core import linear_rule
    >>> from rules_core.testing import check_rrule
    >>> def total(x):
    ...     return np.sum(x)
    >>> def total_adjoint(dy, x):
    ...     return (np.full(x.shape, dy),)
    >>> linear_rule(total, total_adjoint, argnums=(0,))
    >>> bool(check_rrule(total, np.ones(3)))
    True
    """
    return _check_one(Pull, f, args, options)


def check_frule(
    f: Callable[..., Any], /, *args: Any, **options: Unpack[Options]
) -> Report:
    """Check the frule of `f` at `args`, in NumPy alone; options as in `check_rule`.

    Raises:
        CheckFailed: A check failed, or there is no frule.
        CheckCallError: The call cannot test anything, as in `check_rule`.

    >>> import numpy as np
    >>> from rules_core import frule
    >>> from rules_core.testing import check_frule
    >>> def square(x):
    ...     return x * x
    >>> @frule.define(square)
    ... def square_frule(tangents, x):
    ...     return x * x, 2 * x * tangents[1]
    >>> bool(check_frule(square, np.ones(3)))
    True
    """
    return _check_one(Push, f, args, options)


def _check_one(
    kind: type[Mode], f: Callable[..., Any], args: tuple[Any, ...], options: Options
) -> Report:
    mode = kind(prepare(f"check_{kind.kind}", f, args, options))
    report = Report(mode.subject.title)
    _run_mode(mode, report, options.get("skip", ()))
    return report.raise_if_failed()


def _run_mode(mode: Mode, report: Report, skip: Collection[str]) -> None:
    call = mode.resolve(mode.subject.primals)
    if call is not None:
        report.rules[mode.kind] = f"{call.rule.name} at {call.rule.location}"
    execute(rule_checks(mode.kind), mode, report, skip)


def has_rule(mode: Mode) -> bool:
    """Whether a rule applies at the mode's own arguments."""
    return mode.resolve(mode.subject.primals) is not None


def _absent(mode: Mode) -> str:
    """The text for a kind without a rule here; frameworks derive it."""
    subject = mode.subject
    f, args = subject.target(subject.primals)
    error = RuleNotFound.build(mode.kind, f, args, subject.kwargs, subject.config)
    reasons = [line.strip() for line in str(error).splitlines() if UNFIT in line]
    if not reasons:
        return "no such rule: frameworks derive it"
    return "\n".join(("no such rule takes this call: frameworks derive it", *reasons))


def _run_common(
    subject: Subject, modes: dict[str, Mode], report: Report, skip: Collection[str]
) -> None:
    """Checks of both rules together, and of the shape and batch rules."""
    adjoint, *side_rules = common_checks()
    execute([adjoint], modes, report, skip)
    execute(side_rules, subject, report, skip)
