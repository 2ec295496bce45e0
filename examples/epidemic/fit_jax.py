"""The fit in JAX: SciPy's solver under `jit`, driven by SciPy's L-BFGS."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from examples._common import jax_host
from examples.epidemic.fit import PRECISION, loss
from examples.epidemic.model import residuals


class JaxHost(jax_host.JaxHost):
    """The loss in JAX."""

    def __init__(self) -> None:
        super().__init__(loss, **PRECISION)
        self._jacobian = jax.jit(jax.jacfwd(residuals))

    def jacobian(self, theta: Any) -> Any:
        """Derivatives of the residuals, by the variational equation."""
        return np.asarray(self._jacobian(jnp.asarray(theta)))
