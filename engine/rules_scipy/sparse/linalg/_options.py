"""Options of solvers, on which their solutions do not depend."""

from __future__ import annotations

from typing import Any

import rules_core as rc
from rules_scipy._arrays import concrete, is_numpy, refuse

__all__ = ["settled"]


def settled(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options as constants of NumPy: a start or a tolerance does not move a solution.

    Args:
        name: The function that is called.
        options: Its options; None is left out.
    """
    found = {key: rc.ignore_derivatives(x) for key, x in options.items()}
    return {k: _known(name, k, x) for k, x in found.items() if x is not None}


def _known(name: str, key: str, x: Any) -> Any:
    if not rc.is_array(x) or is_numpy(x):
        return x
    known = concrete(x)
    if known is None:
        reason = f"needs a number for {key}=, which is traced here: pass a constant"
        refuse(f"scipy.sparse.linalg.{name}", reason)
    return known if known.ndim else known.item()
