"""Random variables: SciPy's newer interface to distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import scipy.stats as st

import rules_core as rc
from rules_core.extend import stand_in
from rules_scipy.special._arrays import exp

from ._bounded import uniform
from ._continuous import DISTRIBUTIONS
from ._discrete import binom
from ._exponential import logistic
from ._normal import norm
from ._numbers import floats, plain
from ._parameters import Frozen

__all__ = ["Binomial", "Logistic", "Normal", "Uniform", "make_distribution"]


@final
class Variable:
    """A random variable: a distribution, its shapes, and where it is moved to.

    It may be moved and multiplied by a positive number. Methods take no options.

    Args:
        dist: The distribution of this pack.
        shapes: By name.
        loc: What is added.
        scale: What it was multiplied by before, positive; None for a discrete one.
    """

    def __init__(self, dist: Any, shapes: dict[str, Any], loc: Any, scale: Any) -> None:
        self.dist, self.shapes, self.loc, self.scale = dist, shapes, loc, scale

    def __repr__(self) -> str:
        return f"<random variable of {self.dist!r}>"

    def __add__(self, moved: Any) -> Variable:
        return Variable(self.dist, self.shapes, self.loc + moved, self.scale)

    __radd__ = __add__

    def __sub__(self, moved: Any) -> Variable:
        return self.__add__(-moved)

    def __mul__(self, factor: Any) -> Variable:
        if self.scale is None:
            message = "A discrete random variable cannot be multiplied."
            raise rc.UnsupportedError(message)
        loc, scale = self.loc * factor, self.scale * factor
        return Variable(self.dist, self.shapes, loc, scale)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Variable:
        return self.__mul__(1 / divisor)

    def _frozen(self) -> Frozen:
        moved = {} if self.scale is None else {"scale": self.scale}
        return Frozen(self.dist, (), {**self.shapes, "loc": self.loc, **moved})

    def cdf(self, x: Any, y: Any = None, /) -> Any:
        """The probability of values up to `x`, or between `x` and `y`."""
        below: Any = self._frozen()
        return below.cdf(x) if y is None else below.cdf(y) - below.cdf(x)

    def ccdf(self, x: Any, y: Any = None, /) -> Any:
        """The probability of values above `x`, or outside of `x` and `y`."""
        own: Any = self._frozen()
        return own.sf(x) if y is None else own.cdf(x) + own.sf(y)

    def ilogcdf(self, logp: Any, /) -> Any:
        """The point with this logarithm of `cdf`."""
        own: Any = self._frozen()
        return plain(own.ppf(exp(floats(logp)[1])))

    def ilogccdf(self, logp: Any, /) -> Any:
        """The point with this logarithm of `ccdf`."""
        own: Any = self._frozen()
        return plain(own.isf(exp(floats(logp)[1])))

    def sample(
        self, shape: Any = (), *, rng: Any = None, reparameterised: bool = False
    ) -> Any:
        """A sample; see `rvs` of distributions."""
        size = shape if shape != () else None
        return self._frozen().rvs(
            size, random_state=rng, reparameterised=reparameterised
        )


_NAMES = {
    "pdf": "pdf", "logpdf": "logpdf", "pmf": "pmf", "logpmf": "logpmf",
    "logcdf": "logcdf", "logccdf": "logsf", "icdf": "ppf", "iccdf": "isf",
}  # fmt: skip
_NUMBERS = {
    "mean": "mean", "variance": "var", "standard_deviation": "std",
    "entropy": "entropy", "median": "median", "support": "support",
}  # fmt: skip


def _at_point(name: str) -> Any:
    def at_point(self: Any, x: Any, /) -> Any:
        return getattr(self._frozen(), name)(x)

    return at_point


def _number(name: str) -> Any:
    def number(self: Any) -> Any:
        return getattr(self._frozen(), name)()

    return number


for _names, _make in ((_NAMES, _at_point), (_NUMBERS, _number)):
    for _name, _of in _names.items():
        _method = _make(_of)
        _method.__name__, _method.__doc__ = _name, f"`{_of}` of the distribution."
        setattr(Variable, _name, _method)


def make_distribution(dist: Any) -> Callable[..., Variable]:
    """`scipy.stats.make_distribution` for a distribution of this pack, or SciPy's.

    Args:
        dist: The distribution.

    >>> from rules_scipy import stats
    >>> Gamma = stats.make_distribution(stats.gamma)
    >>> round(float((2.0 * Gamma(a=3.0)).logpdf(1.5)), 6)
    -2.711659
    """
    own = DISTRIBUTIONS.get(getattr(dist, "name", ""))
    if own is None:
        message = f"make_distribution has no formulas for {dist!r}."
        raise rc.UnsupportedError(message)
    scale = 1.0 if hasattr(own, "pdf") else None

    def variable(**shapes: Any) -> Variable:
        return Variable(own, shapes, 0.0, scale)

    variable.__name__ = variable.__qualname__ = own.name
    return variable


def Normal(*, mu: Any = 0.0, sigma: Any = 1.0) -> Variable:
    """`scipy.stats.Normal`."""
    return Variable(norm, {}, mu, sigma)


def Logistic() -> Variable:
    """`scipy.stats.Logistic`."""
    return Variable(logistic, {}, 0.0, 1.0)


def Uniform(*, a: Any, b: Any) -> Variable:
    """`scipy.stats.Uniform`."""
    return Variable(uniform, {}, a, b - a)


def Binomial(*, n: Any, p: Any) -> Variable:
    """`scipy.stats.Binomial`."""
    return Variable(binom, {"n": n, "p": p}, 0.0, None)


# SciPy's own in NumPy programs

_OWN: dict[str, tuple[Any, tuple[str, ...]]] = {
    "Normal": (Normal, ("mu", "sigma")),
    "StandardNormal": (Normal, ("mu", "sigma")),
    "Logistic": (Logistic, ()),
    "Uniform": (Uniform, ("a", "b")),
    "Binomial": (Binomial, ("n", "p")),
}


def _variable_of(variable: Any) -> Variable:
    """One that was made of constants, as one of this pack."""
    name = type(variable).__name__
    if name not in _OWN:
        message = (
            f"A random variable of class {name} has no derivatives: make it by "
            "rules_scipy.stats.make_distribution."
        )
        raise rc.UnsupportedError(message)
    make, names = _OWN[name]
    made: Variable = make(**{n: getattr(variable, n) for n in names})
    return made


rc.non_differentiable(_variable_of)


def _body(name: str) -> Any:
    def method(self: Any, *args: Any) -> Any:
        return getattr(_variable_of(self), name)(*args)

    method.__name__ = method.__qualname__ = name
    return method


# Absent before SciPy 1.15, and its discrete ones before 1.16.
for _class in (Normal, Uniform, Binomial):
    if hasattr(st, _class.__name__):
        stand_in(getattr(st, _class.__name__))(_class)
if hasattr(st, "Normal"):
    for _owner in st.Normal.__mro__:
        for _name in ("cdf", "ccdf", "ilogcdf", "ilogccdf", *_NAMES):
            if _name in vars(_owner) and not getattr(
                vars(_owner)[_name], "__isabstractmethod__", False
            ):
                stand_in(vars(_owner)[_name])(_body(_name))
