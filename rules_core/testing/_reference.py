"""The expected results of a framework: by the rules that passed in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

import numpy as np

from ._checks_second import rate_by_value
from ._differences import Estimate, Vector
from ._jacobian import by_differences
from ._modes import Mode
from ._space import Space
from ._subject import Subject
from ._tolerance import largest

__all__ = ["Reference"]


@final
class Reference:
    """The expected results of every framework, by the rules that passed in NumPy.

    Args:
        subject: The function at a point.
        modes: Its rules.
    """

    def __init__(self, subject: Subject, modes: dict[str, Mode]) -> None:
        self.subject, self.modes = subject, modes
        missing = {i for mode in modes.values() for i in mode.missing}
        fixed = {i for i, fixed in enumerate(subject.fixed) if fixed}
        # Arguments that are not differentiated are captured.
        self.closed = missing | fixed
        everything = range(1, len(subject.primals))
        self.open = [i for i in everything if i not in self.closed]

    @property
    def function(self) -> Callable[..., Any]:
        """The primitive, or a function of its differentiated arguments."""
        handle: Callable[..., Any] | None = self.subject.handle
        assert handle is not None  # otherwise no framework runs
        if not self.closed:
            return handle
        primals, places = list(self.subject.space.plain()[1:]), self.open

        def restricted(*xs: Any, **kwargs: Any) -> Any:
            arguments = dict(zip(places, xs, strict=True))
            args = [arguments.get(i, x) for i, x in enumerate(primals, 1)]
            return handle(*args, **kwargs)

        return restricted

    def args(self, point: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
        """The differentiated arguments in a framework's form, at any point."""
        primals = self.subject.space.copy() if point is None else point
        return tuple(Space(primals[i]).plain() for i in self.open)

    def tangents(self, v: Vector) -> tuple[Any, ...]:
        """A tangent of the differentiated arguments in a framework's form."""
        space = self.subject.space
        parts = (space.part(i).like_primal(v[space.slices[i]]) for i in self.open)
        return tuple(Space(part).plain() for part in parts)

    def cotangent(self, w: Vector) -> Any:
        """A cotangent of the value in a framework's form."""
        return Space(self.subject.out.like_primal(w)).plain()

    def read(self, cotangents: Any) -> Vector:
        """Coordinates of a framework's result for the differentiated arguments."""
        pairs = zip(self.open, cotangents, strict=True)
        vectors = (self.subject.space.part(i).coordinates(c) for i, c in pairs)
        return np.concatenate([np.zeros(0), *vectors])

    @property
    def labels(self) -> list[str]:
        """Names of the coordinates of the differentiated arguments."""
        space = self.subject.space
        return [label for i in self.open for label in space.part(i).labels]

    def kept(self, vector: Vector) -> Vector:
        """The coordinates of the differentiated arguments."""
        slices = self.subject.space.slices
        return np.concatenate([np.zeros(0), *(vector[slices[i]] for i in self.open)])

    @property
    def mask(self) -> Vector:
        """One for coordinates of differentiated arguments, otherwise zero."""
        mask = np.zeros(self.subject.space.dim)
        for i in self.open:
            mask[self.subject.space.slices[i]] = 1.0
        return mask

    def push(self, v: Vector) -> tuple[Vector, Vector | float]:
        """The tangent of the value and its error bound."""
        if "frule" in self.modes:
            return self.modes["frule"].image(v), 0.0
        slope = self.subject.slope(v)
        return slope.value, slope.error

    def pull(self, w: Vector) -> tuple[Vector, float]:
        """The cotangent of the arguments and its error bound."""
        if "rrule" in self.modes:
            return self.modes["rrule"].image(w), 0.0
        value, error = self.jacobian
        return w @ value, largest(np.abs(w) @ error)

    @cached_property
    def jacobian(self) -> tuple[Vector, Vector]:
        """The whole Jacobian, by finite differences."""
        return by_differences(self.subject, np.arange(self.subject.space.dim))

    def rate(self, v: Vector, w: Vector) -> Estimate | None:
        """The derivative of the vjp along a direction; None without an rrule."""
        if "rrule" not in self.modes:
            return None
        return rate_by_value(self.modes["rrule"], w, v)
