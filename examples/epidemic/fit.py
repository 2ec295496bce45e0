"""One fit, in any host: L-BFGS by reverse mode, and errors by forward mode."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from examples._common import differences, minimise
from examples._common.report import Fitted
from examples.epidemic.model import residuals

__all__ = ["PRECISION", "START", "Fit", "Host", "finite_differences", "fit", "loss"]

# Logarithms of rates of 1 and 0.5 per day, and of one boy.
START = np.log(np.array([1.0, 0.5, 1.0]))
PRECISION = {"steps": 40, "flat": 1e-2, "change": 1e-12}
STEPS, FLAT = 10, 1e-9  # of Gauss and Newton, to end with


class Host(minimise.Host, Protocol):
    """What this fit needs of a host besides."""

    def jacobian(self, theta: Any, /) -> Any:
        """Derivatives of the residuals, one row each, by forward mode."""


@dataclass(frozen=True, kw_only=True)
class Fit(Fitted):
    """A fit of the rates and of the first cases.

    Attributes:
        covariance: That of `theta`, as the scatter of the residuals tells.
        jacobian: Derivatives of the residuals, shape (14, 3).
    """

    covariance: Any
    jacobian: Any


def loss(theta: Any) -> Any:
    """Half the sum of squares, for arrays of any library."""
    rest = residuals(theta)
    return 0.5 * (rest * rest).sum()


def fit(host: Host, start: Any) -> Fit:
    """Fit rates and first cases in one host, with a progress bar."""
    begin = perf_counter()
    theta, evaluations = minimise.minimised(host, start)
    theta = polished(host, theta)
    value, gradient = host.value_and_grad(theta)
    J = host.jacobian(theta)
    scatter = 2 * value / (len(J) - len(theta))
    covariance = scatter * np.linalg.inv(J.T @ J)
    return Fit(
        host=host.name, theta=theta, loss=value, norm=np.abs(gradient).max(),
        evaluations=evaluations, seconds=perf_counter() - begin,
        covariance=covariance, jacobian=J,
    )  # fmt: skip


def polished(host: Host, theta: Any) -> Any:
    """Steps of the method of Gauss and Newton, which needs no values of the loss."""
    for _ in range(STEPS):
        gradient = host.value_and_grad(theta)[1]
        if np.abs(gradient).max() < FLAT:
            break
        J = host.jacobian(theta)
        theta = theta - np.linalg.solve(J.T @ J, gradient)
    return theta


def finite_differences(theta: Any, step: float = 1e-3) -> Any:
    """The gradient of the loss in plain NumPy, by differences of fourth order."""
    return differences.gradient(lambda theta: float(loss(theta)), theta, step)
