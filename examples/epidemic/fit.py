"""One fit, in any host: L-BFGS by reverse mode, and errors by forward mode."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from examples._common import differences, minimise
from examples.epidemic.model import residuals

__all__ = ["START", "Fit", "Host", "finite_differences", "fit", "loss"]

# Logarithms of rates of 1 and 0.5 per day, and of one boy.
START = np.log(np.array([1.0, 0.5, 1.0]))
STEPS, FLAT = 10, 1e-9  # of Gauss and Newton, to end with


class Host(minimise.Host, Protocol):
    """What this fit needs of a host besides."""

    def jacobian(self, theta: Any, /) -> Any:
        """Derivatives of the residuals, one row each, by forward mode."""


@dataclass(frozen=True)
class Fit:
    """A fit and how it went.

    Attributes:
        host: Name of the host.
        theta: Logarithms of the rates and of the first cases, shape (3,).
        covariance: That of `theta`, as the scatter of the residuals tells.
        jacobian: Derivatives of the residuals, shape (14, 3).
        loss: Half the sum of squares.
        norm: Largest entry of the gradient at the end.
        evaluations: Evaluations of loss and gradient by L-BFGS.
        seconds: Seconds that the fit took.
    """

    host: str
    theta: Any
    covariance: Any
    jacobian: Any
    loss: float
    norm: float
    evaluations: int
    seconds: float


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
    norm, seconds = np.abs(gradient).max(), perf_counter() - begin
    return Fit(host.name, theta, covariance, J, value, norm, evaluations, seconds)


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
