"""The standard form of a distribution: what follows from a few formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

import rules_core as rc
from rules_scipy.special._arrays import exp, log, log1p, sqrt, where

from ._integrals import tail_integrals
from ._numbers import floats, plain
from ._parameters import Parameters
from ._support import known_where, support_of

__all__ = ["Formula", "Standard", "is_positive"]

Formula = Callable[..., Any]


def is_positive(*shapes: Any) -> Any:
    """Whether all of them are."""
    found = True
    for x in shapes:
        found = found & (x > 0)
    return found


@final
class Standard:
    """Functions of a distribution with location zero and scale one, and its numbers.

    Args:
        scipy: The distribution of SciPy.
        ends: The ends of its support, numbers or functions of the shapes.
        valid: Whether the shapes are in their domain.
        open_ends: The ends are outside.
        formulas: By the name of the method.
        **defaults: The parameters besides the shapes, and their values.
    """

    def __init__(
        self,
        scipy: Any,
        ends: tuple[Any, Any],
        valid: Formula,
        formulas: dict[str, Formula],
        *,
        open_ends: bool = False,
        **defaults: float,
    ) -> None:
        self.scipy, self.name, self.ends, self.valid = scipy, scipy.name, ends, valid
        self.formulas, self.open_ends = formulas, open_ends
        self.parameters = Parameters(scipy, **defaults)

    def masked(
        self, formula: Formula, z: Any, shapes: Any, known: Any, outside: Any
    ) -> Any:
        """A formula inside of the support, constants outside, NaN where not known.

        Args:
            formula: Of the point and the shapes.
            z: The point.
            shapes: The shapes.
            known: Whether the parameters are in their domain.
            outside: The values below and above.
        """
        with np.errstate(all="ignore"):
            ends = support_of(self.ends, shapes, z)
            known = known & self.valid(*shapes) & (z == z)  # noqa: PLR0124  NaN
            low, high = ends.outside(z, open_ends=self.open_ends)
            # A constant would have the derivative zero where nothing is known.
            low, high = low & known, high & known
            y = formula(where(low | high, ends.inner, z), *shapes)
            y = where(low, outside[0], where(high, outside[1], y))
            return plain(known_where(known, y))

    def beyond(self, z: Any, shapes: Any) -> Any:
        """Whether points are outside of the support, and not at its end."""
        return np.logical_or(*support_of(self.ends, shapes, z).outside(z))

    def density(self, name: str, z: Any, *shapes: Any) -> Any:
        """The density or mass, or its logarithm as `"log" + name`."""
        plain_name = name.removeprefix("log")
        if name in self.formulas:
            return self.formulas[name](z, *shapes)
        if name == plain_name:
            return exp(self.formulas["log" + name](z, *shapes))
        return log(self.formulas[plain_name](z, *shapes))

    def tail(self, name: str, z: Any, *shapes: Any) -> Any:
        """`cdf` or `sf`."""
        other = {"cdf": "sf", "sf": "cdf"}[name]
        if name in self.formulas:
            return self.formulas[name](z, *shapes)
        if "log" + name in self.formulas:
            return exp(self.formulas["log" + name](z, *shapes))
        if other in self.formulas or "log" + other in self.formulas:
            return 1 - self.tail(other, z, *shapes)
        if "middle" not in self.formulas:
            self.refuse(name)
        lower, upper = tail_integrals(self, z, shapes)
        return lower if name == "cdf" else upper

    def log_tail(self, name: str, z: Any, *shapes: Any) -> Any:
        """By the smaller one of both tails, where there is no formula."""
        if "log" + name in self.formulas:
            return self.formulas["log" + name](z, *shapes)
        other = {"cdf": "sf", "sf": "cdf"}[name]
        y, rest = self.tail(name, z, *shapes), self.tail(other, z, *shapes)
        small = y < 0.5
        return where(small, log(where(small, y, 0.5)), log1p(-where(small, 0.5, rest)))

    def number(self, name: str, args: Any, kwds: Any) -> Any:
        """A number of the distribution by its name."""
        root = name == "std"
        formula = self.formulas.get("var" if root else name) or self.refuse(name)
        _, *own = floats(*self.parameters(args, kwds))
        loc, scale, shapes = self.split(own)
        with np.errstate(all="ignore"):
            y = formula(*shapes) + 0 * (loc + sum(shapes))
            y = _with_scale(name, sqrt(y) if root else y, loc, scale)
            return plain(known_where((scale > 0) & self.valid(*shapes), y))

    def split(self, own: Any) -> tuple[Any, Any, Any]:
        """Location, scale and shapes of the values of the parameters."""
        if "scale" in self.parameters.defaults:
            return own[0], own[1], own[2:]
        return own[0], 1.0 + 0 * own[0], own[1:]

    def refuse(self, name: str) -> Any:
        """Say that there is no formula."""
        message = (
            f"scipy.stats.{self.name}.{name} must have a formula to be differentiated, "
            "and there is none here. Integrate or sum its density, or give it numbers "
            "without derivative."
        )
        raise rc.UnsupportedError(message)


def _with_scale(name: str, y: Any, loc: Any, scale: Any) -> Any:
    if name == "entropy":
        return y + log(scale)
    if name == "var":
        return scale * scale * y
    return loc + scale * y if name == "mean" else scale * y
