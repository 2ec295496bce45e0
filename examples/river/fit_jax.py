"""The fit in JAX: the derived rule under `jit`, driven by SciPy's L-BFGS."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from examples._common import jax_host
from examples.river.fit import PRECISION
from examples.river.model import prior, simulate
from examples.river.record import Record
from rules_core import ShapeDtype
from rules_jax import to_jax


class JaxHost(jax_host.JaxHost):
    """The loss of a record in JAX."""

    def __init__(self, record: Record) -> None:
        out = ShapeDtype(record.seen.shape, record.seen.dtype)
        river = to_jax(simulate, host=True, out=out)

        def residuals(theta: Any) -> Any:
            rates = jnp.exp(theta)
            return (river(rates[:-1], rates[-1]) - record.seen) / record.deviation

        def loss(theta: Any) -> Any:
            return 0.5 * jnp.sum(residuals(theta) ** 2) + prior(theta)

        super().__init__(loss, **PRECISION)
        self._jacobian = jax.jit(jax.jacfwd(lambda theta: residuals(theta).ravel()))

    def jacobian(self, theta: Any) -> Any:
        """Derivatives of the residuals: all in one run of the simulation."""
        return np.asarray(self._jacobian(jnp.asarray(theta)))
