"""The support matrix: the rule in every cell of every installed framework."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from rules_core import RuleSkippedWarning
from rules_core._base.frameworks import load_adapter
from rules_core._dispatch.registry import find_table
from rules_core._primitives.find_host import adapters
from rules_core._rules.lookup import unwrap

from ._cells import Cell
from ._checks import Spec, execute
from ._differences import Vector
from ._leaf import StructureMismatch, dtype_of
from ._reference import Reference
from ._report import Failure, NotRun, Report
from ._space import Space
from ._tolerance import Tolerance, largest, worst

__all__ = ["host_checks", "installed"]

EXAMPLES, SPREAD = 3, 2.0**-7
# A second derivative is compared with a finite difference of a first one.
SECOND = 1e-7


def installed() -> dict[str, str]:
    """Frameworks with an adapter: name → root module of its types."""
    first: dict[str, str] = {}
    for root, where in adapters().items():
        first.setdefault(where, root)
    return {root: root for root in first.values()}


def host_checks(
    reference: Reference,
    level: str,
    hosts: Collection[str] | None,
    report: Report,
    skip: Collection[str] = (),
) -> None:
    """Run every cell of every selected framework."""
    adapters = installed()
    for host in adapters if hosts is None else hosts:
        reason = _obstacle(host, adapters, reference)
        if reason is not None:
            report.add(f"{host}: all", "not run", reason)
            continue
        cells = load_adapter(adapters[host]).cells(level)
        execute(_specs(host, cells), reference, report, skip)


def _obstacle(host: str, known: Collection[str], reference: Reference) -> str | None:
    if host not in known:
        return f"no adapter for {host!r}; there are {', '.join(known) or 'none'}"
    if find_spec(host) is None:
        return f"{host} is not installed"
    if reference.subject.handle is None:
        return "not a primitive: test rules_core.primitive(f, …) instead"
    if not reference.open:
        return "no argument is left to differentiate"
    return None


def _specs(host: str, cells: Any) -> Iterator[Spec[Reference]]:
    for cell in cells:
        yield Spec(f"{host}: {cell.name}", _check(cell), RESTS_ON[cell.kind])


def _check(cell: Cell) -> Callable[[Reference], None]:
    def check(reference: Reference) -> None:
        with _no_rule_is_skipped(reference):
            CHECKS[cell.kind](reference, cell.run)

    return check


@contextmanager
def _no_rule_is_skipped(reference: Reference) -> Iterator[None]:
    """Fail if the framework differentiates the function itself instead of its rules."""
    table = find_table(unwrap(reference.subject.f)[0].key)
    told = set() if table is None else table.told
    before = set(told)
    told.clear()  # a warning is given once per combination of types
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RuleSkippedWarning)
            yield
    finally:
        told |= before
    _tell(caught)


def _tell(caught: list[warnings.WarningMessage]) -> None:
    """Fail for skipped rules; issue other warnings again."""
    for warning in caught:
        if issubclass(warning.category, RuleSkippedWarning):
            said, *_, cure = str(warning.message).splitlines()
            message = f"{said}\n{cure}"
            raise Failure(message)
        warnings.warn_explicit(
            warning.message, warning.category, warning.filename, warning.lineno
        )


def _compare(
    expected: Vector,
    actual: Vector,
    labels: list[str],
    tolerance: Tolerance,
    error: Any = 0.0,
) -> None:
    at = worst(tolerance.excess(actual, expected, error))
    if at is not None:
        message = f"{labels[at]}: {actual[at]:.10g} here, {expected[at]:.10g} in NumPy"
        raise Failure(message)


def _tolerance(reference: Reference, result: Any) -> Tolerance:
    """The tolerance of the dtypes that the framework used."""
    own = reference.subject.tolerance
    return Tolerance(max(own.eps, Space(result).eps), own.rtol, own.atol)


def _value(reference: Reference, run: Callable[..., Any]) -> None:
    y = run(reference.function, reference.args(), reference.subject.kwargs)
    _compare_value(reference, y, reference.subject.y)


def _compare_value(reference: Reference, y: Any, expected: Any) -> None:
    out = reference.subject.out
    try:
        actual, right = out.values(y), out.values(expected)
    except StructureMismatch as mismatch:
        raise Failure(str(mismatch)) from None
    _compare(right, actual, out.labels, _tolerance(reference, y))


def _jvp(reference: Reference, run: Callable[..., Any]) -> None:
    subject = reference.subject
    v = subject.directions[0] * reference.mask
    args, tangents = reference.args(), reference.tangents(v)
    dy = run(reference.function, args, subject.kwargs, tangents)
    expected, error = reference.push(v)
    actual = subject.out.coordinates(dy)
    _compare(expected, actual, subject.out.labels, _tolerance(reference, dy), error)


def _vjp(reference: Reference, run: Callable[..., Any]) -> None:
    subject, w = reference.subject, reference.subject.cotangents[0]
    cotangent = reference.cotangent(w)
    got = run(reference.function, reference.args(), subject.kwargs, cotangent)
    expected, error = reference.pull(w)
    tolerance = _tolerance(reference, got)
    expected, actual = reference.kept(expected), reference.read(got)
    _compare(expected, actual, reference.labels, tolerance, error)
    _same_dtypes(reference, got)


def _same_dtypes(reference: Reference, got: tuple[Any, ...]) -> None:
    """Each cotangent has the dtype of its argument, if the framework has that dtype."""
    value = reference.subject.out
    if _tolerance(reference, got).eps > reference.subject.tolerance.eps:
        return  # a framework in single precision
    for i, cotangent in zip(reference.open, got, strict=True):
        want, have = dtype_of(reference.subject.primals[i]), dtype_of(cotangent)
        if want is not None and have is not None and want != have and value.dim:
            name = reference.subject.names[i]
            message = f"{name} is {want}, its cotangent {have}"
            raise Failure(message)


def _second(reference: Reference, run: Callable[..., Any]) -> None:
    subject = reference.subject
    v, w = subject.directions[0] * reference.mask, subject.cotangents[0]
    rate = reference.rate(v, w)
    if rate is None or not rate.converged or subject.tolerance.eps > 2.0**-52:
        message = "no reference: it needs an rrule that can be differenced in float64"
        raise NotRun(message)
    tangents, cotangent = reference.tangents(v), reference.cotangent(w)
    args = reference.args(), subject.kwargs
    got = run(reference.function, *args, tangents, cotangent)
    tolerance = Tolerance(_tolerance(reference, got).eps, rtol=SECOND)
    first = largest(reference.pull(w)[0])
    expected, error = reference.kept(rate.value), reference.kept(rate.error)
    actual = reference.read(got)
    _compare(expected, actual, reference.labels, tolerance, error + SECOND * first)


def _examples(reference: Reference) -> list[Any]:
    """This point and a few others near it, as points of the whole space."""
    subject = reference.subject
    step = subject.directions[0] * reference.mask * SPREAD
    origin = subject.space.origin
    return [subject.space.point(origin + k * step) for k in range(EXAMPLES)]


def _batched(reference: Reference, run: Callable[..., Any]) -> None:
    subject, points = reference.subject, _examples(reference)
    args = [reference.args(point) for point in points]
    got = run(reference.function, args, subject.kwargs)
    for point, y in zip(points, got, strict=True):
        _compare_value(reference, y, subject.call(point))


def _batched_vjp(reference: Reference, run: Callable[..., Any]) -> None:
    subject, points = reference.subject, _examples(reference)
    if "rrule" not in reference.modes:
        message = "no rrule to compare with"
        raise NotRun(message)
    args = [reference.args(point) for point in points]
    w = subject.cotangents[0]
    weights = [(k + 1) * w for k in range(EXAMPLES)]
    cotangents = [reference.cotangent(each) for each in weights]
    got = run(reference.function, args, subject.kwargs, cotangents)
    for point, each, cotangent in zip(points, weights, got, strict=True):
        mode = reference.modes["rrule"]
        expected = mode.read(mode.run(mode.domain.tangent(each), at=point).raw)
        actual = reference.read(cotangent)
        tolerance = _tolerance(reference, cotangent)
        _compare(reference.kept(expected), actual, reference.labels, tolerance)


def _batched_jvp(reference: Reference, run: Callable[..., Any]) -> None:
    subject, points = reference.subject, _examples(reference)
    v = subject.directions[0] * reference.mask
    moves = [(k + 1) * v for k in range(EXAMPLES)]
    args = [reference.args(point) for point in points]
    tangents = [reference.tangents(move) for move in moves]
    got = run(reference.function, args, subject.kwargs, tangents)
    for point, move, dy in zip(points, moves, got, strict=True):
        expected, error = _pushed(reference, point, move)
        actual = subject.out.coordinates(dy)
        _compare(expected, actual, subject.out.labels, _tolerance(reference, dy), error)


def _pushed(reference: Reference, point: Any, v: Vector) -> tuple[Vector, Any]:
    """The tangent of the value at a point by the frule, or else by differences."""
    mode, subject = reference.modes.get("frule"), reference.subject
    if mode is not None:
        return mode.read(mode.run(mode.domain.tangent(v), at=point).raw), 0.0
    space = Space.product(point, subject.names)
    slope = subject.slope_in(space, Space(subject.call(point), "y"), v)
    if not slope.converged:
        message = "finite differences do not converge beside this point"
        raise NotRun(message)
    return slope.value, slope.error


CHECKS: dict[str, Callable[[Reference, Callable[..., Any]], None]] = {
    "value": _value,
    "jvp": _jvp,
    "vjp": _vjp,
    "second": _second,
    "batched": _batched,
    "batched_vjp": _batched_vjp,
    "batched_jvp": _batched_jvp,
}

# The prerequisites of each kind of cell.
_MODES = ("rrule", "frule")
_VALUE = (*(f"{mode}.value" for mode in _MODES), "shape-rule", "batch-rule")
_FIRST = tuple(
    f"{mode}.{name}"
    for mode in _MODES
    for name in (
        "shape", "dtype", "derivative", "complex-derivative", "linearity",
        "strong-zeros", "symbolic-zeros", "repeat", "thunks", "accumulation", "needs",
        "inputs-unwritten", "given-unwritten", "output-unwritten", "batching",
    )
)  # fmt: skip
_SECOND = tuple(
    f"{mode}.{name}"
    for mode in _MODES
    for name in ("second-order", "slope-at-zero", "value-slope")
)
RESTS_ON = {
    "value": _VALUE,
    "batched": _VALUE,
    "jvp": (*_VALUE, *_FIRST),
    "vjp": (*_VALUE, *_FIRST),
    "batched_vjp": (*_VALUE, *_FIRST),
    "batched_jvp": (*_VALUE, *_FIRST),
    "second": (*_VALUE, *_FIRST, *_SECOND),
}
