"""The fit in JAX: compiled derivatives, driven by SciPy's L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from examples._common.minimise import by_scipy
from examples.co2.model import Problem, loss
from examples.co2.record import Record


class JaxHost:
    """The loss of a record in JAX, in double precision."""

    name = "JAX"

    def __init__(self, record: Record) -> None:
        jax.config.update("jax_enable_x64", True)
        problem = Problem.of(record, jax.numpy)

        def objective(theta: Any) -> Any:
            return loss(theta, problem)

        self._value_and_grad = jax.jit(jax.value_and_grad(objective))
        self._hessian = jax.jit(jax.hessian(objective))

    def value_and_grad(self, theta: Any) -> tuple[float, Any]:
        """Loss and gradient at a NumPy array."""
        value, gradient = self._value_and_grad(jax.numpy.asarray(theta))
        return float(value), np.asarray(gradient)

    def hessian(self, theta: Any) -> Any:
        """Second derivatives, shape (8, 8): the rule of `kv` applied twice."""
        return np.asarray(self._hessian(jax.numpy.asarray(theta)))

    def minimise(self, start: Any, step: Callable[[float], None]) -> Any:
        """Minimise from `start`; `step` is told the loss of each evaluation."""
        return by_scipy(
            self.value_and_grad, start, step, steps=300, flat=1e-5, change=1e-10
        )
