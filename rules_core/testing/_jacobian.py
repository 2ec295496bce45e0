"""The full Jacobian of a rule and of the function: the wrong entries and a hint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ._differences import Vector
from ._modes import Mode
from ._subject import Subject
from ._tolerance import worst_of

__all__ = ["Comparison", "Indices", "by_differences", "compare"]

Indices: TypeAlias = NDArray[np.intp]

MANY_COLUMNS, MANY_ROWS = 64, 256
SMALL = 6  # matrices up to this size are printed whole


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """Two Jacobians `(m, n)` in coordinates.

    Attributes:
        rule: By the rule.
        true: By finite differences.
        error: Error bound of `true`.
        rows: Names of the value's coordinates.
        columns: Names of the arguments' coordinates.
        excess: Difference beyond the tolerance; positive is wrong.
    """

    rule: Vector
    true: Vector
    error: Vector
    rows: list[str]
    columns: list[str]
    excess: Vector

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        if not np.any(self.excess > 0):
            yield (
                "rule and finite differences disagree along a random direction, though "
                "in no single entry that was looked at"
            )
            return
        i, j = np.unravel_index(worst_of(self.excess), self.excess.shape)
        yield (
            f"worst entry ∂{self.rows[i]}/∂{self.columns[j]}: the rule gives "
            f"{self.rule[i, j]:.10g}, finite differences {self.true[i, j]:.10g} "
            f"± {self.error[i, j]:.1g}"
        )
        hint = _hint(self.rule, self.true, self.rows, self.columns)
        if hint:
            yield hint
        if max(self.rule.shape) <= SMALL:
            yield f"by the rule:\n{_matrix(self.rule)}"
            yield f"by finite differences:\n{_matrix(self.true)}"


def compare(mode: Mode) -> Comparison:
    """Both Jacobians, of the first coordinates if there are very many."""
    subject = mode.subject
    columns = np.flatnonzero(mode.implemented)[:MANY_COLUMNS]
    rows = np.arange(min(subject.out.dim, MANY_ROWS))
    rule = _by_rule(mode, rows, columns)
    true, error = by_differences(subject, columns)
    true, error = true[rows], error[rows]
    scale = np.maximum(np.abs(true), np.abs(rule))
    flat = subject.tolerance.excess(
        rule.ravel(), true.ravel(), error.ravel(), scale.ravel()
    )
    labels_in, labels_out = subject.space.labels, subject.out.labels
    return Comparison(
        rule,
        true,
        error,
        [labels_out[i] for i in rows],
        [labels_in[j] for j in columns],
        flat.reshape(rule.shape),
    )


def _by_rule(mode: Mode, rows: Indices, columns: Indices) -> Vector:
    indices = columns if mode.kind == "frule" else rows
    images = [mode.image(_unit(mode.domain.dim, int(k))) for k in indices]
    if mode.kind == "frule":
        return np.stack(images, axis=1)[rows]
    return np.stack(images)[:, columns]


def by_differences(subject: Subject, columns: Indices) -> tuple[Vector, Vector]:
    """Columns of the Jacobian by finite differences, and their errors."""
    spans = subject.space.spans
    slopes = [
        subject.slope(_unit(subject.space.dim, int(j)) * spans[j]) for j in columns
    ]
    scales = spans[columns]
    value = np.stack(
        [np.broadcast_to(s.value, subject.out.dim) for s in slopes], axis=1
    )
    error = np.stack(
        [np.broadcast_to(s.error, subject.out.dim) for s in slopes], axis=1
    )
    return value / scales, error / scales


def _unit(dim: int, k: int) -> Vector:
    vector = np.zeros(dim)
    vector[k] = 1.0
    return vector


def _matrix(matrix: Vector) -> str:
    return str(np.array2string(matrix, precision=6, suppress_small=True))


def _hint(rule: Vector, true: Vector, rows: list[str], columns: list[str]) -> str:
    """The probable mistake."""
    if np.allclose(rule, 0.0) and not np.allclose(true, 0.0):
        return "the rule gives zero throughout"
    factor = _factor(rule, true)
    if factor is not None:
        return f"the rule is {factor:.6g} times the derivative throughout"
    for name, other in _relatives(true, rows, columns):
        if other.shape == rule.shape and np.allclose(rule, other, rtol=1e-5):
            return f"the rule looks like the derivative with {name}"
    return ""


def _factor(rule: Vector, true: Vector) -> float | None:
    big = np.abs(true) > 1e-6 * np.max(np.abs(true), initial=0.0)
    if not np.any(big) or not np.all(np.isfinite(true)):
        return None
    ratios = rule[big] / true[big]
    factor = float(ratios[0])
    return factor if np.allclose(rule, factor * true, rtol=1e-5) else None


def _relatives(
    true: Vector, rows: list[str], columns: list[str]
) -> Iterator[tuple[str, Vector]]:
    """The derivative with a typical mistake."""
    left = np.where([label.endswith(".imag") for label in rows], -1.0, 1.0)
    right = np.where([label.endswith(".imag") for label in columns], -1.0, 1.0)
    yield "a conjugate forgotten or one too many", left[:, None] * true * right
    yield "its result conjugated", left[:, None] * true
    yield "its argument conjugated", true * right
    yield "its matrix transposed", true.T
