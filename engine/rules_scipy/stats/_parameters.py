"""Parameters of distributions: from arguments, in frozen ones, and of samples."""

from __future__ import annotations

from typing import Any, final

import numpy as np

import rules_core as rc

__all__ = [
    "AT_POINTS", "METHODS", "OF_PARAMETERS", "Frozen", "Parameters", "uniform_numbers",
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


def _method(name: str, of_point: bool) -> Any:
    if of_point:

        def at_point(self: Any, x: Any) -> Any:
            return self._call(name, x)

        return at_point

    def of_parameters(self: Any) -> Any:
        return self._call(name)

    return of_parameters


AT_POINTS = "pdf logpdf pmf logpmf cdf logcdf sf logsf ppf isf interval".split()
OF_PARAMETERS = "mean var std entropy median support".split()
METHODS: dict[str, Any] = {}
for _name in (*AT_POINTS, *OF_PARAMETERS, "cov", "mode"):
    METHODS[_name] = _method(_name, _name in AT_POINTS)
    METHODS[_name].__name__ = _name
    METHODS[_name].__doc__ = f"`{_name}` of the distribution."
