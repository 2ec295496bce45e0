"""What continuous and discrete distributions have in common."""

from __future__ import annotations

from typing import Any

from ._frozen import refuse_rest_of
from ._parameters import Frozen
from ._standard import Standard

__all__ = ["Distribution"]


class Distribution:
    """A distribution of `scipy.stats` by its name.

    Attributes:
        kind: The class of frozen ones.
    """

    kind: Any

    def __init__(self, standard: Standard) -> None:
        self.standard, self.name = standard, standard.name
        self.scipy, self.shapes = standard.scipy, standard.parameters.shapes
        self.__name__ = self.__qualname__ = self.name

    def __tangent_structure__(self) -> None:
        """A constant."""

    def __repr__(self) -> str:
        return f"<distribution {self.name}>"

    def __getattr__(self, name: str) -> Any:
        """Of SciPy's, without a formula: refused."""
        return refuse_rest_of(self, name)

    def __call__(self, *args: Any, **kwds: Any) -> Frozen:
        """The distribution with these parameters."""
        frozen: Frozen = self.kind(self, args, kwds)
        return frozen

    freeze = __call__

    # numbers of a distribution

    def stats(self, *args: Any, moments: str = "mv", **kwds: Any) -> Any:
        """Mean and variance."""
        frozen: Any = self(*args, **kwds)
        return frozen.stats(moments)

    def moment(self, order: int, *args: Any, **kwds: Any) -> Any:
        """A moment about zero, of order 1 or 2."""
        frozen: Any = self(*args, **kwds)
        return frozen.moment(order)

    def mean(self, *args: Any, **kwds: Any) -> Any:
        """The mean."""
        return self.standard.number("mean", args, kwds)

    def var(self, *args: Any, **kwds: Any) -> Any:
        """The variance."""
        return self.standard.number("var", args, kwds)

    def std(self, *args: Any, **kwds: Any) -> Any:
        """The square root of the variance."""
        return self.standard.number("std", args, kwds)

    def entropy(self, *args: Any, **kwds: Any) -> Any:
        """The entropy; the differential one of a continuous distribution."""
        return self.standard.number("entropy", args, kwds)
