"""`check_tangent`: a type of primal has tangents that behave like vectors."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cached_property
from typing import Any, final

import numpy as np

from rules_core import (
    AbstractThunk,
    NoTangent,
    ProjectTo,
    ZeroTangent,
    accumulate,
    materialise as materialised,
    tangent_type,
    thunk,
    zero_tangent,
)

from ._checks import Spec, execute
from ._checks_writes import snapshot
from ._differences import Vector
from ._report import Failure, NotRun, Report
from ._space import Space
from ._tolerance import Tolerance

__all__ = ["check_tangent"]


def check_tangent(x: Any, /, *, seed: int = 0) -> Report:
    """Check that tangents of `x` form a vector space, as AD systems rely on.

    For authors of new types of primals: containers, arrays, registered pytrees, classes
    with `__tangent_structure__`. Checks the canonical type and zero, addition, scaling,
    accumulation, projection and pickling.

    Args:
        x: A primal of the type in question.
        seed: Of the random tangents.

    Returns:
        The report; it prints as a table.

    Raises:
        CheckFailed: A check failed.

    >>> from typing import NamedTuple
    >>> from rules_core.testing import check_tangent
    >>> class Point(NamedTuple):
    ...     x: float
    ...     y: float
    >>> check_tangent(Point(1.0, 2.0))["tangent.sum"].status
    'passed'
    """
    report = Report(f"tangents of {type(x).__name__}")
    execute(CHECKS, _Vectors(x, seed), report)
    return report.raise_if_failed()


@final
class _Vectors:
    """A primal with two random tangents and their coordinates."""

    def __init__(self, x: Any, seed: int) -> None:
        self.x, self.space = x, Space(x)
        rng = np.random.default_rng(seed)
        self.u, self.v = (self.space.random(rng) for _ in range(2))
        self.tolerance = Tolerance(self.space.eps or 2.0**-52)

    @property
    def du(self) -> Any:
        """The tangent with coordinates `u`, anew."""
        return self.space.tangent(self.u)

    @property
    def dv(self) -> Any:
        """The tangent with coordinates `v`, anew."""
        return self.space.tangent(self.v)

    @cached_property
    def exact(self) -> tuple[Vector, Vector]:
        """The coordinates as the dtypes round them."""
        return self.space.coordinates(self.du), self.space.coordinates(self.dv)

    def expect(self, tangent: Any, coordinates: Vector, what: str) -> None:
        """Fail unless a tangent has these coordinates."""
        at = self.tolerance.differs(self.space.coordinates(tangent), coordinates)
        if at is not None:
            message = f"{what} is wrong at {self.space.labels[at]}: {tangent!r}"
            raise Failure(message)


def _type(vectors: _Vectors) -> str:
    """The canonical type is right, and the zero is of that type."""
    claimed, zero = tangent_type(vectors.x), zero_tangent(vectors.x)
    if not isinstance(zero, claimed):
        message = f"zero_tangent gives {zero!r}, which is no {claimed.__name__}"
        raise Failure(message)
    if (claimed is NoTangent) != (vectors.space.dim == 0):
        message = f"tangent_type is {claimed.__name__} with {vectors.space.dim} numbers"
        raise Failure(message)
    vectors.expect(zero, np.zeros(vectors.space.dim), "zero_tangent")
    return claimed.__name__


def _needs_numbers(check: Callable[[_Vectors], None]) -> Callable[[_Vectors], None]:
    def run(vectors: _Vectors) -> None:
        if not vectors.space.dim:
            message = "the primal has no tangent"
            raise NotRun(message)
        check(vectors)

    return run


def _point(vectors: _Vectors) -> None:
    """Moved along a tangent, the primal has the coordinates of the sum."""
    space = vectors.space
    moved = space.values(space.point(space.origin + vectors.u))
    at = vectors.tolerance.differs(moved, space.origin + vectors.u)
    if at is not None:
        message = f"a rebuilt primal has {moved[at]} at {space.labels[at]}"
        raise Failure(message)


def _sum(vectors: _Vectors) -> None:
    """`du + dv`, `du - dv` and `-du`; zeros are neutral."""
    (u, v), du, dv = vectors.exact, vectors.du, vectors.dv
    vectors.expect(du + dv, u + v, "du + dv")
    vectors.expect(du - dv, u - v, "du - dv")
    vectors.expect(-du, -u, "-du")
    vectors.expect(ZeroTangent() + du, u, "ZeroTangent() + du")
    vectors.expect(zero_tangent(vectors.x) + du, u, "zero_tangent(x) + du")


def _multiple(vectors: _Vectors) -> None:
    """`2.5 du` and `du 2.5`."""
    vectors.expect(2.5 * vectors.du, 2.5 * vectors.exact[0], "2.5 * du")
    vectors.expect(vectors.du * 2.5, 2.5 * vectors.exact[0], "du * 2.5")


def _accumulation(vectors: _Vectors) -> None:
    """`accumulate(du, dv)` is the sum, and `dv` is not modified."""
    dv = vectors.dv
    before = snapshot(dv, "dv")
    total = accumulate(vectors.du, dv)
    vectors.expect(total, np.add(*vectors.exact), "accumulate(du, dv)")
    if snapshot(dv, "dv") != before:
        message = "accumulate(du, dv) writes to dv"
        raise Failure(message)


def _projection(vectors: _Vectors) -> None:
    """`P(du) = du` and `P(P(du)) = P(du)`; zeros stay zeros and thunks thunks."""
    project = ProjectTo(vectors.x)
    once = project(vectors.du)
    vectors.expect(once, vectors.exact[0], "ProjectTo(x)(du)")
    vectors.expect(project(once), vectors.exact[0], "ProjectTo(x) applied twice")
    if project(ZeroTangent()) is not ZeroTangent():
        message = "ProjectTo(x)(ZeroTangent()) must stay ZeroTangent()"
        raise Failure(message)
    lazy = project(thunk(lambda: vectors.du))
    if not isinstance(lazy, AbstractThunk):
        message = "ProjectTo(x) of a thunk must stay a thunk"
        raise Failure(message)
    vectors.expect(lazy, vectors.exact[0], "ProjectTo(x) of a thunk")


def _materialised(vectors: _Vectors) -> None:
    """A symbolic zero becomes numbers, a thunk its value."""
    zero = materialised(vectors.x, ZeroTangent())
    if not isinstance(zero, tangent_type(vectors.x)):
        message = f"materialise(x, ZeroTangent()) gives {zero!r}"
        raise Failure(message)
    vectors.expect(zero, np.zeros(vectors.space.dim), "materialise(x, ZeroTangent())")
    lazy = materialised(vectors.x, thunk(lambda: vectors.du))
    vectors.expect(lazy, vectors.exact[0], "materialise(x, thunk)")


def _pickled(vectors: _Vectors) -> None:
    """A tangent survives pickling if the primal does."""
    try:
        pickle.dumps(vectors.x)
    except Exception:
        message = "the primal cannot be pickled"
        raise NotRun(message) from None
    again = pickle.loads(pickle.dumps(vectors.du))
    vectors.expect(again, vectors.exact[0], "the pickled tangent")


CHECKS: list[Spec[_Vectors]] = [
    Spec("tangent.type", _type),
    *(
        Spec(f"tangent.{name}", _needs_numbers(check), ("tangent.type",))
        for name, check in {
            "point": _point,
            "sum": _sum,
            "multiple": _multiple,
            "accumulation": _accumulation,
            "projection": _projection,
            "materialised": _materialised,
            "pickled": _pickled,
        }.items()
    ),
]
