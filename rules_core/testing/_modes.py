r"""The two rules of a function as linear maps between its spaces.

An frule is the map \(J: \dot x \mapsto \dot y\), an rrule its adjoint \(J^*: \bar y
\mapsto \bar x\). Checks of linear maps are written once, for both. Every application
runs the rule again, on copies of the arguments: a rule that modifies its inputs fails
the check for this, and no other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, final

import numpy as np

from rules_core import DerivativeNotImplemented, NoTangent, ZeroTangent, frule, rrule

from ._differences import Vector
from ._leaf import StructureMismatch
from ._nodes import DerivativeMissing
from ._override import override
from ._space import Space
from ._subject import Subject

__all__ = ["Mode", "Outcome", "Pull", "Push"]

Needs = tuple[bool, ...] | None


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """One application of a rule.

    Attributes:
        primals: The copies of the arguments that the rule received.
        y: The primal value that it returned.
        given: The tangent or cotangent that it received.
        raw: Its result.
        again: Applies it once more: this pullback, or this frule.
    """

    primals: tuple[Any, ...]
    y: Any
    given: Any
    raw: Any
    again: Callable[[Any], Any]


class Mode(ABC):
    """A rule as a linear map.

    Attributes:
        subject: The function at a point.
        missing: For each argument without an implemented derivative, the rule's
            explanation.
        units: Images of unit vectors, by their number.
    """

    kind: ClassVar[str]

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.missing: dict[int, str] = {}
        self.units: dict[int, Vector] = {}

    @property
    @abstractmethod
    def domain(self) -> Space:
        """The space of its arguments."""

    @property
    @abstractmethod
    def codomain(self) -> Space:
        """The space of its results."""

    @abstractmethod
    def resolve(self, primals: tuple[Any, ...]) -> Any:
        """The rule for these primals with its call, or None."""

    @abstractmethod
    def run(self, given: Any, needs: Needs = None, at: Any = None) -> Outcome:
        """Apply the rule to a tangent or cotangent, at the primals or at others."""

    @abstractmethod
    def value(self) -> Any:
        """The primal value that the rule returns, before later changes."""

    def image(self, coordinates: Vector) -> Vector:
        """Coordinates of the image of the tangent with these coordinates."""
        return self.read(self.run(self.domain.tangent(coordinates)).raw)

    @abstractmethod
    def read(self, raw: Any) -> Vector:
        """Coordinates of the rule's result, zero where nothing is implemented."""

    @abstractmethod
    def find_missing(self) -> None:
        """Fill in `missing`."""

    @property
    def implemented(self) -> Vector:
        """One for each coordinate of the arguments with a derivative, else zero."""
        mask = np.ones(self.subject.space.dim)
        for i in self.missing:
            mask[self.subject.space.slices[i]] = 0.0
        return mask

    def directions(self) -> list[Vector]:
        """The subject's directions, in the arguments with a derivative."""
        return [v * self.implemented for v in self.subject.directions]

    def wanted(self, call: Any) -> Needs:
        """`needs` for the arguments with a derivative; None if that is all of them.

        `needs` of a partial differ from the rule's, so the rule computes everything.
        """
        if not self.missing or isinstance(self.subject.f, partial):
            return None
        first = len(self.subject.primals) - len(call.args)
        return tuple(i + first not in self.missing for i in range(len(call.args)))


@final
class Pull(Mode):
    """An rrule: from cotangents of the value to cotangents of the arguments."""

    kind = "rrule"

    @property
    @override
    def domain(self) -> Space:
        return self.subject.out

    @property
    @override
    def codomain(self) -> Space:
        return self.subject.space

    @override
    def resolve(self, primals: tuple[Any, ...]) -> Any:
        f, args = self.subject.target(primals)
        return rrule.resolve(f, args, self.subject.kwargs, self.subject.config)

    @override
    def run(self, given: Any, needs: Needs = None, at: Any = None) -> Outcome:
        primals = self.codomain.copy() if at is None else at
        call = self.resolve(primals)
        with np.errstate(all="ignore"):
            y, pullback = call.run(needs=needs or self.wanted(call))
            pullback = call.ordered(pullback)
            return Outcome(primals, y, given, pullback(given), pullback)

    @override
    def value(self) -> Any:
        return self.resolve(self.codomain.copy()).run()[0]

    @override
    def read(self, raw: Any) -> Vector:
        entries = [NoTangent() if i in self.missing else c for i, c in enumerate(raw)]
        return self.codomain.coordinates(entries)

    @override
    def find_missing(self) -> None:
        raw = self.run(self.domain.tangent(self.subject.cotangents[0])).raw
        for i, cotangent in enumerate(raw):
            try:
                self.codomain.part(i).coordinates(cotangent)
            except DerivativeMissing as missing:
                self.missing[i] = missing.tangent.info
            except StructureMismatch:
                pass  # the shape check reports it


@final
class Push(Mode):
    """An frule: from tangents of the arguments to the tangent of the value."""

    kind = "frule"

    @property
    @override
    def domain(self) -> Space:
        return self.subject.space

    @property
    @override
    def codomain(self) -> Space:
        return self.subject.out

    @override
    def resolve(self, primals: tuple[Any, ...]) -> Any:
        f, args = self.subject.target(primals)
        return frule.resolve(f, args, self.subject.kwargs, self.subject.config)

    @override
    def run(self, given: Any, needs: Needs = None, at: Any = None) -> Outcome:
        primals = self.domain.copy() if at is None else at
        call = self.resolve(primals)
        needs = needs or self.wanted(call)

        def push(tangents: Any) -> tuple[Any, Any]:
            with np.errstate(all="ignore"):
                pair: tuple[Any, Any]
                pair = call.run(self._sparse(tangents, call), needs=needs)
                return pair

        y, dy = push(given)
        return Outcome(primals, y, given, dy, lambda tangents: push(tangents)[1])

    def _sparse(self, tangents: tuple[Any, ...], call: Any) -> tuple[Any, ...]:
        """Symbolic zeros for the missing arguments, if the rule accepts them."""
        if not call.rule.symbolic_zeros:
            return tangents
        pairs = enumerate(tangents)
        return tuple(ZeroTangent() if i in self.missing else dx for i, dx in pairs)

    @override
    def value(self) -> Any:
        return self.run(self.domain.tangent(self.subject.directions[0])).y

    @override
    def read(self, raw: Any) -> Vector:
        return self.codomain.coordinates(raw)

    @override
    def find_missing(self) -> None:
        everything = range(len(self.subject.primals))
        moving = [i for i in everything if self.subject.space.part(i).dim]
        reasons = {}
        for i in moving:
            self.missing = {j: "" for j in everything if j != i}
            tangents = self.domain.tangent(self.subject.direction(only=i))
            try:
                self.read(self.run(tangents).raw)
            except (DerivativeMissing, DerivativeNotImplemented) as missing:
                reasons[i] = missing.tangent.info
            except StructureMismatch:
                pass  # the shape check reports it
        self.missing = reasons
