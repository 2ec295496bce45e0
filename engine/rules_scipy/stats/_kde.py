"""Kernel density estimates."""

from __future__ import annotations

from typing import Any

import scipy.stats as st

import rules_core as rc
from rules_core.extend import stand_in
from rules_scipy import special as sp
from rules_scipy.special._arrays import exp, log, sqrt

from ._frozen import refuse_rest
from ._matrices import root_of
from ._numbers import LOG_2PI, floats

__all__ = ["gaussian_kde"]


class gaussian_kde(st.gaussian_kde):  # noqa: N801  SciPy's name
    """`scipy.stats.gaussian_kde`: derivatives in the data, the weights and the points.

    Args:
        dataset: The data, shape (d, n) or (n,).
        bw_method: "scott", "silverman", a number, or a function of the estimate.
        weights: Of the data, shape (n,).

    >>> import numpy as np
    >>> from rules_scipy import stats
    >>> estimate = stats.gaussian_kde(np.array([0.0, 1.0, 3.0]))
    >>> estimate(np.array([1.0])).round(4)
    array([0.2149])
    """

    __stands_for__ = st.gaussian_kde
    dataset: Any = None
    weights: Any = None
    neff: Any = None
    covariance: Any = None

    def __init__(
        self, dataset: Any, bw_method: Any = None, weights: Any = None
    ) -> None:
        number = [] if bw_method is None or _is_name(bw_method) else [bw_method]
        given = [] if weights is None else [weights]
        xp, dataset, *given = floats(dataset, *given, *number)
        self.dataset = dataset if dataset.ndim == 2 else xp.reshape(dataset, (1, -1))
        self.d, self.n = self.dataset.shape
        if weights is None:
            self.weights = xp.ones_like(self.dataset[0]) / self.n
        else:
            self.weights = given[0] / xp.sum(given[0])
        self.neff = 1 / xp.sum(self.weights**2)
        self.factor: Any = None
        if bw_method is None:
            bw_method = "scott"
        self.set_bandwidth(given[-1] if number else bw_method)

    def set_bandwidth(self, bw_method: Any = None) -> None:
        """Take another factor; None: the factor that there is."""
        if bw_method is not None:
            self.factor = self._factor(bw_method)
        xp, data, weights, factor = floats(self.dataset, self.weights, self.factor)
        rest = data - xp.sum(weights * data, axis=-1)[:, None]
        spread = (weights * rest) @ rest.T / (1 - xp.sum(weights**2))
        self.covariance = spread * factor**2

    def _factor(self, bw_method: Any) -> Any:
        if not _is_name(bw_method):
            return bw_method
        if callable(bw_method):
            return bw_method(self)
        power = -1 / (self.d + 4)
        if bw_method == "scott":
            return self.neff**power
        if bw_method == "silverman":
            return (self.neff * (self.d + 2) / 4) ** power
        message = "`bw_method` should be 'scott', 'silverman', a scalar or a callable."
        raise ValueError(message)

    @property
    def inv_cov(self) -> Any:
        """The inverse of the covariance."""
        return rc.array_namespace(self.covariance).linalg.inv(self.covariance)

    def scotts_factor(self) -> Any:
        """Scott's factor."""
        return self._factor("scott")

    def silverman_factor(self) -> Any:
        """Silverman's factor."""
        return self._factor("silverman")

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density at points, shape (d, m)."""
        xp, x, data, weights, covariance = floats(
            x, self.dataset, self.weights, self.covariance
        )
        points = xp.reshape(x, (self.d, -1)) if x.ndim < 2 else x
        root = root_of(covariance)
        white, own = root.whiten(points), root.whiten(data)
        rest = xp.sum((white[:, :, None] - own[:, None, :]) ** 2, axis=0)
        terms = log(weights) - rest / 2
        top = rc.ignore_derivatives(xp.max(terms, axis=-1))
        total = log(xp.sum(exp(terms - top[:, None]), axis=-1)) + top
        return total - root.log_det / 2 - self.d / 2 * LOG_2PI

    def evaluate(self, points: Any) -> Any:
        """The density at points, shape (d, m)."""
        return exp(self.logpdf(points))

    __call__ = pdf = evaluate

    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        """The probability of an interval."""
        xp, low, high, data, weights, covariance = floats(
            low, high, self.dataset, self.weights, self.covariance
        )
        spread = sqrt(covariance[0, 0])
        parts = sp.ndtr((high - data[0]) / spread) - sp.ndtr((low - data[0]) / spread)
        return xp.sum(weights * parts)


def _is_name(bw_method: Any) -> bool:
    return isinstance(bw_method, str) or callable(bw_method)


refuse_rest(gaussian_kde, st.gaussian_kde, "cho_cov", "log_det")


def _own(estimate: Any) -> gaussian_kde:
    """SciPy's estimate, which was made of constants, as one of this pack."""
    return gaussian_kde(estimate.dataset, float(estimate.factor), estimate.weights)


@stand_in(st.gaussian_kde)
def estimated(dataset: Any, bw_method: Any = None, weights: Any = None) -> gaussian_kde:
    """An estimate of data that carry derivatives."""
    return gaussian_kde(dataset, bw_method, weights)


@stand_in(st.gaussian_kde.evaluate, st.gaussian_kde.pdf)
def evaluated(self: Any, points: Any) -> Any:
    """The density at points that carry derivatives."""
    return _own(self).evaluate(points)


@stand_in(st.gaussian_kde.logpdf)
def log_evaluated(self: Any, x: Any) -> Any:
    """Its logarithm."""
    return _own(self).logpdf(x)


@stand_in(st.gaussian_kde.integrate_box_1d)
def integrated(self: Any, low: Any, high: Any) -> Any:
    """The probability of an interval."""
    return _own(self).integrate_box_1d(low, high)
