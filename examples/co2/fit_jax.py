"""The fit in JAX: compiled derivatives, driven by SciPy's L-BFGS."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from examples._common import jax_host
from examples.co2.model import Problem, loss
from examples.co2.record import Record


class JaxHost(jax_host.JaxHost):
    """The loss of a record in JAX."""

    def __init__(self, record: Record) -> None:
        jax.config.update("jax_enable_x64", True)  # before the problem is made
        problem = Problem.of(record, jax.numpy)

        def objective(theta: Any) -> Any:
            return loss(theta, problem)

        super().__init__(objective, steps=300, flat=1e-5, change=1e-10)
        self._hessian = jax.jit(jax.hessian(objective))

    def hessian(self, theta: Any) -> Any:
        """Second derivatives, shape (8, 8): the rule of `kv` applied twice."""
        return np.asarray(self._hessian(jax.numpy.asarray(theta)))
