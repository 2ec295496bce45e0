"""The model: a Gaussian process whose kernel needs Bessel functions of any order.

One array-API program. NumPy, JAX and PyTorch run it as it stands; `kv` is SciPy's
function, and its rule is the one in `rules_scipy`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import rules_core as rc
from examples.co2.record import Record
from rules_scipy.special import kv

NAMES = (
    "trend: amplitude / ppm",
    "trend: length / years",
    "season: amplitude / ppm",
    "season: decay / years",
    "season: smoothness",
    "weather: amplitude / ppm",
    "weather: length / years",
    "noise / ppm",
)

# The orders are fixed: K has no derivative in its order. They are not half-integers,
# for which alone the kernel is elementary.
TREND, SEASON, WEATHER = 2.8, 1.3, 0.4


@dataclass(frozen=True)
class Problem:
    """A record in the form that the likelihood wants, arrays of one host.

    Stationarity on a monthly grid: `n` observations have n² distances, but no more
    different ones than months, so the kernel is evaluated once for each.

    Attributes:
        lags: Distances in years of 0, 1, 2, … months, shape (m,).
        pairs: Index into `lags` for each pair of observations, shape (n²,).
        anomaly: Observations less their mean, shape (n,).
        identity: The identity matrix, shape (n, n).
    """

    lags: Any
    pairs: Any
    anomaly: Any
    identity: Any

    @classmethod
    def of(cls, record: Record, xp: Any = np) -> Problem:
        """The problem as arrays of namespace `xp`."""
        distances = np.abs(record.month[:, None] - record.month[None, :])
        return cls(
            xp.asarray(np.arange(distances.max() + 1) / 12),
            xp.asarray(distances.ravel()),
            xp.asarray(record.co2 - record.co2.mean()),
            xp.asarray(np.eye(len(record.month))),
        )


def matern(order: float, distance: Any, length: Any) -> Any:
    r"""The Matérn correlation $2^{1-ν} z^ν K_ν(z) / Γ(ν)$, $z = \sqrt{2ν}\, r / ℓ$.

    K is infinite at distance zero. The value there is put in from outside, and so that
    the other branch has a finite value and derivative too, its distance is replaced.
    """
    xp = rc.array_namespace(distance, length)
    zero = distance == 0
    z = math.sqrt(2 * order) * xp.where(zero, 1.0, distance) / length
    value = 2 ** (1 - order) / math.gamma(order) * z**order * kv(order, z)
    return xp.where(zero, 1.0, value)


def covariance(theta: Any, lags: Any) -> Any:
    """Covariance of two noise-free values at a distance in years, shape of `lags`.

    Args:
        theta: Logarithms of the hyperparameters `NAMES`, shape (8,).
        lags: Distances in years.
    """
    xp = rc.array_namespace(theta, lags)
    trend, slow, season, decay, smooth, weather, fast, _ = (
        xp.exp(theta[i]) for i in range(len(NAMES))
    )
    cycle = xp.exp(-2 * (xp.sin(math.pi * lags) / smooth) ** 2)
    return (
        trend**2 * matern(TREND, lags, slow)
        + season**2 * matern(SEASON, lags, decay) * cycle
        + weather**2 * matern(WEATHER, lags, fast)
    )


def gram(theta: Any, problem: Problem) -> Any:
    """Covariance matrix of the observations, shape (n, n)."""
    xp = rc.array_namespace(theta, problem.lags)
    by_lag = covariance(theta, problem.lags)
    noise = xp.exp(2 * theta[7])
    matrix = xp.reshape(xp.take(by_lag, problem.pairs), problem.identity.shape)
    return matrix + noise * problem.identity


def loss(theta: Any, problem: Problem) -> Any:
    r"""Negative log marginal likelihood.

    $\frac12 y^T K^{-1} y + \frac12 \ln\det K + \frac n2 \ln 2π$, by Cholesky.
    """
    xp = rc.array_namespace(theta, problem.lags)
    root = xp.linalg.cholesky(gram(theta, problem))
    white = xp.linalg.solve(root, problem.anomaly)
    log_det = 2 * xp.sum(xp.log(xp.linalg.diagonal(root)))
    n = problem.anomaly.shape[0]
    return (xp.sum(white**2) + log_det + n * math.log(2 * math.pi)) / 2


def predict(theta: Any, record: Record, months: Any) -> tuple[Any, Any]:
    """Mean and standard deviation of a noise-free value at given months, in ppm."""
    problem = Problem.of(record)
    root = np.linalg.cholesky(gram(theta, problem))
    distances = np.abs(record.month[:, None] - months[None, :])
    by_lag = covariance(theta, np.arange(distances.max() + 1) / 12)
    white = np.linalg.solve(root, by_lag[distances])
    mean = white.T @ np.linalg.solve(root, problem.anomaly)
    variance = by_lag[0] - np.sum(white**2, axis=0)
    return mean + record.co2.mean(), np.sqrt(np.maximum(variance, 0))
