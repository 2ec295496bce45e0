"""One fit, in any host: L-BFGS from a distant start, then Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from examples._common import differences, minimise
from examples._common.report import Fitted
from examples.co2.model import Problem, loss
from examples.co2.record import Record

# Far from the optimum: all hyperparameters are 1, and off by factors of up to 250.
START = np.zeros(8)
NEWTON_STEPS = 2


class Host(minimise.Host, Protocol):
    """What this fit needs of a host besides."""

    def hessian(self, theta: Any, /) -> Any:
        """Second derivatives of the loss."""


@dataclass(frozen=True, kw_only=True)
class Fit(Fitted):
    """A fit of the hyperparameters; `seconds` are those of L-BFGS.

    Attributes:
        spread: The standard errors of `theta`, from the Hessian.
        rough: The largest entry of the gradient after L-BFGS, before Newton's steps.
        first: Seconds of the first evaluation, compilation included.
        newton: Seconds of Newton's steps, compilation included.
    """

    spread: Any
    rough: float
    first: float
    newton: float


def fit(host: Host, start: Any = START) -> Fit:
    """Fit the hyperparameters in one host, with a progress bar."""
    times = [perf_counter()]
    host.value_and_grad(start)
    times.append(perf_counter())
    theta, evaluations = minimise.minimised(host, start)
    times.append(perf_counter())
    rough = np.abs(host.value_and_grad(theta)[1]).max()
    theta, hessian = newton(host, theta)
    value, gradient = host.value_and_grad(theta)
    times.append(perf_counter())
    spread = np.sqrt(np.diag(np.linalg.inv(hessian)))
    first, seconds, newton_seconds = np.diff(times)
    return Fit(
        host=host.name, theta=theta, loss=value, norm=np.abs(gradient).max(),
        evaluations=evaluations, seconds=seconds, spread=spread, rough=rough,
        first=first, newton=newton_seconds,
    )  # fmt: skip


def newton(host: Host, theta: Any) -> tuple[Any, Any]:
    """The point after a few steps of Newton's method, and the last Hessian.

    L-BFGS compares values of the loss, which are only accurate to about 1e-8, and stops
    there. Newton's method needs derivatives alone.
    """
    hessian = host.hessian(theta)
    for _ in range(NEWTON_STEPS):
        theta = theta - np.linalg.solve(hessian, host.value_and_grad(theta)[1])
        hessian = host.hessian(theta)
    return theta, hessian


def finite_differences(theta: Any, record: Record, step: float = 1e-3) -> Any:
    """The gradient of the loss in plain NumPy, by differences of fourth order."""
    problem = Problem.of(record)
    return differences.gradient(lambda theta: float(loss(theta, problem)), theta, step)
