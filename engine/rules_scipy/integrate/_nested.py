"""Whether a function calls a solver, whose steps make small jumps of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

__all__ = ["calls_a_solver"]

_SOLVERS = ("scipy.integrate.", "scipy.optimize.", "rules_scipy.optimize.")
_DIRECT = ("scipy.integrate._quadrature",)
_OWN = "rules_scipy._functions"


def calls_a_solver(f: Callable[..., Any], *args: Any) -> bool:
    """Whether a call runs adaptive code of SciPy, or a solver of this pack.

    Such a function is smooth up to a tolerance alone. While Python is profiled it
    cannot be told.
    """
    if sys.getprofile() is not None:
        return False
    found = False

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal found
        if event == "call" and not found:
            found = _is_solver(frame)

    sys.setprofile(look)
    try:
        with np.errstate(all="ignore"):
            f(*args)
    except (ArithmeticError, ValueError):
        pass
    finally:
        sys.setprofile(None)
    return found


def _is_solver(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    if name == _OWN:
        return frame.f_code.co_name in ("solve", "_on_host")
    return name.startswith(_SOLVERS) and not name.startswith(_DIRECT)
