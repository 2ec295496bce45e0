"""Continuous distributions: one set of methods from a few formulas each.

A distribution is declared by formulas of its standard form, in array-API code and calls
of `rules_scipy.special`. Location and scale, the logarithms, the complements, the
quantiles and what is outside of the support follow here, for all distributions.
"""

from __future__ import annotations

from functools import partial
from typing import Any, final

import numpy as np

import rules_core as rc
from rules_scipy.special._arrays import log, where

from ._distribution import Distribution
from ._frozen import ContinuousFrozen
from ._infinite import at_minus_infinity, at_zero
from ._numbers import INF, floats, plain
from ._parameters import uniform_numbers
from ._quantiles import quantile
from ._standard import Formula, Standard, is_positive
from ._support import known_where, support_of

__all__ = ["DISTRIBUTIONS", "Continuous", "continuous", "is_positive"]

# By the name of SciPy's distribution.
DISTRIBUTIONS: dict[str, Any] = {}


@final
class Continuous(Distribution):
    """A continuous distribution of `scipy.stats` with derivatives in every framework.

    Its methods take the arguments that they have in SciPy: the point, the shapes, `loc`
    and `scale`, as numbers and arrays of any array library, which broadcast.

    >>> from rules_scipy import stats
    >>> round(float(stats.gamma.logpdf(1.5, 2.0, scale=0.5)), 6)
    -1.208241
    """

    kind = ContinuousFrozen

    def support(self, *args: Any, **kwds: Any) -> tuple[Any, Any]:
        """The ends of the support."""
        _, loc, scale, *shapes = floats(*self.standard.parameters(args, kwds))
        ends = support_of(self.standard.ends, shapes, loc)
        return plain(loc + scale * ends.a), plain(loc + scale * ends.b)

    # functions of a point

    def _at_point(
        self, formula: Formula, outside: Any, x: Any, args: Any, kwds: Any
    ) -> Any:
        """`formula(scale, z, *shapes)` at the standardised point."""
        parameters = self.standard.parameters(args, kwds)
        _, *own = floats(x, *parameters)

        def value(x: Any, loc: Any, scale: Any, *shapes: Any) -> Any:
            z, of_scale = (x - loc) / scale, partial(formula, scale)
            return self.standard.masked(of_scale, z, shapes, scale > 0, outside)

        def constant() -> Any:
            x, loc, scale, *shapes = own
            return self.standard.beyond((x - loc) / scale, shapes)

        with np.errstate(all="ignore"):
            return at_minus_infinity(value, value(*own), tuple(own), constant)

    def logpdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of the density at `x`."""
        return self._at_point(self._logpdf, (-INF, -INF), x, args, kwds)

    def pdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The density at `x`."""
        y = self._at_point(self._pdf, (0.0, 0.0), x, args, kwds)
        if "pdf" in self.standard.formulas:
            return y
        _, *own = floats(x, *self.standard.parameters(args, kwds))

        def at_end() -> Any:
            x, loc, scale, *shapes = own
            z = (x - loc) / scale
            ends = support_of(self.standard.ends, shapes, z)
            return (z == ends.a) | (z == ends.b)

        return at_zero(y, tuple(own), at_end)

    def cdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of values up to `x`."""
        return self._at_point(self._cdf, (0.0, 1.0), x, args, kwds)

    def sf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of values above `x`."""
        return self._at_point(self._sf, (1.0, 0.0), x, args, kwds)

    def logcdf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of `cdf`."""
        return self._at_point(self._logcdf, (-INF, 0.0), x, args, kwds)

    def logsf(self, x: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of `sf`."""
        return self._at_point(self._logsf, (0.0, -INF), x, args, kwds)

    def _logpdf(self, scale: Any, z: Any, *shapes: Any) -> Any:
        return self.standard.density("logpdf", z, *shapes) - log(scale)

    def _pdf(self, scale: Any, z: Any, *shapes: Any) -> Any:
        return self.standard.density("pdf", z, *shapes) / scale

    def _cdf(self, _scale: Any, z: Any, *shapes: Any) -> Any:
        return self.standard.tail("cdf", z, *shapes)

    def _sf(self, _scale: Any, z: Any, *shapes: Any) -> Any:
        return self.standard.tail("sf", z, *shapes)

    def _logcdf(self, _scale: Any, z: Any, *shapes: Any) -> Any:
        return self.standard.log_tail("cdf", z, *shapes)

    def _logsf(self, _scale: Any, z: Any, *shapes: Any) -> Any:
        return self.standard.log_tail("sf", z, *shapes)

    # quantiles

    def ppf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        """The point with `cdf` equal to `q`."""
        return self._quantile("ppf", q, args, kwds)

    def isf(self, q: Any, *args: Any, **kwds: Any) -> Any:
        """The point with `sf` equal to `q`."""
        return self._quantile("isf", q, args, kwds)

    def _quantile(self, name: str, q: Any, args: Any, kwds: Any) -> Any:
        _, q, loc, scale, *shapes = floats(q, *self.standard.parameters(args, kwds))
        with np.errstate(all="ignore"):
            within = (q >= 0) & (q <= 1)
            y = self.standard.formulas[name](where(within, q, 0.5), *shapes)
            known = (scale > 0) & self.standard.valid(*shapes) & within
            return plain(known_where(known, loc + scale * y))

    def median(self, *args: Any, **kwds: Any) -> Any:
        """The point in the middle."""
        return self.ppf(0.5, *args, **kwds)

    def interval(self, confidence: Any, *args: Any, **kwds: Any) -> tuple[Any, Any]:
        """The ends of the middle part of this probability."""
        q = (1.0 - floats(confidence)[1]) / 2
        return self.ppf(q, *args, **kwds), self.isf(q, *args, **kwds)

    def nnlf(self, theta: Any, x: Any) -> Any:
        """Minus the log-likelihood of the sample `x`; `theta` is shapes, loc, scale."""
        y = self.logpdf(x, *[theta[i] for i in range(len(self.shapes) + 2)])
        return -rc.array_namespace(y).sum(y)

    # samples

    def rvs(
        self,
        *args: Any,
        size: Any = None,
        random_state: Any = None,
        reparameterised: bool = False,
        **kwds: Any,
    ) -> Any:
        """A sample, whose numbers NumPy draws where the program is run or traced.

        Args:
            *args: The shapes, `loc` and `scale`.
            size: The shape of the sample; that of the parameters if left out.
            random_state: A seed or a generator of NumPy.
            reparameterised: Whether the sample is the quantile of uniform numbers, with
                its derivative in the parameters. Otherwise it is a constant.
            **kwds: Parameters by their names.
        """
        _, *own = floats(*self.standard.parameters(args, kwds))
        shape = np.broadcast_shapes(*[tuple(x.shape) for x in own])
        shape = shape if size is None else tuple(np.atleast_1d(size).tolist())
        y = self.ppf(uniform_numbers(random_state, shape), *args, **kwds)
        return y if reparameterised else rc.ignore_derivatives(y)


def continuous(
    scipy: Any,
    *,
    support: tuple[Any, Any] = (-INF, INF),
    valid: Formula = is_positive,
    open_ends: bool = False,
    symmetric: bool = False,
    **formulas: Formula,
) -> Continuous:
    """Declare a distribution by its standard form.

    Args:
        scipy: The distribution of SciPy.
        support: Its ends, numbers or functions of the shapes.
        valid: Whether the shapes are in their domain: all positive if left out.
        open_ends: The density has no value at the ends, as in SciPy.
        symmetric: About zero.
        **formulas: Of the point and the shapes: `logpdf` or `pdf`; `cdf` and `sf`, or
            one of their logarithms, or `middle`, a point between both tails, which are
            then integrals; `ppf` and `isf`. Of the shapes: `mean`, `var`, `entropy`.
    """
    if symmetric:
        _reflect(formulas)
    standard = Standard(
        scipy, support, valid, formulas, open_ends=open_ends, loc=0.0, scale=1.0
    )
    for name in ("ppf", "isf"):
        formulas.setdefault(name, quantile(standard, name))
    made = DISTRIBUTIONS[scipy.name] = Continuous(standard)
    return made


def _reflect(formulas: dict[str, Formula]) -> None:
    """What follows from a formula on the other side of zero."""
    for name, other in (("cdf", "sf"), ("logcdf", "logsf")):
        if name in formulas:
            formulas[other] = _reflected(formulas[name])
    if "ppf" in formulas:
        own = formulas["ppf"]
        formulas["isf"] = lambda q, *shapes: -own(q, *shapes)


def _reflected(own: Formula) -> Formula:
    return lambda z, *shapes: own(-z, *shapes)
