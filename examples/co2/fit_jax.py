"""The fit in JAX: a compiled value_and_grad, driven by SciPy's L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import scipy.optimize

from examples.co2.model import Problem, loss
from examples.co2.record import Record


def value_and_grad(record: Record) -> Callable[[Any], tuple[float, Any]]:
    """The loss and its gradient as a compiled function of NumPy arrays."""
    problem = Problem.of(record, jax.numpy)
    compiled = jax.jit(jax.value_and_grad(lambda theta: loss(theta, problem)))

    def evaluate(theta: Any) -> tuple[float, Any]:
        value, gradient = compiled(jax.numpy.asarray(theta))
        return float(value), np.asarray(gradient)

    return evaluate


def fit(record: Record, start: Any, step: Callable[[float], None]) -> Any:
    """Minimise the loss from `start`; `step` is told the value of each evaluation."""
    evaluate = value_and_grad(record)

    def told(theta: Any) -> tuple[float, Any]:
        value, gradient = evaluate(theta)
        step(value)
        return value, gradient

    options = {"maxiter": 300, "ftol": 0, "gtol": 1e-5, "maxcor": 20}
    result = scipy.optimize.minimize(
        told, start, jac=True, method="L-BFGS-B", options=options
    )
    return result.x
