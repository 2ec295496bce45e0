"""A loss in JAX, for fits that are written in NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .minimise import by_scipy

__all__ = ["JaxHost"]


class JaxHost:
    """A compiled loss with its gradient, in double precision.

    Args:
        loss: The loss of a vector.
        **precision: `steps`, `flat` and `change` of L-BFGS.
    """

    name = "JAX"

    def __init__(self, loss: Callable[[Any], Any], **precision: Any) -> None:
        jax.config.update("jax_enable_x64", True)
        self._value_and_grad = jax.jit(jax.value_and_grad(loss))
        self._precision = precision

    def value_and_grad(self, theta: Any) -> tuple[float, Any]:
        """Loss and gradient at a NumPy array."""
        value, gradient = self._value_and_grad(jnp.asarray(theta))
        return float(value), np.asarray(gradient)

    def minimise(self, start: Any, step: Callable[[float], None]) -> Any:
        """Minimise from `start`; `step` is told the loss of each evaluation."""
        return by_scipy(self.value_and_grad, start, step, **self._precision)
