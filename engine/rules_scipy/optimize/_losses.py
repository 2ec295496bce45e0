"""The losses of SciPy's fits, as functions of the squares of misfits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rules_core as rc
from rules_scipy._functions import Function

__all__ = ["cost_of"]


def _huber(xp: Any, z: Any) -> Any:
    large = z > 1.0
    return xp.where(large, 2.0 * xp.sqrt(xp.where(large, z, z * 0.0 + 1.0)) - 1.0, z)


_LOSSES: dict[str, Callable[..., Any]] = {
    "linear": lambda xp, z: z,
    "huber": _huber,
    "soft_l1": lambda xp, z: 2.0 * (xp.sqrt(1.0 + z) - 1.0),
    "cauchy": lambda xp, z: xp.log1p(z),
    "arctan": lambda xp, z: xp.atan(z),
}


def cost_of(residuals: Function, loss: Any, scale: Any, solver: str) -> Function:
    """Half the sum of the losses, as a function of the unknowns."""
    if callable(loss):
        message = (
            f"{solver} has no rule for a function as loss: use one of "
            f"{', '.join(_LOSSES)}, or minimize the cost."
        )
        raise rc.UnsupportedError(message)
    rho = _LOSSES[loss]

    def cost(x: Any, *args: Any) -> Any:
        r = residuals(x, *args)
        if loss == "linear":
            return 0.5 * (r * r).sum()
        z = (r / scale) ** 2
        return 0.5 * scale**2 * rho(rc.array_namespace(r), z).sum()

    return cost
