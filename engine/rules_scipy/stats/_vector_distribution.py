"""A distribution of vectors or matrices, as an object like SciPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import rules_core as rc
from rules_scipy._arrays import kept
from rules_scipy.special._arrays import exp

from ._declare import DECLARED
from ._frozen import frozen_class, refuse_rest_of
from ._numbers import plain
from ._parameters import Frozen

__all__ = ["MISSING", "Multivariate"]


@final
class Multivariate:
    """A distribution of vectors or matrices, by SciPy's names of its parameters.

    Args:
        scipy: The distribution of SciPy.
        parameters: The names of its parameters and their defaults.
        count: How many arrays a point is.
        shown: Attributes of frozen ones, of the parameters.
        **formulas: Of the parameters; densities of the point before.
    """

    def __init__(
        self,
        scipy: Any,
        parameters: dict[str, Any],
        count: int = 1,
        shown: dict[str, Any] | None = None,
        **formulas: Callable[..., Any],
    ) -> None:
        self.scipy, self.defaults, self.count = scipy, parameters, count
        self.name = type(scipy).__name__.removesuffix("_gen")
        self.__name__ = self.__qualname__ = self.name
        self.formulas, self.frozen = formulas, frozen_class(scipy, shown or {})
        DECLARED[scipy] = "covered"

    def __tangent_structure__(self) -> None:
        """A constant."""

    def __repr__(self) -> str:
        return f"<distribution {self.name}>"

    def __call__(self, *args: Any, **kwds: Any) -> Frozen:
        """The distribution with these parameters."""
        kwds.pop("seed", None)
        args, kwds = self._kept(args, kwds, _COPIED)
        frozen: Any = self.frozen(self, args, kwds)
        frozen.first = self._kept(args, kwds, _FACTORED)
        own: Frozen = frozen
        return own

    def _kept(self, args: Any, kwds: Any, names: Any) -> tuple[Any, Any]:
        """Parameters, of which later writes do not reach those of these names."""
        own = [
            kept(x) if name in names else x
            for name, x in zip(self.defaults, args, strict=False)
        ]
        rest = tuple(args[len(own) :])
        return (*own, *rest), {k: kept(x) if k in names else x for k, x in kwds.items()}

    def given(self, frozen: Frozen) -> list[Any]:
        """The parameters of a frozen distribution."""
        return self._given(frozen.args, dict(frozen.kwds))

    def __getattr__(self, name: str) -> Any:
        """Of SciPy's, without a formula: refused."""
        return refuse_rest_of(self, name)

    def _given(self, args: Any, kwds: Any) -> list[Any]:
        """The parameters in the order of the formulas."""
        names = (*self.defaults, *_SINGULAR.get(self.name, ()))
        given = {**self.defaults, **dict(zip(names, args, strict=False))}
        given.update(kwds)
        if kwds.pop("allow_singular", False) or given.pop("allow_singular", False):
            message = (
                f"scipy.stats.{self.name} must be differentiated with "
                "allow_singular=False: a singular matrix has no density around it."
            )
            raise rc.UnsupportedError(message)
        unknown = set(given) - set(self.defaults)
        lacks = any(x is MISSING for x in given.values())
        if unknown or lacks or len(args) > len(names):
            message = (
                f"{self.name} takes the parameters {', '.join(self.defaults)}, but got "
                f"{len(args)} by position and {sorted(kwds)} by name."
            )
            raise TypeError(message)
        return list(given.values())

    def _at(self, name: str, args: Any, kwds: Any) -> Any:
        """A density, or its logarithm as `"log" + name`."""
        points, rest = args[: self.count], args[self.count :]
        own = name if name in self.formulas else "log" + name.removeprefix("log")
        y = self.formulas[own](*points, *self._given(rest, kwds))
        return plain(y if own == name else exp(y))

    def logpdf(self, *args: Any, **kwds: Any) -> Any:
        """The logarithm of the density at a point."""
        return self._at("logpdf", args, kwds)

    def pdf(self, *args: Any, **kwds: Any) -> Any:
        """The density at a point."""
        return self._at("pdf", args, kwds)

    def logpmf(self, *args: Any, **kwds: Any) -> Any:
        """The logarithm of the probability of a point."""
        return self._at("logpmf", args, kwds)

    def pmf(self, *args: Any, **kwds: Any) -> Any:
        """The probability of a point."""
        return self._at("pmf", args, kwds)

    def _number(self, name: str, args: Any, kwds: Any) -> Any:
        if name not in self.formulas:
            message = (
                f"scipy.stats.{self.name}.{name} must have a formula to be "
                "differentiated, and there is none here. Give it numbers without "
                "derivative."
            )
            raise rc.UnsupportedError(message)
        return plain(self.formulas[name](*self._given(args, kwds)))

    def refused(self, name: str) -> Any:
        """A method without formula."""
        return lambda *_args, **_kwds: self._number(name, (), {})

    def mean(self, *args: Any, **kwds: Any) -> Any:
        """The mean."""
        return self._number("mean", args, kwds)

    def var(self, *args: Any, **kwds: Any) -> Any:
        """The variances."""
        return self._number("var", args, kwds)

    def cov(self, *args: Any, **kwds: Any) -> Any:
        """The covariance."""
        return self._number("cov", args, kwds)

    def entropy(self, *args: Any, **kwds: Any) -> Any:
        """The entropy."""
        return self._number("entropy", args, kwds)


# What SciPy copies, and what it factors, where a frozen distribution is made.
_COPIED = frozenset({"p"})
_FACTORED = frozenset({"cov", "shape", "scale", "rowcov", "colcov"})

# What densities take besides.
_SINGULAR = {
    "multivariate_normal": ("allow_singular",),
    "multivariate_t": ("allow_singular",),
}

MISSING: Any = type("Missing", (), {"__repr__": lambda _: "missing"})()

# vectors
