"""One fit, in any host: L-BFGS by reverse mode, then a polish that starts from JᵀJ."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from examples._common import differences, minimise
from examples._common.report import Fitted
from examples.river.model import JUMP, SPREAD, prior, simulate
from examples.river.record import Record

__all__ = ["PRECISION", "Fit", "Host", "finite_differences", "fit", "loss", "start_of"]

PRECISION = {"steps": 40, "flat": 1e-2, "change": 1e-12}
MOST, TIGHT = 40, 1e-9  # steps of the polish, and the gradient that ends it


class Host(minimise.Host, Protocol):
    """What this fit needs of a host besides."""

    def jacobian(self, theta: Any, /) -> Any:
        """Derivatives of the residuals, one row each, by forward mode."""


@dataclass(frozen=True, kw_only=True)
class Fit(Fitted):
    """A fit of releases and decay.

    Attributes:
        spread: The standard errors of `theta`.
    """

    spread: Any


def loss(theta: Any, record: Record) -> float:
    """Minus the logarithm of the posterior, in plain NumPy."""
    seen = simulate(np.exp(theta[:-1]), np.exp(theta[-1]))
    rest = (seen - record.seen) / record.deviation
    return float(0.5 * np.sum(rest * rest) + prior(theta))


def start_of(record: Record) -> Any:
    """1 kg/s all the time, and a decay of 1 per day."""
    return np.zeros(record.hours + 1)


def fit(host: Host, start: Any) -> Fit:
    """Fit releases and decay in one host, with a progress bar."""
    begin = perf_counter()
    theta, evaluations = minimise.minimised(host, start)
    theta = polished(host, theta, np.linalg.inv(precision(host, theta)))
    curvature = precision(host, theta)
    value, gradient = host.value_and_grad(theta)
    spread = np.sqrt(np.diag(np.linalg.inv(curvature)))
    return Fit(
        host=host.name, theta=theta, loss=value, norm=np.abs(gradient).max(),
        evaluations=evaluations, seconds=perf_counter() - begin, spread=spread,
    )  # fmt: skip


def polished(host: Host, theta: Any, inverse: Any) -> Any:
    """BFGS without a line search, from a good inverse of the Hessian.

    L-BFGS compares values of the loss, which are only accurate to about 1e-12 of it;
    this needs gradients alone.
    """
    gradient = host.value_and_grad(theta)[1]
    for _ in range(MOST):
        if np.abs(gradient).max() < TIGHT:
            break
        s = -inverse @ gradient
        theta, before = theta + s, gradient
        gradient = host.value_and_grad(theta)[1]
        y = gradient - before
        change = np.eye(len(s)) - np.outer(s, y) / (s @ y)
        inverse = change @ inverse @ change.T + np.outer(s, s) / (s @ y)
    return theta


def precision(host: Host, theta: Any) -> Any:
    """`JᵀJ` of the residuals and the Hessian of the prior: about the posterior's."""
    J, hours = host.jacobian(theta), len(theta) - 1
    steps = np.diff(np.eye(hours + 1)[:hours], axis=0) / JUMP
    own = np.append(np.full(hours, SPREAD**-2.0), 1.0)
    return J.T @ J + steps.T @ steps + np.diag(own)


def finite_differences(theta: Any, record: Record, step: float = 1e-4) -> Any:
    """The gradient of the loss in plain NumPy, by differences of fourth order."""
    return differences.gradient(lambda theta: loss(theta, record), theta, step)
