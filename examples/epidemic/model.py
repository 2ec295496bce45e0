"""The model of Kermack and McKendrick, for arrays of any library.

Who is well falls ill by contact with who is ill, and who is ill recovers:

    S' = -β S I / N,    I' = β S I / N - γ I
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from examples.epidemic.record import DAYS, IN_BED, PUPILS
from rules_scipy import integrate

__all__ = ["ill", "residuals"]

SETTINGS: Any = {"method": "DOP853", "rtol": 1e-9, "atol": 1e-8}


def change(t: Any, y: Any, contacts: Any, recovery: Any) -> Any:
    """How many fall ill, and how many more are ill than before, per day."""
    xp = rc.array_namespace(y)
    infections = contacts * y[0] * y[1] / PUPILS
    return xp.stack([-infections, infections - recovery * y[1]])


def ill(theta: Any) -> Any:
    """How many boys are in bed on each day, shape (14,).

    Args:
        theta: Logarithms of the rates β and γ, per day, and of the boys who are ill on
            the first day, shape (3,).
    """
    xp = rc.array_namespace(theta)
    contacts, recovery, first = (xp.exp(theta[i]) for i in range(3))
    found = integrate.solve_ivp(
        change, (DAYS[0], DAYS[-1]), xp.stack([PUPILS - first, first]), t_eval=DAYS,
        args=(contacts, recovery), **SETTINGS,
    )  # fmt: skip
    return found.y[1]


def residuals(theta: Any) -> Any:
    """Model less record. Roots of counts have about the standard deviation one half."""
    xp = rc.array_namespace(theta)
    seen = 2.0 * np.sqrt(IN_BED)
    return 2.0 * xp.sqrt(ill(theta)) - xp.asarray(seen)
