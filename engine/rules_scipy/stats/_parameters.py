"""Parameters of distributions: from arguments, in frozen ones, and of samples."""

from __future__ import annotations

import inspect
from typing import Any, final

import numpy as np

import rules_core as rc

__all__ = [
    "AT_POINTS", "METHODS", "OF_PARAMETERS", "Frozen", "Parameters", "frozen_method",
    "points_of", "uniform_numbers",
]  # fmt: skip


@final
class Parameters:
    """The parameters of a distribution: shapes, then location and scale.

    Args:
        scipy: The distribution of SciPy, which names its shapes.
        **defaults: The other parameters and their values.
    """

    def __init__(self, scipy: Any, **defaults: float) -> None:
        self.owner = scipy.name
        self.shapes = tuple(scipy.shapes.split(", ")) if scipy.shapes else ()
        self.defaults = defaults

    def __call__(self, args: Any, kwds: Any) -> tuple[Any, ...]:
        """Those with defaults, then the shapes."""
        names = (*self.shapes, *self.defaults)
        given = dict(zip(names, args, strict=False))
        if len(args) > len(names) or set(kwds) - set(names) or set(kwds) & set(given):
            message = (
                f"{self.owner} takes the parameters {', '.join(names)}, each once, but "
                f"got {len(args)} by position and {sorted(kwds)} by name."
            )
            raise TypeError(message)
        given = {**self.defaults, **given, **kwds}
        missing = [name for name in self.shapes if name not in given]
        if missing:
            message = f"{self.owner} must be given {', '.join(missing)}."
            raise TypeError(message)
        return tuple([given[name] for name in (*self.defaults, *self.shapes)])


def uniform_numbers(random_state: Any, shape: Any) -> Any:
    """Numbers between zero and one, by a seed or generator of NumPy."""
    is_seed = not hasattr(random_state, "uniform")
    draws = np.random.default_rng(random_state) if is_seed else random_state
    return np.asarray(draws.uniform(size=shape))


rc.non_differentiable(uniform_numbers)


class Frozen:
    """A distribution with its parameters, which may carry derivatives.

    Args:
        dist: The distribution.
        args: Parameters by position.
        kwds: Parameters by name.
        refused: What to call in place of `rvs`, if SciPy's sample is expected.
    """

    def __init__(
        self, dist: Any, args: Any, kwds: dict[str, Any], refused: Any = None
    ) -> None:
        self.dist, self.args, self.kwds, self.refused = dist, args, kwds, refused

    def __repr__(self) -> str:
        return f"<frozen {self.dist!r}>"

    def _call(self, name: str, *xs: Any) -> Any:
        return getattr(self.dist, name)(*xs, *self.args, **self.kwds)

    def rvs(self, size: Any = None, random_state: Any = None, **options: Any) -> Any:
        """A sample."""
        if self.refused is not None and not options:
            self.refused(self.dist)
        return self.dist.rvs(
            *self.args, size=size, random_state=random_state, **options, **self.kwds
        )


def points_of(method: Any, xs: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The points of a call of a frozen distribution's method, by SciPy's names.

    Args:
        method: SciPy's, a function.
        xs: Given by position.
        named: Given by name.
    """
    own = [p for p in inspect.signature(method).parameters.values() if p.name != "self"]
    needed = [p.name for p in own if p.default in _NEEDED and p.kind in _BY_POSITION]
    found = dict(zip(needed, xs, strict=False))
    twice = set(found) & set(named)
    if len(xs) > len(needed) or twice or {*found, *named} != set(needed):
        message = (
            f"{method.__name__} of a frozen distribution takes {', '.join(needed)}; "
            f"got {len(xs)} by position and {sorted(named)} by name."
        )
        raise TypeError(message)
    given = {**found, **named}
    return [given[name] for name in needed]


# SciPy marks the argument of `interval` by a default of None.
_NEEDED = (inspect.Parameter.empty, None)
_BY_POSITION = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.POSITIONAL_ONLY,
)


def frozen_method(name: str, scipys: Any) -> Any:
    """A method of frozen distributions with the arguments of SciPy's."""

    def method(self: Any, *xs: Any, **named: Any) -> Any:
        return self._call(name, *points_of(scipys, xs, named))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`{name}` of the distribution."
    return method


AT_POINTS = "pdf logpdf pmf logpmf cdf logcdf sf logsf ppf isf interval".split()
OF_PARAMETERS = "mean var std entropy median support".split()
METHODS = (*AT_POINTS, *OF_PARAMETERS, "cov", "mode")
