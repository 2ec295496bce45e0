"""The checks of a rule: their names, their order, and their prerequisites."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from . import (
    _checks_derivative as derivative,
    _checks_form as form,
    _checks_lazy as lazy,
    _checks_linear as linear,
    _checks_result as result,
    _checks_writes as writes,
)
from ._checks import Spec
from ._checks_annotations import takes_hosts_arrays
from ._checks_batch import batches_are_right, rule_batches, shapes_are_right
from ._checks_layout import layout_is_ignored
from ._checks_second import (
    second_order_is_right,
    slope_at_zero_is_right,
    value_keeps_its_slope,
)
from ._checks_symbolic import symbolic_zeros_are_zeros
from ._leaf import describe
from ._modes import Mode
from ._report import NotRun

__all__ = ["ENTRYWISE", "all_names", "common_checks", "rule_checks"]

Run: TypeAlias = Callable[[Mode], "str | None"]

SLOPE = ("derivative", "complex-derivative")
FORM = ("result", "implemented", "shape", "no-tangent")
OWNED = ("inputs-unwritten", "given-unwritten")
LINEAR = (*FORM, *SLOPE, "linearity", "strong-zeros", *OWNED)


def _with_leaves(check: Run) -> Run:
    """A check that needs something with a tangent on both sides."""

    def run(mode: Mode) -> str | None:
        subject = mode.subject
        if not subject.out.leaves:
            message = f"the value has no tangent: it is {describe(subject.y)}"
            raise NotRun(message)
        if not subject.space.leaves:
            arguments = ", ".join(map(describe, subject.primals[1:]))
            message = f"no argument has a tangent: there are {arguments or 'none'}"
            raise NotRun(message)
        return check(mode)

    return run


def _with_numbers(check: Run) -> Run:
    """A check that needs at least one number on both sides."""

    def run(mode: Mode) -> str | None:
        if not mode.domain.dim or not mode.codomain.dim:
            message = "there is no number to differentiate"
            raise NotRun(message)
        return check(mode)

    return run


# Name, check, and the checks that must not have failed.
ALWAYS: list[tuple[str, Run, tuple[str, ...]]] = [
    ("result", result.returns_a_pair, ()),
    ("annotations", takes_hosts_arrays, ()),
    ("value", result.value_is_right, ("result",)),
    ("inputs-unwritten", writes.inputs_unwritten, ("result", "implemented", "shape")),
    ("views", writes.views_are_the_functions, ("value", "inputs-unwritten")),
]
WITH_LEAVES: list[tuple[str, Run, tuple[str, ...]]] = [
    ("implemented", result.implemented, ("result",)),
    ("shape", form.shape_is_right, ("result", "implemented")),
    ("no-tangent", form.no_tangent_is_right, ("shape",)),
    ("dtype", form.dtype_is_right, ("shape",)),
    ("device", form.device_is_right, ("shape",)),
    ("given-unwritten", writes.given_unwritten, ("shape",)),
    ("output-unwritten", writes.output_unwritten, ("shape", "value")),
]
WITH_NUMBERS: list[tuple[str, Run, tuple[str, ...]]] = [
    ("cauchy-riemann", derivative.cauchy_riemann_hold, FORM),
    ("linearity", linear.is_linear, FORM),
    ("derivative", derivative.derivative_is_right, (*FORM, "linearity")),
    (
        "complex-derivative",
        derivative.complex_derivative_is_right,
        (*FORM, "linearity", "cauchy-riemann"),
    ),
    ("strong-zeros", linear.zeros_are_strong, (*FORM, *SLOPE)),
    ("symbolic-zeros", symbolic_zeros_are_zeros, (*FORM, *SLOPE, "strong-zeros")),
    ("repeat", linear.repeats, (*FORM, *OWNED, "value", "output-unwritten")),
    ("layout", layout_is_ignored, (*FORM, *SLOPE, *OWNED, "value")),
    ("thunks", lazy.thunks_keep_their_promise, FORM),
    (
        "accumulation",
        lazy.accumulates,
        (*FORM, *SLOPE, "dtype", "device", "repeat", "thunks"),
    ),
    ("needs", lazy.needs_are_met, (*FORM, *SLOPE)),
    ("batching", rule_batches, (*FORM, *SLOPE)),
    ("second-order", second_order_is_right, LINEAR),
    ("slope-at-zero", slope_at_zero_is_right, LINEAR),
    ("value-slope", value_keeps_its_slope, (*LINEAR, "value")),
]


def rule_checks(kind: str) -> list[Spec[Mode]]:
    """The checks of an `"rrule"` or an `"frule"`, in order."""
    rows = [
        *ALWAYS[:1],
        *(
            (name, _with_leaves(run), rests_on)
            for name, run, rests_on in WITH_LEAVES[:2]
        ),
        *ALWAYS[1:],
        *(
            (name, _with_leaves(run), rests_on)
            for name, run, rests_on in WITH_LEAVES[2:]
        ),
        *((name, _with_numbers(run), rests_on) for name, run, rests_on in WITH_NUMBERS),
    ]
    specs: list[Spec[Mode]] = [Spec(f"{kind}.exists", result.exists)]
    for name, run, rests_on in rows:
        if (kind, name) == ("frule", "output-unwritten"):
            continue  # an frule returns its value last: nothing can write to it
        below = tuple(f"{kind}.{other}" for other in ("exists", *rests_on))
        specs.append(Spec(f"{kind}.{name}", run, below))
    return specs


def common_checks() -> list[Spec[Any]]:
    """The check of both rules together, and those of the shape and batch rules."""
    below = tuple(
        f"{kind}.{name}"
        for kind in ("rrule", "frule")
        for name in ("result", "implemented", *SLOPE)
    )
    return [
        Spec("adjoint", linear.adjoints, below),
        Spec("shape-rule", shapes_are_right),
        Spec("batch-rule", batches_are_right),
    ]


# What `check_scalar` adds.
ENTRYWISE = ("rrule.embedding", "frule.embedding", "complex-point")


def all_names() -> tuple[str, ...]:
    """Names of all checks that run without a framework."""
    specs = [*rule_checks("rrule"), *rule_checks("frule"), *common_checks()]
    return (*(spec.name for spec in specs), *ENTRYWISE)
