"""What Qhull and trees find at points: constants, which methods and fields look up."""

from __future__ import annotations

from typing import Any, final

import numpy as np

import rules_core as rc
from rules_scipy._arrays import arrays, concrete, kept, refuse

__all__ = ["Bounded", "Facts", "fact", "found", "missing", "points_of", "rows"]


@final
class Facts:
    """SciPy's object of the numbers, a constant; None in traced code.

    Args:
        value: The object.
        name: Of the class, for errors.
    """

    def __init__(self, value: Any, name: str) -> None:
        self.value, self.name = value, name

    def __tangent_structure__(self) -> None:
        """A constant."""

    def look_up(self, what: str) -> Any:
        """An attribute of SciPy's object."""
        if self.value is None:
            refuse(
                f"{self.name}.{what}",
                "depends on numbers that are not known in traced code: make the object "
                "outside of jit, vmap and torch.func, or of constant points",
            )
        return getattr(self.value, what)


def found(cls: Any, points: Any, *args: Any, **kwargs: Any) -> Facts:
    """SciPy's object of the numbers of `points`."""
    known = concrete(rc.ignore_derivatives(points))
    made = None if known is None else _made(cls, known, args, kwargs)
    return Facts(made, cls.__name__)


def _made(cls: Any, points: Any, args: Any, kwargs: Any) -> Any:
    """Of a copy: some of SciPy's classes read the memory of the points later."""
    return cls(np.array(points), *args, **kwargs)


rc.non_differentiable(_made)


def fact(name: str) -> Any:
    """A field that is a constant."""

    def read(self: Any) -> Any:
        return _read(self.facts, name)

    read.__doc__ = f"SciPy's `{name}`, a constant."
    return property(read)


def _read(facts: Facts, name: str) -> Any:
    return facts.look_up(name)


rc.non_differentiable(_read)


def points_of(points: Any) -> Any:
    """Points as a floating array `(n, d)`."""
    [x] = arrays(points)
    if len(x.shape) != 2:
        message = "`points` should be a 2-D array"
        raise ValueError(message)
    return x


def rows(x: Any, index: Any) -> Any:
    """`x[index]` for an array of places, of NumPy."""
    return x[np.asarray(index, np.int64)]


class Bounded:
    """What objects of points have in common.

    Attributes:
        points: As they are, also after they were written to.
        first: As they were when the object was made, as what SciPy computes then.
    """

    points: Any = None
    first: Any = None

    def hold(self, points: Any) -> Any:
        """Set both; returns those as they were."""
        self.points = points_of(points)
        self.first = kept(self.points)
        return self.first

    @property
    def min_bound(self) -> Any:
        """The least coordinates."""
        return rc.array_namespace(self.first).min(self.first, axis=0)

    @property
    def max_bound(self) -> Any:
        """The greatest coordinates."""
        return rc.array_namespace(self.first).max(self.first, axis=0)

    def close(self) -> None:
        """Nothing: the object is made anew at each change."""


def missing(name: str) -> Any:
    """A field or method without a rule."""

    def read(self: Any) -> Any:
        refuse(name, "has no rule: use the other fields")

    read.__doc__ = "Not covered: an error."
    return property(read)
