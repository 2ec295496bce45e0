"""Random variables: SciPy's newer interface to distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.stats as st

import rules_core as rc
from rules_core.extend import stand_in
from rules_scipy.special._arrays import absolute, exp, where

from ._bounded import uniform
from ._continuous import DISTRIBUTIONS
from ._discrete import binom
from ._exponential import logistic
from ._frozen import refuse_rest
from ._normal import norm
from ._numbers import floats, plain
from ._parameters import Frozen

__all__ = ["Binomial", "Logistic", "Normal", "Uniform", "make_distribution"]


def _mirrored(loc: Any, scale: Any) -> tuple[Any, Any]:
    """Symmetric about `loc`: the scale is positive again."""
    return loc, absolute(floats(scale)[1])


def _mirrored_uniform(loc: Any, scale: Any) -> tuple[Any, Any]:
    _, loc, scale = floats(loc, scale)
    return loc + where(scale < 0, scale, 0.0), absolute(scale)


_MIRRORED = {"norm": _mirrored, "logistic": _mirrored, "uniform": _mirrored_uniform}


class Variable:
    """A random variable: a distribution, its shapes, and where it is moved to.

    It may be moved and multiplied by a positive number; normal, logistic and uniform
    ones by a negative number too. Methods take no options.

    Args:
        dist: The distribution of this pack.
        shapes: By name.
        loc: What is added.
        scale: What it was multiplied by before, positive; None for a discrete one.
    """

    def __init__(self, dist: Any, shapes: dict[str, Any], loc: Any, scale: Any) -> None:
        self._dist, self._shapes, self._loc, self._scale = dist, shapes, loc, scale

    def __repr__(self) -> str:
        return f"<random variable of {self._dist!r}>"

    def __getattr__(self, name: str) -> Any:
        """What SciPy's random variables have besides is refused."""
        if name.startswith("_") or name not in _REFUSED:
            raise AttributeError(name)
        message = (
            f"scipy.stats: {name} of a random variable has no formula here. Call it of "
            "one that is made of numbers without derivative (ignore_derivatives)."
        )
        raise rc.UnsupportedError(message)

    def _moved(self, loc: Any, scale: Any) -> Variable:
        kind = "discrete" if scale is None else "moved"
        made: Variable = _made(kind, self._dist, self._shapes, loc, scale)
        return made

    def __add__(self, moved: Any) -> Variable:
        return self._moved(self._loc + moved, self._scale)

    __radd__ = __add__

    def __sub__(self, moved: Any) -> Variable:
        return self.__add__(-moved)

    def __mul__(self, factor: Any) -> Variable:
        if self._scale is None:
            message = "A discrete random variable cannot be multiplied."
            raise rc.UnsupportedError(message)
        loc, scale = self._loc * factor, self._scale * factor
        if self._dist.name in _MIRRORED:
            loc, scale = _MIRRORED[self._dist.name](loc, scale)
        return self._moved(loc, scale)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Variable:
        return self.__mul__(1 / divisor)

    def __neg__(self) -> Variable:
        return self.__mul__(-1.0)

    def __rsub__(self, other: Any) -> Variable:
        return self.__neg__().__add__(other)

    def __pow__(self, other: Any = None) -> Any:
        """Refused: there is no formula."""
        message = (
            "Powers, quotients and absolute values of random variables have no formula "
            "here: write the density of the result with array_namespace."
        )
        raise rc.UnsupportedError(message)

    __rpow__ = __rtruediv__ = __abs__ = __pow__

    def _frozen(self) -> Frozen:
        moved = {} if self._scale is None else {"scale": self._scale}
        given = {**self._shapes, "loc": self._loc, **moved}
        frozen: Frozen = self._dist(**given)
        return frozen

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

    def moment(self, order: int = 1, kind: str = "raw", *, method: Any = None) -> Any:
        """A moment of order 1 or 2: `"raw"`, `"central"` or `"standardized"`."""
        own: Any = self._frozen()
        if order not in (1, 2) or kind not in ("raw", "central", "standardized"):
            return own.refuse(f"moment({order}, kind={kind!r})")
        if kind == "raw":
            return own.moment(order)
        variance = own.var()
        if order == 1:
            return 0.0 * variance
        return variance if kind == "central" else 0.0 * variance + 1.0

    def sample(
        self, shape: Any = (), *, rng: Any = None, reparameterised: bool = False
    ) -> Any:
        """A sample; see `rvs` of distributions."""
        size = shape if shape != () else None
        return self._frozen().rvs(
            size, random_state=rng, reparameterised=reparameterised
        )


# Besides what is defined here.
_REFUSED = (
    "mode skewness kurtosis logentropy plot reset_cache cache_policy tol "
    "validation_policy mu sigma a b n p"
).split()
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
        kind = "discrete" if scale is None else "continuous"
        made: Variable = _made(kind, own, shapes, 0.0, scale, **shapes)
        return made

    variable.__name__ = variable.__qualname__ = own.name
    return variable


def _kind(scipy: Any, *named: str) -> Any:
    """A class of SciPy's kind, of which none else is called."""
    shown = {name: property(_parameter(name), doc=f"`{name}`.") for name in named}
    new = {"__new__": lambda cls, *_args, **_kwds: object.__new__(cls)}
    body = {"__module__": __name__, "__doc__": f"A `{scipy.__name__}`.", **new, **shown}
    body["__stands_for__"] = scipy
    made: Any = refuse_rest(type(scipy.__name__, (Variable, scipy), body), scipy)
    made.__abstractmethods__ = frozenset()
    return made


def _parameter(name: str) -> Any:
    return lambda self: self.named[name]


# Absent before SciPy 1.15, and its discrete ones before 1.16.
_PARAMETERS = {
    "Normal": "mu sigma",
    "Logistic": "",
    "Uniform": "a b",
    "Binomial": "n p",
}
_KINDS = {
    name: _kind(getattr(st, name), *named.split())
    for name, named in _PARAMETERS.items()
    if hasattr(st, name)
}
if "Normal" in _KINDS:
    _KINDS["moved"] = _kind(type(st.Normal() * 2.0))
    _KINDS["continuous"] = _kind(st.Normal.__mro__[1])
if "Binomial" in _KINDS:
    _KINDS["discrete"] = _kind(st.Binomial.__mro__[1])


def _made(kind: str, dist: Any, shapes: Any, loc: Any, scale: Any, **named: Any) -> Any:
    made = _KINDS.get(kind, Variable)(dist, shapes, loc, scale)
    made.named = named
    return made


def Normal(*, mu: Any = 0.0, sigma: Any = 1.0) -> Variable:
    """`scipy.stats.Normal`."""
    made: Variable = _made("Normal", norm, {}, mu, sigma, mu=mu, sigma=sigma)
    return made


def Logistic() -> Variable:
    """`scipy.stats.Logistic`."""
    made: Variable = _made("Logistic", logistic, {}, 0.0, 1.0)
    return made


def Uniform(*, a: Any, b: Any) -> Variable:
    """`scipy.stats.Uniform`."""
    made: Variable = _made("Uniform", uniform, {}, a, b - a, a=a, b=b)
    return made


def Binomial(*, n: Any, p: Any) -> Variable:
    """`scipy.stats.Binomial`."""
    made: Variable = _made("Binomial", binom, {"n": n, "p": p}, 0.0, None, n=n, p=p)
    return made


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
