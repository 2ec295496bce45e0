"""The fit in JAX: SciPy's solver under `jit`, driven by SciPy's L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from examples._common.minimise import by_scipy
from examples.epidemic.fit import loss
from examples.epidemic.model import residuals


class JaxHost:
    """The loss in JAX, in double precision."""

    name = "JAX"

    def __init__(self) -> None:
        jax.config.update("jax_enable_x64", True)
        self._value_and_grad = jax.jit(jax.value_and_grad(loss))
        self._jacobian = jax.jit(jax.jacfwd(residuals))

    def value_and_grad(self, theta: Any) -> tuple[float, Any]:
        """Loss and gradient at a NumPy array."""
        value, gradient = self._value_and_grad(jnp.asarray(theta))
        return float(value), np.asarray(gradient)

    def jacobian(self, theta: Any) -> Any:
        """Derivatives of the residuals, by the variational equation."""
        return np.asarray(self._jacobian(jnp.asarray(theta)))

    def minimise(self, start: Any, step: Callable[[float], None]) -> Any:
        """Minimise from `start`; `step` is told the loss of each evaluation."""
        return by_scipy(
            self.value_and_grad, start, step, steps=40, flat=1e-2, change=1e-12
        )
