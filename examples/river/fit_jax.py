"""The fit in JAX: the derived rule under `jit`, driven by SciPy's L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from examples._common.minimise import by_scipy
from examples.river.model import prior, simulate
from examples.river.record import Record
from rules_core import ShapeDtype
from rules_jax import to_jax


class JaxHost:
    """The loss of a record in JAX, in double precision."""

    name = "JAX"

    def __init__(self, record: Record) -> None:
        jax.config.update("jax_enable_x64", True)
        out = ShapeDtype(record.seen.shape, record.seen.dtype)
        river = to_jax(simulate, host=True, out=out)

        def residuals(theta: Any) -> Any:
            rates = jnp.exp(theta)
            return (river(rates[:-1], rates[-1]) - record.seen) / record.deviation

        def loss(theta: Any) -> Any:
            return 0.5 * jnp.sum(residuals(theta) ** 2) + prior(theta)

        self._value_and_grad = jax.jit(jax.value_and_grad(loss))
        self._jacobian = jax.jit(jax.jacfwd(lambda theta: residuals(theta).ravel()))

    def value_and_grad(self, theta: Any) -> tuple[float, Any]:
        """Loss and gradient at a NumPy array."""
        value, gradient = self._value_and_grad(jnp.asarray(theta))
        return float(value), np.asarray(gradient)

    def jacobian(self, theta: Any) -> Any:
        """Derivatives of the residuals: all in one run of the simulation."""
        return np.asarray(self._jacobian(jnp.asarray(theta)))

    def minimise(self, start: Any, step: Callable[[float], None]) -> Any:
        """Minimise from `start`; `step` is told the loss of each evaluation."""
        return by_scipy(
            self.value_and_grad, start, step, steps=40, flat=1e-2, change=1e-12
        )
