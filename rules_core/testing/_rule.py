"""`check_rule`, `check_frule` and `check_rrule`: the front doors of the tester."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from rules_core import RuleConfig

from . import _checks_derivative as derivative
from ._checks import Spec, execute
from ._checks_batch import batches_are_right, rule_batches, shapes_are_right
from ._checks_form import (
    device_is_right,
    dtype_is_right,
    no_tangent_is_right,
    shape_is_right,
)
from ._checks_lazy import accumulates, needs_are_met, thunks_keep_their_promise
from ._checks_linear import adjoints, is_linear, repeats, zeros_are_strong
from ._checks_result import exists, implemented, returns_a_pair, value_is_right
from ._checks_second import second_order_is_right, slope_at_zero_is_right
from ._checks_writes import given_unwritten, inputs_unwritten, output_unwritten
from ._config import FiniteDifferenceConfig
from ._hosts import host_checks
from ._modes import Mode, Pull, Push
from ._reference import Reference
from ._report import NotRun, Report
from ._subject import Subject

__all__ = ["check_frule", "check_rrule", "check_rule", "examine", "has_rule"]

Level = Literal["quick", "full"]

TRIES = {"quick": 2, "full": 5}


def _moving(check: Callable[[Mode], str | None]) -> Callable[[Mode], str | None]:
    """A check that says nothing where there is nothing to differentiate."""

    def run(mode: Mode) -> str | None:
        if mode.subject.space.dim == 0 or mode.subject.out.dim == 0:
            message = "no argument has a tangent, or the value has none"
            raise NotRun(message)
        return check(mode)

    return run


def _table(kind: str) -> list[Spec[Mode]]:
    """The checks of one rule, in order, with the checks on which each rests."""
    result, shape = f"{kind}.result", f"{kind}.shape"
    slope = f"{kind}.derivative", f"{kind}.complex-derivative"
    form = result, f"{kind}.implemented", shape, f"{kind}.no-tangent"
    sorts = f"{kind}.dtype", f"{kind}.device"
    written = f"{kind}.inputs-unwritten", f"{kind}.given-unwritten"
    trusted = *form, *slope, f"{kind}.linearity", f"{kind}.strong-zeros", *written
    rows: list[tuple[str, Callable[[Mode], str | None], tuple[str, ...]]] = [
        ("result", returns_a_pair, ()),
        ("implemented", implemented, (result,)),
        ("value", value_is_right, (result,)),
        ("shape", shape_is_right, (result,)),
        ("no-tangent", no_tangent_is_right, (shape,)),
        ("dtype", dtype_is_right, (shape,)),
        ("device", device_is_right, (shape,)),
        ("inputs-unwritten", inputs_unwritten, (shape,)),
        ("given-unwritten", given_unwritten, (shape,)),
        ("output-unwritten", output_unwritten, (shape, f"{kind}.value")),
        ("cauchy-riemann", derivative.cauchy_riemann_hold, form),
        ("derivative", derivative.derivative_is_right, form),
        (
            "complex-derivative",
            derivative.complex_derivative_is_right,
            (*form, f"{kind}.cauchy-riemann"),
        ),
        ("linearity", is_linear, (*form, *slope)),
        ("strong-zeros", zeros_are_strong, (*form, *slope)),
        ("repeat", repeats, (*form, *written)),
        ("thunks", thunks_keep_their_promise, form),
        ("accumulation", accumulates, (*form, *sorts, f"{kind}.thunks")),
        ("needs", needs_are_met, (*form, *slope)),
        ("batching", rule_batches, (*form, *slope)),
        ("second-order", second_order_is_right, trusted),
        ("slope-at-zero", slope_at_zero_is_right, trusted),
    ]
    return [
        Spec(f"{kind}.{name}", _moving(run), (f"{kind}.exists", *rests_on))
        for name, run, rests_on in rows
    ]


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
) -> Report:
    """Check the rules of `f` at `args`: frule, rrule, both together, every host.

    Each check rests on others and is not run where one of those failed, so that a
    fault is reported once. What is wrong is raised; the report that is returned says
    what was *not run* and what was *refused*.

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
            and everything that hosts can do.
        hosts: Names of hosts; all that are installed by default, `()` for none.
        config: What the rules are looked up with; by default a
            `FiniteDifferenceConfig`.
        skip: Names of checks to leave out, such as `"rrule.derivative"` at a point
            where there is no derivative.
        seed: Of the random directions.

    Returns:
        The report; it prints as a table.

    Raises:
        CheckFailed: A check failed. It is an `AssertionError`; its text is the table.

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
    options = _options(fkwargs, tangents, cotangent, rtol, atol, config, seed)
    subject = _subject(f, args, level, options)
    return examine(subject, level, hosts, skip).raise_if_failed()


def examine(
    subject: Subject,
    level: Level,
    hosts: Collection[str] | None,
    skip: Collection[str] = (),
    *,
    required: bool = False,
) -> Report:
    """Run all checks on a subject; nothing is raised.

    With `required` both rules must be there, else one of them.
    """
    report = Report(subject.title)
    modes: dict[str, Mode] = {"rrule": Pull(subject), "frule": Push(subject)}
    present = {kind: mode for kind, mode in modes.items() if has_rule(mode)}
    for kind, mode in modes.items():
        if required or kind in present or (kind == "rrule" and not present):
            _run_mode(mode, report, skip)
        else:
            report.add(f"{kind}.exists", "not run", "no such rule: hosts derive it")
    _run_common(subject, present, report, skip)
    if present:
        host_checks(Reference(subject, present), level, hosts, report)
    return report


def check_rrule(f: Callable[..., Any], /, *args: Any, **options: Any) -> Report:
    """Check the rrule of `f` at `args`, in NumPy alone; options as for `check_rule`.

    Raises:
        CheckFailed: A check failed, or there is no rrule.

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
    return _check_one(Pull, f, args, **options)


def check_frule(f: Callable[..., Any], /, *args: Any, **options: Any) -> Report:
    """Check the frule of `f` at `args`, in NumPy alone; options as for `check_rule`.

    Raises:
        CheckFailed: A check failed, or there is no frule.

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
    return _check_one(Push, f, args, **options)


def _check_one(
    kind: type[Mode],
    f: Callable[..., Any],
    args: tuple[Any, ...],
    *,
    fkwargs: dict[str, Any] | None = None,
    tangents: Sequence[Any] | None = None,
    cotangent: Any = None,
    rtol: float | None = None,
    atol: float = 0.0,
    level: Level = "quick",
    config: RuleConfig | None = None,
    skip: Collection[str] = (),
    seed: int = 0,
) -> Report:
    options = _options(fkwargs, tangents, cotangent, rtol, atol, config, seed)
    mode = kind(_subject(f, args, level, options))
    report = Report(mode.subject.title)
    _run_mode(mode, report, skip)
    return report.raise_if_failed()


def _options(
    fkwargs: Any,
    tangents: Any,
    cotangent: Any,
    rtol: Any,
    atol: Any,
    config: Any,
    seed: Any,
) -> dict[str, Any]:
    return {
        "fkwargs": fkwargs,
        "tangents": tangents,
        "cotangent": cotangent,
        "rtol": rtol,
        "atol": atol,
        "config": FiniteDifferenceConfig() if config is None else config,
        "seed": seed,
    }


def _run_mode(mode: Mode, report: Report, skip: Collection[str]) -> None:
    first: Spec[Mode] = Spec(f"{mode.kind}.exists", exists)
    execute([first, *_table(mode.kind)], mode, report, skip)


def _subject(
    f: Callable[..., Any], args: tuple[Any, ...], level: Level, options: dict[str, Any]
) -> Subject:
    if level not in TRIES:
        message = f"level must be 'quick' or 'full', but got {level!r}"
        raise ValueError(message)
    return Subject(f, args, tries=TRIES[level], **options)


def has_rule(mode: Mode) -> bool:
    """Whether a rule applies at the mode's own arguments."""
    return mode.resolve(mode.subject.primals) is not None


def _run_common(
    subject: Subject, modes: dict[str, Mode], report: Report, skip: Collection[str]
) -> None:
    """Checks of both rules together, and of the shape and batch rules."""
    slopes = tuple(
        f"{kind}.{name}"
        for kind in ("rrule", "frule")
        for name in ("result", "implemented", "derivative", "complex-derivative")
    )
    adjoint: Spec[dict[str, Mode]] = Spec("adjoint", adjoints, slopes)
    execute([adjoint], modes, report, skip)
    own = Spec("shape-rule", shapes_are_right), Spec("batch-rule", batches_are_right)
    execute(own, subject, report, skip)
